//! The laboratory's agent: the same one that `tidegate run` attaches.

use anyhow::Result;
use std::collections::HashMap;
use std::net::SocketAddr;
use tidegate_agent::{Agent, Config, Directions, FlowView, Interface};
use tidegate_daemon::{Terms, Windowless};
use tidegate_lab::{HeldFlow, Steer, SteeredFlow, Steering};
use tidegate_scenario::{Direction, Run, Side, Udp};

/// Attaches the live agent for a run of the laboratory.
pub struct LiveAgent;

impl Steer for LiveAgent {
    fn attach(&self, run: &Run, side: Side, interface: &str) -> Result<Box<dyn Steering>> {
        let directions = match side {
            Side::Client if run.steers_uploads() => Directions::Both,
            _ => Directions::Downloads,
        };
        let config = Config {
            interfaces: vec![Interface::find(interface)?],
            params: run.params_of(side),
            directions,
            ..Config::default()
        };
        let agent = Agent::start(&config)?;
        let mut terms = Terms::all(match side {
            Side::Client => run.udp,
            Side::Server => Udp::Leave,
        });
        // As in the simulator: the scenario itself says which of its workloads are held.
        terms.rules.holds = Directions::Both;
        Ok(Box::new(Attached {
            windowless: Windowless::start(&terms, false, &agent, &config.interfaces, || {})?,
            agent,
            side,
            samples: HashMap::new(),
        }))
    }
}

struct Attached {
    // Dropped before the agent: its programs share the agent's queues.
    windowless: Windowless,
    agent: Agent,
    side: Side,
    /// How many RTT samples each flow had at the last look.
    samples: HashMap<(u16, SocketAddr, bool), u32>,
}

impl Attached {
    /// The flow as the client sees it; the server's downloads are the client's uploads.
    fn seen_by_client(&self, flow: &FlowView) -> SteeredFlow {
        let arrives = flow.direction == Direction::Down;
        let (client, server) = match self.side {
            Side::Client => (flow.local, flow.remote),
            Side::Server => (flow.remote, flow.local),
        };
        SteeredFlow {
            direction: if arrives == (self.side == Side::Client) {
                Direction::Down
            } else {
                Direction::Up
            },
            client_port: client.port,
            server: SocketAddr::new(server.address, server.port),
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
                let key = (flow.client_port, flow.server, up);
                let seen = self.samples.insert(key, f.samples);
                flow.rtt_us = flow.rtt_us.filter(|_| seen != Some(f.samples));
                flow
            })
            .collect()
    }

    fn held(&mut self) -> Vec<HeldFlow> {
        let watched = self.windowless.watch();
        let mut flows: Vec<HeldFlow> = Vec::new();
        for seen in watched.into_iter().flat_map(|watched| watched.flows) {
            let (client_port, server) = (seen.flow.local.port(), seen.flow.remote);
            let signalled = u64::from(seen.hold.signalled);
            // A flow has a record for each direction, but only one gate.
            let same = |f: &&mut HeldFlow| (f.client_port, f.server) == (client_port, server);
            match flows.iter_mut().find(same) {
                Some(known) => known.signalled += signalled,
                None => flows.push(HeldFlow {
                    client_port,
                    server,
                    held: seen.hold.held,
                    signalled,
                }),
            }
        }
        flows
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
