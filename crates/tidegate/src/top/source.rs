//! Where snapshots come from: a running agent, or one of our own that only watches.

use super::TopArgs;
use crate::lock::Lock;
use crate::run::serve::Client;
use crate::run::watcher;
use crate::snapshot::{AgentService, Snapshot};
use anyhow::{Context, Result};
use std::path::PathBuf;

/// A source.
pub enum Source {
    /// `tidegate run`, in another process.
    Agent {
        /// Where it is found.
        path: PathBuf,
        /// None while it is away.
        client: Option<Client>,
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
        if let Some(client) = Client::connect(&args.socket)? {
            return Ok(Self::Agent {
                path: args.socket.clone(),
                client: Some(client),
            });
        }
        let (watched, lock) = watcher(&args.iface).with_context(|| {
            format!(
                "no agent is found at {}; to watch without one",
                args.socket.display()
            )
        })?;
        Ok(Self::Own {
            watched: Box::new(watched),
            _lock: lock,
        })
    }

    /// The state now. An agent that has ended is looked for again at the next call.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        match self {
            Self::Own { watched, .. } => watched.snapshot(),
            Self::Agent { path, client } => {
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
            Self::Agent { .. } => None,
            Self::Own { .. } => Some("no agent runs: watching only."),
        }
    }
}
