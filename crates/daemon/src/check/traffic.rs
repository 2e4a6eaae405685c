//! Which kinds of traffic `run` would steer, with each kind's share of the bytes if an agent has counted them.

use crate::config::Settings;
use crate::meeting;
use crate::snapshot::Snapshot;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use tidegate_agent::{Direction, Kind};
use tidegate_terminal::units::share;

/// A kind of traffic.
#[derive(Debug, Serialize)]
pub struct Reached {
    kind: Kind,
    about: &'static str,
    /// Whether the law would steer data of this kind that arrive, and that leave.
    steered_down: bool,
    steered_up: bool,
    /// Whether they may be held, which is how traffic without a window is steered.
    held_down: bool,
    held_up: bool,
    /// The kind's part of the bytes that have arrived and left since the agent was started.
    share_down: Option<f64>,
    share_up: Option<f64>,
}

/// The kinds under `settings`: those that the agent at `socket` or in this network namespace has seen, or all if no
/// agent answers.
pub fn reached(settings: &Settings, socket: Option<&Path>) -> Vec<Reached> {
    // A missing agent, or one of another version, is no fault of this kernel.
    let asked = meeting::find(socket).ok().flatten();
    let snapshot = asked.and_then(|(_, mut agent)| agent.snapshot().ok());
    let kinds = Kind::ALL.map(|kind| Reached::new(kind, settings, snapshot.as_ref()));
    let met = |r: &Reached| {
        [r.share_down, r.share_up]
            .iter()
            .flatten()
            .any(|s| *s > 0.0)
    };
    let counted = kinds.iter().any(met);
    kinds.into_iter().filter(|r| met(r) || !counted).collect()
}

impl Reached {
    fn new(kind: Kind, settings: &Settings, snapshot: Option<&Snapshot>) -> Self {
        let config = &settings.agent;
        let steered = |direction| {
            let law = config.params.law;
            config.directions.include(direction) && kind.is_reached(law, direction)
        };
        let held = |direction| settings.udp.rules.may_hold_kind(kind, direction);
        let share = |direction| snapshot.and_then(|s| part(s, kind, direction));
        Self {
            kind,
            about: kind.about(),
            steered_down: steered(Direction::Down),
            steered_up: steered(Direction::Up),
            held_down: held(Direction::Down),
            held_up: held(Direction::Up),
            share_down: share(Direction::Down),
            share_up: share(Direction::Up),
        }
    }

    const fn treatment(&self) -> &'static str {
        match (self.steered_down, self.steered_up) {
            _ if self.held_down && self.held_up => "held",
            _ if self.held_down => "held down",
            _ if self.held_up => "held up",
            (true, true) => "steered",
            (true, false) => "steered down",
            (false, true) => "steered up",
            (false, false) => "left alone",
        }
    }
}

/// The kind's part of all bytes in `direction`; none if there were none.
fn part(snapshot: &Snapshot, kind: Kind, direction: Direction) -> Option<f64> {
    let paths = snapshot.paths.iter().filter(|p| p.direction == direction);
    let carried = || paths.clone().flat_map(|p| &p.traffic);
    let all: u64 = carried().map(|c| c.bytes).sum();
    let of_kind = carried().filter(|c| c.kind == kind);
    let bytes: u64 = of_kind.map(|c| c.bytes).sum();
    (all > 0).then(|| bytes as f64 / all as f64)
}

/// Prints a line for each kind.
pub fn print(kinds: &[Reached], out: &mut impl Write) -> Result<()> {
    let counted = kinds.iter().any(|r| r.share_down.or(r.share_up).is_some());
    if counted {
        writeln!(
            out,
            "of the traffic since the agent was started, down and up:"
        )?;
    } else {
        writeln!(
            out,
            "of traffic (no agent runs that could say how much there is of each):"
        )?;
    }
    for kind in kinds {
        let told = |part: Option<f64>| part.map_or_else(|| "–".into(), |part| share(part, 1.0));
        let [down, up] = [kind.share_down, kind.share_up].map(told);
        let shares = if counted {
            format!("{down:>5} {up:>5}  ")
        } else {
            String::new()
        };
        writeln!(out, "{shares}{:12}  {}", kind.treatment(), kind.about)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{print, reached};
    use crate::check::traffic::Reached;
    use crate::config::{OnExit, Settings};
    use crate::fixtures::{START_US, snapshot};
    use crate::interfaces::Wanted;
    use crate::udp::Terms;
    use std::path::Path;
    use tidegate_agent::{Config, Directions, Kind};
    use tidegate_laws::{Law, Params};
    use tidegate_scenario::Udp;

    fn settings(law: Law, directions: Directions) -> Settings {
        Settings {
            fair: None,
            devices: crate::devices::Terms::default(),
            agent: Config {
                params: Params {
                    law,
                    ..Params::default()
                },
                directions,
                ..Config::default()
            },
            interfaces: Wanted::default(),
            udp: Terms::default(),
            metrics: None,
            page: None,
            compare: 0.0,
            pin: false,
            on_exit: OnExit::Detach,
        }
    }

    fn lines(kinds: &[Reached]) -> String {
        let mut text = Vec::new();
        print(kinds, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn without_an_agent_every_kind_is_told_by_what_the_law_would_do() {
        let told =
            |law, directions| reached(&settings(law, directions), Some(Path::new("/nonexistent")));
        let kinds = told(Law::Drwa, Directions::Both);
        assert_eq!(kinds.len(), Kind::ALL.len());
        let text = lines(&kinds);
        assert!(text.contains("no agent runs"), "{text}");
        let line = |of: Kind| text.lines().find(|l| l.contains(of.about())).unwrap();
        assert!(line(Kind::Tcp).starts_with("steered down "), "{text}");
        assert!(
            line(Kind::NoTimestamps).starts_with("steered down "),
            "{text}"
        );
        assert!(line(Kind::Quic).starts_with("left alone "), "{text}");
        let text = lines(&told(Law::Tide, Directions::Uploads));
        assert!(text.contains("steered up    TCP with timestamps"), "{text}");
        let text = lines(&told(Law::Tide, Directions::Both));
        let line = |of: Kind| text.lines().find(|l| l.contains(of.about())).unwrap();
        assert!(line(Kind::Tcp).starts_with("steered  "), "{text}");
        assert!(
            line(Kind::NoTimestamps).starts_with("left alone "),
            "{text}"
        );
    }

    #[test]
    fn what_may_be_held_is_said() {
        let mut settings = settings(Law::Tide, Directions::Both);
        settings.udp = Terms::all(Udp::Hold);
        let text = lines(&reached(&settings, Some(Path::new("/nonexistent"))));
        let line = |of: Kind| text.lines().find(|l| l.contains(of.about())).unwrap();
        assert!(line(Kind::Quic).starts_with("held down "), "{text}");
        for (holds, told) in [
            (Directions::Both, "held  "),
            (Directions::Uploads, "held up "),
        ] {
            settings.udp.rules.holds = holds;
            let text = lines(&reached(&settings, Some(Path::new("/nonexistent"))));
            let mut lines = text.lines();
            let line = lines.find(|l| l.contains(Kind::Quic.about())).unwrap();
            assert!(line.starts_with(told), "{text}");
        }
        assert!(line(Kind::Gre).starts_with("left alone "), "{text}");
        assert!(line(Kind::Tcp).starts_with("steered  "), "{text}");
    }

    #[test]
    fn shares_are_of_the_bytes_that_went_that_way() {
        let look = snapshot(START_US, vec![]);
        let told = |kind| {
            let settings = settings(Law::Tide, Directions::Both);
            Reached::new(kind, &settings, Some(&look))
        };
        let (tcp, quic) = (told(Kind::Tcp), told(Kind::Quic));
        assert_eq!((tcp.share_down, quic.share_down), (Some(0.75), Some(0.25)));
        assert_eq!(tcp.share_up, None);
        let text = lines(&[tcp, quic]);
        assert!(text.contains(" 25 %     –  left alone "), "{text}");
    }
}
