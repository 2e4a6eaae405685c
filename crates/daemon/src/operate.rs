//! Starts, changes and ends an agent.

use crate::config::{OnExit, RunArgs, Settings, settings};
use crate::lock::{self, Lock};
use crate::service::AgentService;
use anyhow::{Context, Result};
use std::path::Path;
use tidegate_agent::{Agent, Config, Leftover, leftovers, require_bpf_file_system};

/// The only agent of its network namespace.
pub struct Operation {
    /// Its settings.
    pub settings: Settings,
    /// Programs that another agent has left.
    left: Vec<Leftover>,
    _lock: Lock,
}

impl Operation {
    /// Loads the agent, on no interface yet.
    pub fn start(settings: Settings) -> Result<(Self, Agent)> {
        let lock = lock::take()?;
        if settings.pin {
            require_bpf_file_system()?;
        }
        let left = leftovers()?;
        let agent = Agent::start(&settings.agent)?;
        let operation = Self {
            settings,
            left,
            _lock: lock,
        };
        Ok((operation, agent))
    }

    /// Removes what an earlier agent has left. The new agent is already attached, so that traffic is steered all the
    /// time.
    pub fn take_over(&mut self, agent: &mut Agent) -> Result<()> {
        self.left.drain(..).try_for_each(|l| l.remove().map(drop))?;
        if self.settings.pin {
            agent.pin()?;
        }
        Ok(())
    }

    /// Reads the file again. If it has any fault, nothing changes. Returns the names of settings that have changed but
    /// take effect only at a start.
    pub fn reload(
        &mut self,
        watched: &mut AgentService,
        args: &RunArgs,
    ) -> Result<Vec<&'static str>> {
        let mut settings = settings(args)?;
        if settings.fair.is_none() {
            settings.agent.by_device = self.settings.agent.by_device;
        }
        let file = args.config.as_deref().unwrap_or(Path::new(""));
        self.change(watched, &settings)
            .with_context(|| file.display().to_string())?;
        if let Some(devices) = &watched.devices {
            devices.set(settings.devices.clone())?;
        }
        let awaiting = self.settled(&settings);
        self.settings = Settings {
            pin: self.settings.pin,
            metrics: self.settings.metrics,
            page: self.settings.page,
            ..settings
        };
        Ok(awaiting)
    }

    /// Names of the settings that only a start reads, and that differ.
    fn settled(&self, to: &Settings) -> Vec<&'static str> {
        let from = &self.settings;
        let differ = [
            ("metrics", from.metrics != to.metrics),
            ("page", from.page != to.page),
            ("pin", from.pin != to.pin),
        ];
        let names = differ.into_iter().filter(|(_, differs)| *differs);
        names.map(|(name, _)| name).collect()
    }

    /// Changes the agent first, as its programs run before the hold's.
    fn change(&self, watched: &mut AgentService, to: &Settings) -> Result<()> {
        let AgentService {
            agent, windowless, ..
        } = watched;
        windowless.require(&to.udp)?;
        let before = Config {
            interfaces: agent.interfaces().to_vec(),
            ..self.settings.agent.clone()
        };
        let after = Config {
            interfaces: to.interfaces.find()?.interfaces,
            ..to.agent.clone()
        };
        agent.reload(&after)?;
        windowless
            .change(&to.udp, after.dry_run, &after.interfaces)
            .inspect_err(|_| {
                // Restore the settings that were in force.
                let _ = agent.reload(&before);
            })
    }

    /// Ends the agent as the settings say. Whether the programs go on steering.
    pub fn end(self, agent: Agent) -> bool {
        let stays = self.settings.pin && self.settings.on_exit == OnExit::Stay;
        if stays {
            agent.leave();
        }
        stays
    }
}

/// Removes what agents have left here, and returns it.
pub fn clear() -> Result<Vec<Leftover>> {
    let mut removed = Vec::new();
    for leftover in leftovers()? {
        if leftover.remove()? {
            removed.push(leftover);
        }
    }
    Ok(removed)
}
