//! Where snapshots come from: a running agent, or one of our own that only watches.

use super::TopArgs;
use crate::client::Client;
use crate::lock::Lock;
use crate::meeting;
use crate::service::{AgentService, watcher};
use crate::snapshot::Snapshot;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use tidegate_command::exit::BadInput;

/// Where snapshots come from.
pub enum Source {
    /// `tidegate run`, in another process.
    Agent {
        /// Its socket.
        path: PathBuf,
        /// None while there is no agent.
        client: Option<Client>,
        /// Whether the agent runs in another network namespace.
        foreign: bool,
    },
    /// Our own programs, in a dry run.
    Own {
        /// The programs.
        watched: Box<AgentService>,
        /// Keeps other agents of this network namespace from starting meanwhile.
        _lock: Lock,
    },
}

impl Source {
    /// The running agent, or our own programs if there is none.
    pub fn open(args: &TopArgs) -> Result<Self> {
        let asked = args.socket.as_deref();
        if let Some((path, mut client)) = meeting::find(asked)? {
            let foreign = !meeting::is_here(client.namespace()?)?;
            return Ok(Self::Agent {
                path,
                client: Some(client),
                foreign,
            });
        }
        if let Some(elsewhere) = meeting::elsewhere(asked) {
            return Err(BadInput(elsewhere).into());
        }
        let path = asked.unwrap_or(Path::new(meeting::SOCKET)).display();
        let (watched, lock) = watcher(&args.iface)
            .with_context(|| format!("no agent is found at {path}; to watch without one"))?;
        Ok(Self::Own {
            watched: Box::new(watched),
            _lock: lock,
        })
    }

    /// The state now. If the agent has ended, the next call looks for it again.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        match self {
            Self::Own { watched, .. } => watched.snapshot(),
            Self::Agent { path, client, .. } => {
                if client.is_none() {
                    *client = Client::connect(path)?;
                }
                let asked = client
                    .as_mut()
                    .context("the agent has ended; waiting for it")?;
                let snapshot = asked.snapshot();
                if snapshot.is_err() {
                    *client = None;
                }
                snapshot
            }
        }
    }

    /// A message about the source, if there is one.
    pub fn notice(&self) -> Option<&'static str> {
        match self {
            Self::Agent { foreign: true, .. } => {
                Some("this agent is in another network namespace.")
            }
            Self::Agent { .. } => None,
            Self::Own { .. } => Some("no agent runs: watching only."),
        }
    }
}
