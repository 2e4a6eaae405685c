//! Records where a command's results come from.

use anyhow::Result;
use serde::Serialize;
use tidegate_command::json;
use tidegate_scenario::{Provenance, Seeds};

/// The version, and the commit if it is known.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
const COMMIT: &str = env!("TIDEGATE_COMMIT");

/// Options that change no number in the results, such as the number of cores and the output: with a value, and without.
const WITH_VALUES: [&str; 5] = ["--html", "--jobs", "--out", "--page", "--trace"];
const WITHOUT: [&str; 4] = ["--json", "--resume", "--series", "--yes"];
/// Options whose values are secret, or name secret files.
const SECRET: [&str; 3] = ["--key", "--secret", "--token"];

/// What produced a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// This machine's kernel.
    OnKernel,
    /// This program alone.
    InVirtualTime,
}

/// The provenance of this process's results, with `seeds`.
pub fn provenance(made: Made, seeds: impl IntoIterator<Item = u64>) -> Provenance {
    let kernel = || std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    Provenance {
        version: VERSION.into(),
        commit: COMMIT.into(),
        kernel: (made == Made::OnKernel)
            .then(kernel)
            .flatten()
            .map(|release| release.trim().to_owned()),
        command: command(words),
        seed: Seeds::of(seeds),
    }
}

/// The command line without secrets and without options that change no number.
fn command(words: impl Iterator<Item = String>) -> String {
    let mut kept = vec!["tidegate".to_owned()];
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, _)) if option.starts_with("--") => (option, true),
            _ => (word.as_str(), false),
        };
        let mut skip_value = || {
            if !value {
                words.next();
            }
        };
        if WITH_VALUES.contains(&option) {
            skip_value();
        } else if SECRET.contains(&option) {
            skip_value();
            kept.extend([option.to_owned(), "…".to_owned()]);
        } else if !WITHOUT.contains(&word.as_str()) {
            kept.push(word);
        }
    }
    let quoted = kept.iter().map(|word| match shlex::try_quote(word) {
        // The ellipsis is not special in a shell.
        _ if word == "…" => word.clone(),
        Ok(quoted) => quoted.into_owned(),
        Err(_) => format!("{word:?}"),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A result with its provenance.
#[derive(Serialize)]
pub struct Sourced<'a, T> {
    /// The result's own keys.
    #[serde(flatten)]
    pub result: &'a T,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// Prints a result with its provenance as JSON.
pub fn print_json<T: Serialize>(result: &T, provenance: Provenance) -> Result<()> {
    json::print(&Sourced { result, provenance })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_what_makes_the_numbers_and_no_secret() {
        for (line, expected) in [
            (
                "sim 'my links/a.toml' --vary down.delay_ms=5,30 --seeds 3 --jobs 4 --json --html=a.html",
                "tidegate sim 'my links/a.toml' --vary 'down.delay_ms=5,30' --seeds 3",
            ),
            (
                "probe run host --key my/probe.key --yes down --trace=x.down",
                "tidegate probe run host --key … down",
            ),
            (
                "reproduce tide --traces FOLDER --out a.csv --quick",
                "tidegate reproduce tide --traces FOLDER --quick",
            ),
        ] {
            let words = shlex::split(line).unwrap();
            assert_eq!(command(words.into_iter()), expected);
        }
    }
}
