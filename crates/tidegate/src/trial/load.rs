//! The load: commands, or connections to a prober's server. It is started anew for every slot, and ended with it.

mod command;
mod connections;

use super::control_group::ControlGroup;
use anyhow::Result;
pub use command::{Loads, fetch, require_program};
pub use connections::Far;
use std::ffi::OsString;
use tidegate_agent::Meter;
use tidegate_lab::Caller;

/// What loads the link.
pub enum Source {
    /// Programs with their arguments, which run at the same time.
    Commands(Vec<Vec<OsString>>),
    /// Connections to the user's own `probe serve`.
    Probe(Far),
}

/// Starts the load.
pub struct Loader {
    /// What loads the link.
    pub source: Source,
    /// The user whom the commands run as; root if none.
    pub caller: Option<Caller>,
    /// The control group that they run in.
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
    /// Starts the whole load `times` times over.
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

    /// A meter of the load's bytes; none without a control group. Connections belong to this process, so they have
    /// none.
    pub fn meter(&self) -> Option<Meter> {
        match self.source {
            Source::Commands(_) => self.group.as_ref()?.meter(),
            Source::Probe(_) => None,
        }
    }

    /// The load in words.
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
    /// Keeps the load going.
    ///
    /// # Errors
    /// If it cannot go on, with the reason.
    pub fn step(&mut self) -> Result<()> {
        match self {
            Self::Commands(commands) => commands.step(),
            Self::Probe(connections) => connections.step(),
        }
    }
}
