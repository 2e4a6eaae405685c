//! An agent's begin, change and end.

use crate::args::RunArgs;
use crate::config::{OnExit, Settings, settings};
use crate::lock::{self, Lock};
use crate::snapshot::Watched;
use anyhow::{Context, Result};
use std::path::Path;
use tidegate_agent::{Agent, Config, Leftover, leftovers, require_bpf_file_system};

/// An agent that is alone in its network namespace.
pub struct Operation {
    /// What it does.
    pub settings: Settings,
    _lock: Lock,
}

impl Operation {
    /// Starts it. It takes the place of what one before it has left.
    pub fn start(settings: Settings) -> Result<(Self, Agent)> {
        let lock = lock::take()?;
        if settings.pin {
            require_bpf_file_system()?;
        }
        let left = leftovers()?;
        let mut agent = Agent::start(&settings.agent)?;
        // The new programs first: traffic is steered all the time.
        left.iter().try_for_each(|l| l.remove().map(drop))?;
        if settings.pin {
            agent.pin()?;
        }
        let operation = Self {
            settings,
            _lock: lock,
        };
        Ok((operation, agent))
    }

    /// Reads the file anew. If anything is wrong with it all stays as it was.
    pub fn reload(&mut self, watched: &mut Watched, args: &RunArgs) -> Result<()> {
        let settings = settings(args)?;
        let file = args.config.as_deref().unwrap_or(Path::new(""));
        self.change(watched, &settings)
            .with_context(|| file.display().to_string())?;
        self.settings = Settings {
            // Pinning and the exporter are settled at the start.
            pin: self.settings.pin,
            metrics: self.settings.metrics,
            ..settings
        };
        Ok(())
    }

    /// The agent first, whose programs stand before the hold's.
    fn change(&self, watched: &mut Watched, to: &Settings) -> Result<()> {
        let Watched {
            agent, windowless, ..
        } = watched;
        windowless.require(&to.udp)?;
        agent.reload(&to.agent)?;
        let Config {
            dry_run,
            interfaces,
            ..
        } = &to.agent;
        windowless
            .change(&to.udp, *dry_run, interfaces)
            .inspect_err(|_| {
                // It is what was in force before.
                let _ = agent.reload(&self.settings.agent);
            })
    }

    /// Ends it as the settings say. Whether the programs go on steering.
    pub fn end(self, agent: Agent) -> bool {
        let stays = self.settings.pin && self.settings.on_exit == OnExit::Stay;
        if stays {
            agent.leave();
        }
        stays
    }
}

/// Removes what agents have left here. Returns what that was.
pub fn clear() -> Result<Vec<Leftover>> {
    let mut removed = Vec::new();
    for leftover in leftovers()? {
        if leftover.remove()? {
            removed.push(leftover);
        }
    }
    Ok(removed)
}
