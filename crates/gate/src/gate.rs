//! The agent's side of the gate.

use crate::control::{Channel, FLOWS, Reply, Request};
use crate::{Counts, Flow, FlowCounts, GateError, Limits, QueueBy};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt::ReceiveTimeout,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long the gate's process may take to answer.
const ANSWER_S: i64 = 2;

/// How long it may take to let everything go.
const END: Duration = Duration::from_secs(3);

/// A process that serves a queue in the namespace of the thread that started it. When this value is dropped, or the
/// agent's process ends in any way, waiting packets leave in order, and nothing stays behind.
pub struct Gate {
    process: Child,
    channel: Channel,
    by: QueueBy,
}

impl Gate {
    /// Starts `program`, which has to call [`crate::serve`]. `descriptors` are for its law.
    ///
    /// # Errors
    /// If it cannot be started, or refuses.
    pub fn start(
        mut program: Command,
        limits: Limits,
        descriptors: &[BorrowedFd],
    ) -> Result<Self, GateError> {
        let cannot = || GateError::system("start the gate's process");
        let (ours, theirs) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None,
            SockFlag::SOCK_CLOEXEC,
        )
        .map_err(|error| cannot()(error.into()))?;
        setsockopt(&ours, ReceiveTimeout, &TimeVal::seconds(ANSWER_S))
            .map_err(|error| cannot()(error.into()))?;
        // In a separate process group, so that a terminal's signals to the agent do not reach it.
        let process = program.stdin(theirs).process_group(0).spawn();
        let mut gate = Self {
            process: process.map_err(cannot())?,
            channel: Channel(ours),
            by: QueueBy::Expression,
        };
        // It holds a copy of the other end, which has to close when the process ends.
        drop(program);
        match gate.ask(&Request::Open(limits), descriptors)? {
            Reply::Open(by) => gate.by = by,
            other => return Err(unexpected(other)),
        }
        Ok(gate)
    }

    /// Which part of the kernel sends packets to the queue.
    #[must_use]
    pub fn queue_by(&self) -> QueueBy {
        self.by
    }

    /// From now on these flows' packets wait until the law lets them leave.
    ///
    /// # Errors
    /// If the process is gone; if there are too many flows.
    pub fn hold(&mut self, flows: &[Flow]) -> Result<(), GateError> {
        self.tell(flows, Request::Hold)
    }

    /// From now on these flows' packets leave as they come; waiting ones leave at once.
    ///
    /// # Errors
    /// If the process is gone.
    pub fn leave(&mut self, flows: &[Flow]) -> Result<(), GateError> {
        self.tell(flows, Request::Leave)
    }

    /// What became of packets so far.
    ///
    /// # Errors
    /// If the process is gone.
    pub fn counts(&mut self) -> Result<Counts, GateError> {
        match self.ask(&Request::Counts, &[])? {
            Reply::Counts(counts) => Ok(counts),
            other => Err(unexpected(other)),
        }
    }

    /// What became of each flow's packets since it is held, for at most 256 flows.
    ///
    /// # Errors
    /// If the process is gone.
    pub fn each(&mut self) -> Result<Vec<(Flow, FlowCounts)>, GateError> {
        match self.ask(&Request::Each, &[])? {
            Reply::Each(each) => Ok(each),
            other => Err(unexpected(other)),
        }
    }

    /// Number of the process.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    fn tell(&mut self, flows: &[Flow], what: fn(Vec<Flow>) -> Request) -> Result<(), GateError> {
        for flows in flows.chunks(FLOWS) {
            match self.ask(&what(flows.to_vec()), &[])? {
                Reply::Done => {}
                other => return Err(unexpected(other)),
            }
        }
        Ok(())
    }

    fn ask(&mut self, request: &Request, descriptors: &[BorrowedFd]) -> Result<Reply, GateError> {
        self.channel
            .send(request, descriptors)
            .map_err(GateError::Gone)?;
        match self.channel.receive() {
            Ok(Some((reply, _))) => Ok(reply),
            Ok(None) => Err(GateError::Gone(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(GateError::Gone(error)),
        }
    }
}

fn unexpected(reply: Reply) -> GateError {
    GateError::Refused(match reply {
        Reply::Refused(why) => why,
        _ => "has sent the reply to another request".into(),
    })
}

/// Hangs up when the gate's process ends.
impl AsFd for Gate {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

impl Gate {
    /// Makes the process let everything go, and end. If it hangs it is killed, and the packets that it holds are lost.
    pub fn end(&mut self) {
        const POLL_INTERVAL: Duration = Duration::from_millis(2);
        self.channel.close();
        let asked = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && asked.elapsed() < END {
            std::thread::sleep(POLL_INTERVAL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.end();
    }
}
