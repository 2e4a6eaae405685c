//! The applications of a run.
//!
//! [`Applications::add`] opens every listener before the clock starts; each [`Task`] then runs on its own thread inside
//! its host's namespace, within its term.

mod command;
mod flow;
mod mpath;
mod pattern;
mod ping;
mod stream;
mod web;

pub use command::CommandOutput;
#[cfg(test)]
pub use flow::Fetch;
pub use flow::{EchoLog, FetchLog, Flow};
pub use mpath::{TransferLog, TransferSample};
pub use pattern::Pattern;

use crate::run::Commands;
use crate::site::Place;
use crate::term::Term;
use crate::transport::Transport;
use anyhow::{Context, Result, bail};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use tidegate_link::Instant;
use tidegate_scenario::{Side, Workload, WorkloadKind};

/// The context of a workload's tasks.
#[derive(Debug)]
pub struct TaskContext<'a> {
    /// The client's address.
    pub client_address: IpAddr,
    /// The server's address for this workload.
    pub server_address: IpAddr,
    /// The client's transport.
    pub client: Transport,
    /// The server's transport.
    pub server: Transport,
    /// Whether commands run, and with which rights.
    pub commands: &'a Commands,
    /// Where their output goes.
    pub output: &'a CommandOutput,
    /// When a workload without its own end stops.
    pub end: Instant,
    /// Problems that do not end the run.
    pub warnings: &'a Mutex<Vec<String>>,
}

impl TaskContext<'_> {
    /// The address of the host on that side.
    pub fn address(&self, side: Side) -> IpAddr {
        match side {
            Side::Client => self.client_address,
            Side::Server => self.server_address,
        }
    }
}

type Work = Box<dyn FnOnce(&TaskContext, &Term) -> Result<()> + Send>;

/// One thread of a workload.
pub struct Task {
    /// The workload's number.
    pub workload: usize,
    /// The workload's name.
    pub name: String,
    /// The host on which it runs.
    pub place: Place,
    /// When it begins.
    pub start: Instant,
    /// When it stops at the latest.
    pub end: Instant,
    /// Its work, which ends soon after the term. An error ends the run.
    pub work: Work,
}

/// The applications of a run: the threads to start, and the logs that they fill.
#[derive(Default)]
pub struct Applications {
    /// The threads to start.
    pub tasks: Vec<Task>,
    /// Connections that live for as long as their workload.
    pub flows: Vec<Arc<Flow>>,
    /// Workloads that fetch one object after another.
    pub fetches: Vec<Arc<FetchLog>>,
    /// Workloads that measure round trips.
    pub echoes: Vec<Arc<EchoLog>>,
    /// mPath transfers.
    pub transfers: Vec<Arc<TransferLog>>,
    /// Number of the current workload.
    number: usize,
}

impl Applications {
    /// Prepares the workload of that number: opens its listeners. Has to be called inside its server's namespace.
    ///
    /// # Errors
    /// When a socket cannot be opened.
    pub fn add(&mut self, number: usize, workload: &Workload, context: &TaskContext) -> Result<()> {
        self.number = number;
        let name = &workload.name;
        self.add_kind(workload, context)
            .with_context(|| format!("workload \"{name}\""))
    }

    fn add_kind(&mut self, workload: &Workload, context: &TaskContext) -> Result<()> {
        match &workload.does {
            WorkloadKind::Web {
                object_bytes,
                pause_s,
            } => web::add(self, workload, context, object_bytes, *pause_s),
            WorkloadKind::Ping {
                interval_ms,
                packet_bytes,
            } => ping::add(self, workload, context, *interval_ms, *packet_bytes),
            WorkloadKind::Command { run, side } => {
                command::add(self, workload, context, run, *side);
                Ok(())
            }
            WorkloadKind::Mpath(transfer) => mpath::add(self, workload, context, transfer),
            WorkloadKind::Bulk { .. }
            | WorkloadKind::Reader { .. }
            | WorkloadKind::Chunks { .. }
            | WorkloadKind::ConstantRate { .. }
            | WorkloadKind::Mptcp { .. } => stream::add(self, workload, context, &workload.does),
            WorkloadKind::Page { .. }
            | WorkloadKind::Flows(_)
            | WorkloadKind::Video { .. }
            | WorkloadKind::AdaptiveVideo(_)
            | WorkloadKind::Datagrams { .. }
            | WorkloadKind::OnOff(_)
            | WorkloadKind::Sprout(_) => bail!("only the simulator can run it"),
        }
    }

    fn add_task(
        &mut self,
        workload: &Workload,
        context: &TaskContext,
        side: Side,
        work: impl FnOnce(&TaskContext, &Term) -> Result<()> + Send + 'static,
    ) {
        self.add_task_at(workload, context, Place::Side(side), work);
    }

    fn add_task_at(
        &mut self,
        workload: &Workload,
        context: &TaskContext,
        place: Place,
        work: impl FnOnce(&TaskContext, &Term) -> Result<()> + Send + 'static,
    ) {
        let stop = workload.stop_s.map(Instant::from_secs_f64);
        self.tasks.push(Task {
            workload: self.number,
            name: workload.name.clone(),
            place,
            start: Instant::from_secs_f64(workload.start_s),
            end: stop.map_or(context.end, |stop| stop.min(context.end)),
            work: Box::new(work),
        });
    }
}

/// A UDP socket of the server's, at a port that the kernel chooses.
fn bind_udp(context: &TaskContext) -> Result<(UdpSocket, SocketAddr)> {
    let socket = UdpSocket::bind((context.server_address, 0))
        .context("the server cannot bind a UDP socket")?;
    let at = socket.local_addr()?;
    Ok((socket, at))
}
