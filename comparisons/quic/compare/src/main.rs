//! Downloads and uploads over other projects' QUIC stacks, and downloads within tunnels, through the laboratory's links:
//! untouched and held, in turn.

mod case;
mod inside;
mod measure;
mod table;

use anyhow::Result;
use case::{Beside, Case, Direction, Kind, STACKS, Stack, Tunnel, With};
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use laboratory::Link;
use measure::{Machine, Measured};
use serde::Serialize;
use std::path::PathBuf;

/// Downloads and uploads over QUIC stacks, and downloads within tunnels, untouched and held.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stacks, or the tunnels; all if none is named
    #[arg(value_parser = names())]
    what: Vec<String>,
    /// The `tidegate` program
    #[arg(long, value_name = "FILE", default_value = "target/release/tidegate")]
    tidegate: PathBuf,
    /// Folder of the stacks' programs
    #[arg(long, value_name = "FOLDER", default_value = "target/stacks")]
    programs: PathBuf,
    /// Length of each download
    #[arg(long, default_value_t = 36)]
    seconds: u32,
    /// What the downloads do besides; without names, of the stacks that have it
    #[arg(long, value_name = "WHAT", conflicts_with = "direction")]
    with: Option<With>,
    /// Which way the data go; without names, of the stacks whose programs upload
    #[arg(long, default_value = "down", value_name = "WAY")]
    direction: Direction,
    /// Only this congestion control
    #[arg(long, value_name = "NAME")]
    control: Option<String>,
    /// Only this link: cell or constant
    #[arg(long)]
    link: Option<Link>,
    /// Only with this beside the download: nothing or tcp
    #[arg(long, value_name = "WHAT")]
    beside: Option<Beside>,
    /// The cell's seed
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// A case and its results.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    case: Case,
    untouched: Measured,
    held: Measured,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let cases = cases(&arguments).unwrap_or_else(|found| refuse(&found));
    if cases.is_empty() {
        refuse("no case matches these options, expected at least one");
    }
    if arguments.seconds <= 2 * measure::WARMUP_S {
        let least = 2 * measure::WARMUP_S + 1;
        refuse(&format!(
            "--seconds {}: expected {least} or more",
            arguments.seconds
        ));
    }
    let machine = Machine::new(&arguments)?;
    let mut rows = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        eprintln!("{} of {}: {case}", number + 1, cases.len());
        rows.push(Row {
            case: case.clone(),
            untouched: machine.measure(case, false)?,
            held: machine.measure(case, true)?,
        });
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        println!("{}", table::table(&rows));
    }
    Ok(())
}

/// Ends with exit status 2.
fn refuse(found: &str) -> ! {
    let mut command = Arguments::command();
    command.error(ErrorKind::ValueValidation, found).exit()
}

/// The names that may be given.
fn names() -> PossibleValuesParser {
    let stacks = STACKS.iter().map(|stack| stack.name);
    let tunnels = Tunnel::ALL.into_iter().map(Tunnel::name);
    stacks.chain(tunnels).collect::<Vec<_>>().into()
}

/// The cases that match the arguments, or why there are none.
fn cases(arguments: &Arguments) -> Result<Vec<Case>, String> {
    let named = |name: &str| arguments.what.iter().any(|what| what == name);
    let all = arguments.what.is_empty();
    let does = |stack: &Stack| match (arguments.with, arguments.direction) {
        (Some(with), _) => stack.features.contains(&with),
        (None, Direction::Up) => stack.uploads,
        (None, Direction::Down) => true,
    };
    let plain = arguments.with.is_none() && arguments.direction == Direction::Down;
    let mut cannot = STACKS.iter().filter(|stack| !does(stack)).map(|s| s.name);
    let tunnels = Tunnel::ALL.map(Tunnel::name);
    let mut tunnels = tunnels.iter().copied().filter(|_| !plain);
    if let Some(name) = cannot.find(|n| named(n)).or(tunnels.find(|n| named(n))) {
        let option = match arguments.with {
            Some(with) => format!("--with {with}"),
            None => "--direction up".to_owned(),
        };
        let can: Vec<_> = STACKS.iter().filter(|s| does(s)).map(|s| s.name).collect();
        let can = can.join(", ");
        return Err(format!("{option}: not for {name}, expected one of {can}"));
    }
    let wanted = |name: &str| all || named(name);
    let mut kinds = Vec::new();
    for stack in STACKS.iter().filter(|s| wanted(s.name) && does(s)) {
        kinds.extend(stack.controls.iter().map(|control| Kind::Quic {
            stack: stack.name,
            control,
        }));
    }
    if plain {
        let tunnels = Tunnel::ALL.into_iter().filter(|t| wanted(t.name()));
        kinds.extend(tunnels.map(Kind::Tunnel));
    }
    kinds.retain(|kind| match kind {
        Kind::Quic { control, .. } => arguments.control.as_ref().is_none_or(|c| c == control),
        Kind::Tunnel(_) => arguments.control.is_none(),
    });
    let mut cases = Vec::new();
    for link in Link::ALL {
        for beside in [Beside::Nothing, Beside::Tcp] {
            for kind in &kinds {
                cases.push(Case {
                    kind: kind.clone(),
                    with: arguments.with,
                    direction: arguments.direction,
                    link,
                    beside,
                });
            }
        }
    }
    cases.retain(|case| {
        arguments.link.is_none_or(|link| link == case.link)
            && arguments.beside.is_none_or(|beside| beside == case.beside)
            && (case.beside == Beside::Nothing || !matches!(case.kind, Kind::Tunnel(_)))
    });
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Vec<Case>, String> {
        let line = format!("compare {line}");
        cases(&Arguments::try_parse_from(line.split(' ')).unwrap())
    }

    #[test]
    fn a_stack_without_the_feature_is_refused_by_name() {
        let found = of("quinn aioquic --with migration").unwrap_err();
        let expected = "--with migration: not for aioquic, expected one of quinn, quic-go";
        assert_eq!(found, expected);
        assert!(of("tcp-tunnel --with datagrams").is_err());
        assert!(of("tunnel --direction up").is_err());
    }

    #[test]
    fn without_names_the_stacks_that_have_it() {
        let found = of("--with migration --control cubic --link cell --beside nothing").unwrap();
        let names: Vec<_> = found.iter().map(Case::name).collect();
        assert_eq!(names, ["quinn, cubic, migration"]);
    }

    #[test]
    fn features_are_of_downloads() {
        let line = "compare --with migration --direction up".split(' ');
        assert!(Arguments::try_parse_from(line).is_err());
    }
}
