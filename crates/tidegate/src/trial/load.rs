//! What loads the link: commands, or connections to a prober's server. Started anew for every slot, and ended with it.

mod command;
mod connections;

use super::control_group::ControlGroup;
use anyhow::Result;
pub use command::{Loads, fetch, require_program};
pub use connections::Far;
use std::ffi::OsString;
use tidegate_agent::Meter;
use tidegate_lab::Caller;

/// What loads it.
pub enum Source {
    /// Each of them a program and its arguments, side by side.
    Commands(Vec<Vec<OsString>>),
    /// Connections to one's own `probe serve`.
    Probe(Far),
}

/// What starts the load.
pub struct Loader {
    /// What loads the link.
    pub source: Source,
    /// Whose commands are; root's if none.
    pub caller: Option<Caller>,
    /// Where they are.
    pub group: Option<ControlGroup>,
}

/// The load of one slot, until dropped.
pub enum Running<'a> {
    /// Commands.
    Commands(command::Running<'a>),
    /// Connections.
    Probe(connections::Running),
}

impl Loader {
    /// So many times the load, all new.
    ///
    /// # Errors
    /// When a command cannot be started.
    pub fn start(&self, times: usize) -> Result<Running<'_>> {
        Ok(match &self.source {
            Source::Commands(commands) => {
                let group = self.group.as_ref();
                let loads = Loads {
                    commands,
                    caller: self.caller.as_ref(),
                    group,
                };
                Running::Commands(loads.start(times)?)
            }
            Source::Probe(far) => Running::Probe(connections::Running::start(far, times)),
        })
    }

    /// What counts the load's own bytes; none where it has no control group: connections are this process's own.
    pub fn meter(&self) -> Option<Meter> {
        match self.source {
            Source::Commands(_) => self.group.as_ref()?.meter(),
            Source::Probe(_) => None,
        }
    }

    /// In words.
    pub fn name(&self) -> String {
        match &self.source {
            Source::Commands(commands) => {
                let line = |command: &Vec<OsString>| {
                    let words: Vec<_> = command.iter().map(|w| w.to_string_lossy()).collect();
                    words.join(" ")
                };
                commands.iter().map(line).collect::<Vec<_>>().join(" & ")
            }
            Source::Probe(far) => far.name(),
        }
    }
}

impl Running<'_> {
    /// Keeps it going.
    ///
    /// # Errors
    /// When it does not go any more, with what it says.
    pub fn step(&mut self) -> Result<()> {
        match self {
            Self::Commands(commands) => commands.step(),
            Self::Probe(connections) => connections.step(),
        }
    }
}
