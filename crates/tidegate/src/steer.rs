//! The laboratory's agent: the same one that `tidegate run` attaches.

use anyhow::Result;
use std::collections::HashMap;
use tidegate_agent::{Agent, Config, Interface};
use tidegate_lab::{Steer, SteeredFlow, Steering};
use tidegate_laws::{Law, Params};
use tidegate_scenario as scenario;

/// Attaches the live agent for a run of the laboratory.
pub struct LiveAgent;

impl Steer for LiveAgent {
    fn attach(&self, run: &scenario::Run, interface: &str) -> Result<Box<dyn Steering>> {
        let agent = Agent::start(&Config {
            interfaces: vec![Interface::find(interface)?],
            params: params(run),
            ..Config::default()
        })?;
        Ok(Box::new(Attached {
            agent,
            samples: HashMap::new(),
        }))
    }
}

/// The law and its parameters, as a run of a scenario states them.
fn params(run: &scenario::Run) -> Params {
    Params {
        law: match run.law {
            scenario::Law::None => Law::None,
            scenario::Law::Drs => Law::Drs,
            scenario::Law::Drwa => Law::Drwa,
            scenario::Law::Tide => Law::Tide,
            scenario::Law::Rledbat => Law::Rledbat,
            scenario::Law::Rsfc => Law::Rsfc,
        },
        lambda: run.lambda,
        limit: run.limit.map(|l| u32::try_from(l).unwrap_or(u32::MAX)),
    }
}

struct Attached {
    agent: Agent,
    /// How many RTT samples each flow had at the last look.
    samples: HashMap<(u16, u16), u32>,
}

impl Steering for Attached {
    fn sample(&mut self) -> Vec<SteeredFlow> {
        let flows = self.agent.flows();
        flows
            .iter()
            .map(|f| {
                let seen = self
                    .samples
                    .insert((f.local.port, f.remote.port), f.samples);
                SteeredFlow {
                    local_port: f.local.port,
                    remote_port: f.remote.port,
                    rtt_us: f.rtt_us.filter(|_| seen != Some(f.samples)),
                    queue_us: f.queue_us.unwrap_or(0),
                    window_bytes: f.window_bytes.into(),
                }
            })
            .collect()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
