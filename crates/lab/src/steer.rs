//! Where the live agent is attached: the laboratory knows no law, it only asks.

use anyhow::Result;
use tidegate_scenario::Run;

/// Attaches an agent for a run.
pub trait Steer: Sync {
    /// Attaches to `interface`, the client's end of the link. Called on a thread inside the client's
    /// namespace, before any workload starts, for every run that has a law.
    ///
    /// # Errors
    /// When the agent cannot run; the run fails with it.
    fn attach(&self, run: &Run, interface: &str) -> Result<Box<dyn Steering>>;
}

/// An attached agent. Dropping it detaches it.
pub trait Steering: Send {
    /// What the agent knows of each flow now; called about every 20 ms, on a thread inside
    /// the client's namespace.
    fn sample(&mut self) -> Vec<SteeredFlow>;

    /// Detaches at the end of the run, when the workloads have stopped; inside the client's
    /// namespace again.
    ///
    /// # Errors
    /// When something is left behind or the agent failed on the way.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// What the agent knows of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteeredFlow {
    /// The client's port.
    pub local_port: u16,
    /// The server's port.
    pub remote_port: u16,
    /// The latest RTT sample since the last call, in microseconds; none if there was none.
    pub rtt_us: Option<u32>,
    /// Queueing delay that the agent believes in, in microseconds.
    pub queue_us: u32,
    /// The window that it allows, in bytes.
    pub window_bytes: u64,
}
