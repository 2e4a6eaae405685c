//! `tidegate pause` and `tidegate resume`: the running agent steers nothing for a time.

use crate::client::{Order, Ordered};
use crate::meeting;
use crate::paused::LONGEST;
use anyhow::Result;
use clap::Args;
use nix::unistd::geteuid;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_terminal as terminal;

/// How `pause` is used.
const PAUSE: &[Example] = &[
    (
        "sudo tidegate pause 1h",
        "steer nothing for an hour, then go on",
    ),
    ("sudo tidegate pause 10m", "another end to it"),
];

/// How `resume` is used.
const RESUME: &[Example] = &[("sudo tidegate resume", "steer again at once")];

/// Arguments of `pause`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(PAUSE))]
pub struct PauseArgs {
    /// For how long: a number with s, m, h or d behind it, 7d at most
    #[arg(value_name = "TIME", value_parser = time)]
    pub time: Duration,
    #[command(flatten)]
    pub to: To,
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(RESUME))]
pub struct ResumeArgs {
    #[command(flatten)]
    pub to: To,
}

/// To whom it is said, and how the answer is shown.
#[derive(Debug, Args)]
pub struct To {
    /// The agent's socket; by default that of the agent in this network namespace
    #[arg(long, value_name = "FILE")]
    pub socket: Option<PathBuf>,
    /// Print the agent's answer as JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Begins a pause, or changes the end of the present one.
pub fn pause(args: &PauseArgs) -> Result<()> {
    let seconds = args.time.as_secs();
    order(&args.to, &Order::Pause { seconds })
}

/// Ends the pause.
pub fn resume(args: &ResumeArgs) -> Result<()> {
    order(&args.to, &Order::Resume)
}

fn order(to: &To, order: &Order) -> Result<()> {
    if !geteuid().is_root() {
        return Err(BadInput("only root may pause the agent; expected sudo".into()).into());
    }
    let asked = to.socket.as_deref();
    let Some((_, mut agent)) = meeting::find(asked)? else {
        return Err(nobody(asked).into());
    };
    let done = agent.order(order)?;
    let mut out = terminal::data();
    if to.json {
        serde_json::to_writer(&mut out, &done)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(terminal::out(), "{}", what(&done))?;
    Ok(())
}

fn what(done: &Ordered) -> String {
    match (&done.paused, done.was_paused) {
        (Some(paused), _) => format!("{paused}; `tidegate resume` ends the pause before that"),
        (None, true) => "the pause is over: the agent steers again".into(),
        (None, false) => "the agent was not paused: nothing has changed".into(),
    }
}

fn nobody(asked: Option<&Path>) -> BadInput {
    let path = asked.unwrap_or(Path::new(meeting::SOCKET)).display();
    BadInput(meeting::elsewhere(asked).unwrap_or_else(|| {
        format!(
            "no agent answers at {path}: there is nothing to pause; expected one that was started by `tidegate run`"
        )
    }))
}

/// Parses a number of seconds, minutes, hours or days.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "expected a number with s, m, h or d, like 30s, 10m, 1h or 1d, and {}d at most",
            LONGEST.as_secs() / 86_400
        )
    };
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)];
    let unit = units.iter().find(|(letter, _)| text.ends_with(*letter));
    let (letter, seconds) = unit.ok_or_else(wrong)?;
    let number = text.strip_suffix(*letter).unwrap_or_default();
    let is_number = number.bytes().all(|b| b.is_ascii_digit());
    let number = number.parse::<u64>().ok().filter(|n| is_number && *n > 0);
    let time = number.and_then(|n| n.checked_mul(*seconds));
    let time = time.map(Duration::from_secs).filter(|t| *t <= LONGEST);
    time.ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_have_a_unit_and_an_end() {
        let seconds = |text| time(text).map(|time| time.as_secs()).ok();
        let right = [
            ("30s", 30),
            ("10m", 600),
            ("1h", 3600),
            ("1d", 86_400),
            ("7d", 604_800),
        ];
        for (text, expected) in right {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        let wrong = [
            "",
            "h",
            "30",
            "0s",
            "-1h",
            "+1h",
            "1.5h",
            "1 h",
            "1w",
            "8d",
            "é",
            "1hh",
            "99999999999999999999d",
            "9999999999999999999d",
        ];
        for text in wrong {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
