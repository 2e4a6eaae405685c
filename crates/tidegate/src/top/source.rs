//! Where snapshots come from: a running agent, or one of our own that only watches.

use super::TopArgs;
use crate::exit::BadInput;
use crate::lock::Lock;
use crate::meeting;
use crate::run::serve::Client;
use crate::run::watcher;
use crate::snapshot::{AgentService, Snapshot};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// A source.
pub enum Source {
    /// `tidegate run`, in another process.
    Agent {
        /// Where it is found.
        path: PathBuf,
        /// None while it is away.
        client: Option<Client>,
        /// Whether it is another network namespace's.
        foreign: bool,
    },
    /// Our own programs, in a dry run.
    Own {
        /// They.
        watched: Box<AgentService>,
        /// Nobody else's steer here meanwhile.
        _lock: Lock,
    },
}

impl Source {
    /// The running agent, or else our own.
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

    /// The state now. An agent that has ended is looked for again at the next call.
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

    /// What is to be said about it.
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
