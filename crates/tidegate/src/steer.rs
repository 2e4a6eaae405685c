//! The laboratory's agent: the same one that `tidegate run` attaches.

use anyhow::Result;
use std::collections::HashMap;
use tidegate_agent::{Agent, Config, Directions, FlowView, Interface};
use tidegate_lab::{Steer, SteeredFlow, Steering};
use tidegate_laws::{Law, Params};
use tidegate_scenario::{self as scenario, Direction, Side};

/// Attaches the live agent for a run of the laboratory.
pub struct LiveAgent;

impl Steer for LiveAgent {
    fn attach(
        &self,
        run: &scenario::Run,
        side: Side,
        interface: &str,
    ) -> Result<Box<dyn Steering>> {
        let directions = match side {
            Side::Client if run.steers_uploads() => Directions::Both,
            _ => Directions::Downloads,
        };
        let agent = Agent::start(&Config {
            interfaces: vec![Interface::find(interface)?],
            params: params(run, side),
            directions,
            ..Config::default()
        })?;
        Ok(Box::new(Attached {
            agent,
            side,
            samples: HashMap::new(),
        }))
    }
}

/// That host's law and its parameters, as a run of a scenario states them.
fn params(run: &scenario::Run, side: Side) -> Params {
    Params {
        law: match run.law_of(side) {
            scenario::Law::None => Law::None,
            scenario::Law::Drs => Law::Drs,
            scenario::Law::Drwa => Law::Drwa,
            scenario::Law::Tide => Law::Tide,
            scenario::Law::Rledbat => Law::Rledbat,
            scenario::Law::Rsfc => Law::Rsfc,
        },
        lambda: run.lambda,
        limit: run.limit.map(|l| u32::try_from(l).unwrap_or(u32::MAX)),
        keep_minima: run.keep_minima,
    }
}

struct Attached {
    agent: Agent,
    side: Side,
    /// How many RTT samples each flow had at the last look.
    samples: HashMap<(u16, u16, bool), u32>,
}

impl Attached {
    /// The flow as the client sees it; the server's downloads are the client's uploads.
    fn seen_by_client(&self, flow: &FlowView) -> SteeredFlow {
        let ports = (flow.local.port, flow.remote.port);
        let arrives = flow.direction == tidegate_agent::Direction::Down;
        let (client_port, server_port) = match self.side {
            Side::Client => ports,
            Side::Server => (ports.1, ports.0),
        };
        SteeredFlow {
            direction: if arrives == (self.side == Side::Client) {
                Direction::Down
            } else {
                Direction::Up
            },
            client_port,
            server_port,
            rtt_us: flow.rtt_us,
            queue_us: flow.queue_us.unwrap_or(0),
            window_bytes: flow.window_bytes.into(),
        }
    }
}

impl Steering for Attached {
    fn sample(&mut self) -> Vec<SteeredFlow> {
        let flows = self.agent.flows();
        flows
            .iter()
            .map(|f| {
                let mut flow = self.seen_by_client(f);
                let up = flow.direction == Direction::Up;
                let key = (flow.client_port, flow.server_port, up);
                let seen = self.samples.insert(key, f.samples);
                flow.rtt_us = flow.rtt_us.filter(|_| seen != Some(f.samples));
                flow
            })
            .collect()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
