//! Chooses one of a file's sessions.

use crate::Refused;
use crate::samples::Sample;
use std::time::Duration;

/// Number of sessions that an error lists.
const LISTED: usize = 8;

/// A session: its name, and its samples.
struct Session {
    name: String,
    samples: Vec<Sample>,
}

/// The samples of the session that was asked for, or of the only one.
///
/// If samples name their session, that is its name. Otherwise sessions are numbered 1, 2, …, and a new one begins
/// after more than `longest_gap` without a sample, or when time goes back that far.
pub fn choose(
    samples: Vec<Sample>,
    wanted: Option<&str>,
    longest_gap: Duration,
) -> Result<Vec<Sample>, Refused> {
    let named = samples.iter().any(|sample| !sample.session.is_empty());
    let mut sessions = match named {
        true => by_name(samples),
        false => by_gaps(samples, longest_gap),
    };
    let chosen = match wanted {
        None if sessions.len() == 1 => Some(0),
        None => None,
        Some(name) => sessions.iter().position(|session| session.name == name),
    };
    match chosen {
        Some(index) => Ok(sessions.swap_remove(index).samples),
        None => Err(undecided(&sessions, wanted)),
    }
}

fn by_name(samples: Vec<Sample>) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for sample in samples {
        let place = *places
            .entry(sample.session.clone())
            .or_insert(sessions.len());
        if place == sessions.len() {
            let name = sample.session.clone();
            let samples = Vec::new();
            sessions.push(Session { name, samples });
        }
        sessions[place].samples.push(sample);
    }
    sessions
}

fn by_gaps(samples: Vec<Sample>, longest_gap: Duration) -> Vec<Session> {
    let gap = longest_gap.as_nanos() as i128;
    let mut sessions: Vec<Session> = Vec::new();
    for sample in samples {
        let last = sessions.last().and_then(|session| session.samples.last());
        let goes_on = last.is_some_and(|last| {
            let end = last.until_ns.unwrap_or(last.at_ns);
            (sample.at_ns - end).abs() <= gap
        });
        if !goes_on {
            let name = (sessions.len() + 1).to_string();
            let samples = Vec::new();
            sessions.push(Session { name, samples });
        }
        let session = sessions.last_mut().expect("at least one");
        session.samples.push(sample);
    }
    sessions
}

/// Lists the sessions and says how to choose one.
fn undecided(sessions: &[Session], wanted: Option<&str>) -> Refused {
    let each = |session: &Session| {
        let lines = session.samples.iter().map(|sample| sample.line);
        let (first, last) = (lines.clone().min(), lines.max());
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        format!(
            "{} (lines {first} to {last})",
            crate::refused::quoted(&session.name)
        )
    };
    let mut list: Vec<_> = sessions.iter().take(LISTED).map(each).collect();
    if sessions.len() > LISTED {
        list.push(format!("{} more", sessions.len() - LISTED));
    }
    let list = list.join(", ");
    let count = sessions.len();
    Refused::whole(match wanted {
        Some(name) => format!("no session {}; it has {list}", crate::refused::quoted(name)),
        None => format!(
            "{count} sessions, expected one: choose with --session {}. It has {list}",
            crate::refused::quoted(sessions.first().map_or("NAME", |first| &first.name))
        ),
    })
}
