//! The interface to the live agent: the laboratory itself knows no law.

use anyhow::Result;
use std::net::SocketAddr;
use tidegate_scenario::{Direction, Run, Side};

/// Attaches an agent for a run.
pub trait Steer: Sync {
    /// Attaches to `interface`, the end of the link on that `side`. Called on a thread inside that
    /// host's namespace, before any workload starts, for every host at which the run has a law
    /// (`Run::law_of`).
    ///
    /// # Errors
    /// When the agent cannot run; the run fails with it.
    fn attach(&self, run: &Run, side: Side, interface: &str) -> Result<Box<dyn Steering>>;
}

/// An attached agent. Dropping it detaches it.
pub trait Steering: Send {
    /// What the agent knows about each flow now; called about every 20 ms.
    fn sample(&mut self) -> Vec<SteeredFlow>;

    /// Flows without a window that it may hold; called at the same times.
    fn held(&mut self) -> Vec<HeldFlow> {
        Vec::new()
    }

    /// Detaches at the end of the run, when the workloads have stopped; inside the host's
    /// namespace again.
    ///
    /// # Errors
    /// When something is left behind or the agent failed on the way.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// What the agent knows of one flow: a connection's data in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteeredFlow {
    /// Which way its data go, as the client sees it.
    pub direction: Direction,
    /// The client's port.
    pub client_port: u16,
    /// The server's address and port.
    pub server: SocketAddr,
    /// The latest RTT sample since the last call, in microseconds; none if there was none.
    pub rtt_us: Option<u32>,
    /// The agent's estimate of the queueing delay, in microseconds.
    pub queue_us: u32,
    /// The window that it allows, in bytes.
    pub window_bytes: u64,
}

/// A download without a window that may be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldFlow {
    /// The client's port.
    pub client_port: u16,
    /// Where the server listens.
    pub server: SocketAddr,
    /// Packets that have waited since it is held.
    pub held: u64,
    /// Packets that were signalled as congestion since it has a record.
    pub signalled: u64,
}
