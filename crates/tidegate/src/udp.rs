//! What becomes of traffic without a window: held, turned away, or left alone.

mod echoes;
mod gate;
mod hold;

pub use gate::run as run_gate;

use anyhow::{Context, Result};
use hold::Hold;
use tidegate_agent::{Agent, Interface};
use tidegate_gate::{Choice, Fallback};
use tidegate_scenario::Udp;

/// Ports of QUIC's servers.
const HTTPS: u16 = 443;

/// What is done to it, until this value is dropped.
pub enum Windowless {
    /// Nothing.
    Left,
    /// New connections are turned away.
    Turned(#[expect(dead_code, reason = "it is what it does")] Fallback),
    /// What leaves of it waits.
    Held(#[expect(dead_code, reason = "it is what it does")] Hold),
}

impl Windowless {
    /// Begins, beside `agent`, on these interfaces of the calling thread's network namespace. `ended` is told if it
    /// cannot go on.
    ///
    /// # Errors
    /// If the kernel lacks what is needed.
    pub fn start(
        udp: Udp,
        agent: &Agent,
        interfaces: &[Interface],
        ended: impl Fn(&anyhow::Error) + Send + 'static,
    ) -> Result<Self> {
        match udp {
            Udp::Leave => Ok(Self::Left),
            Udp::Fallback => {
                let choice = |interface: &Interface| Choice {
                    interface: Some(interface.index),
                    remote_ports: HTTPS..=HTTPS,
                    remote: None,
                    rejects: true,
                };
                let choices: Vec<_> = interfaces.iter().map(choice).collect();
                let fallback = Fallback::new(&choices).context("cannot turn QUIC away")?;
                Ok(Self::Turned(fallback))
            }
            Udp::Hold => {
                let hold = Hold::start(agent, interfaces, ended);
                Ok(Self::Held(hold.context("cannot hold what has no window")?))
            }
        }
    }
}
