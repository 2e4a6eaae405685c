//! An agent's begin, change and end.

use crate::config::{OnExit, Settings, settings};
use crate::lock::{self, Lock};
use crate::run::RunArgs;
use crate::snapshot::AgentService;
use anyhow::{Context, Result};
use std::path::Path;
use tidegate_agent::{Agent, Config, Leftover, leftovers, require_bpf_file_system};

/// An agent that is alone in its network namespace.
pub struct Operation {
    /// What it does.
    pub settings: Settings,
    /// What another has left.
    left: Vec<Leftover>,
    _lock: Lock,
}

impl Operation {
    /// Makes it ready, on no interface yet.
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

    /// It takes the place of what one before it has left: after it has been attached, so that traffic is steered all the time.
    pub fn take_over(&mut self, agent: &mut Agent) -> Result<()> {
        self.left.drain(..).try_for_each(|l| l.remove().map(drop))?;
        if self.settings.pin {
            agent.pin()?;
        }
        Ok(())
    }

    /// Reads the file anew. If anything is wrong with it all stays as it was. Returns which settings are others now than at
    /// the start, where they were settled.
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

    /// Settings that count from the start alone, and differ.
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

    /// The agent first, whose programs stand before the hold's.
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
                // It is what was in force before.
                let _ = agent.reload(&before);
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
