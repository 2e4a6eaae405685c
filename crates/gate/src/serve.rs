//! The gate's process: receives packets from the queue, and accepts each when the law says.

use crate::control::{Channel, FLOWS, Reply, Request};
use crate::flow::{Leaving, flow};
use crate::hold::{Hold, Law};
use crate::rules::Rules;
use crate::{Flow, GateError};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use signal_hook::consts::SIGTERM;
use std::collections::HashSet;
use std::io::{self, stdin};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tidegate_linux::netfilter::{Capacity, Queue};

/// One of these queue numbers is used. They are far from 0, where other programs begin.
pub const QUEUES: RangeInclusive<u16> = 0x7400..=0x74ff;

/// The most packets that are read before waiting ones are let go and other events are handled.
const BURST: usize = 64;

/// More than [`crate::Limits`] let wait, so that those limits decide, which let packets go in order.
const CAPACITY: Capacity = Capacity {
    packets: 16_384,
    socket_bytes: 16 << 20,
};

/// Serves a queue on behalf of the agent that started this process with its end of a pair of sockets as
/// standard input, until the agent ends, or SIGTERM.
///
/// `law` makes the law from the descriptors that the agent passes. If the law panics it is not asked again: everything
/// is let go, and the process ends.
///
/// # Errors
/// If the kernel lacks queues or rules for them, or a system call fails later.
pub fn serve<L, E>(law: impl FnOnce(Vec<OwnedFd>) -> Result<L, E>) -> Result<(), GateError>
where
    L: Law,
    E: std::fmt::Display,
{
    let channel = stdin().as_fd().try_clone_to_owned().map(Channel);
    let channel = channel.map_err(GateError::system("keep the agent's socket"))?;
    let opening = channel.receive();
    let Some((Request::Open(limits), descriptors)) = opening.map_err(GateError::Gone)? else {
        return Ok(());
    };
    let opened = law(descriptors)
        .map_err(|error| GateError::Refused(error.to_string()))
        .and_then(|law| Server::open(law, Hold::new(limits)));
    match opened {
        Ok(mut server) => {
            let reply = Reply::Open(server.rules.by());
            channel.send(&reply, &[]).map_err(GateError::Gone)?;
            let outcome = server.run(&channel);
            server.end().and(outcome)
        }
        Err(error) => {
            let reply = Reply::Refused(error.in_words());
            channel.send(&reply, &[]).map_err(GateError::Gone)?;
            Err(error)
        }
    }
}

struct Server<L: Law> {
    queue: Queue,
    rules: Arc<Rules>,
    /// The flows in the rules' sets.
    flows: HashSet<Flow>,
    hold: Hold<L::Mark>,
    law: L,
    /// Whether the law has panicked: it is not asked again.
    failed: bool,
    end: UnixStream,
}

impl<L: Law> Server<L> {
    fn open(law: L, hold: Hold<L::Mark>) -> Result<Self, GateError> {
        // By default the kernel may wake a process up to 50 µs late.
        let _ = set_timerslack(1);
        // In this order: no packet comes before its queue is served.
        let queue = Queue::bind(QUEUES, CAPACITY).map_err(GateError::system(
            "serve a netfilter queue (nfnetlink_queue)",
        ))?;
        let rules = Rules::put_up(queue.number()).map_err(GateError::system(
            "send packets to a queue by nf_tables (nft_queue, or nft_compat with xt_NFQUEUE; Linux 5.12)",
        ))?;
        Ok(Self {
            queue,
            rules: Arc::new(rules),
            flows: HashSet::new(),
            hold,
            law,
            failed: false,
            end: termination().map_err(GateError::system("wait for SIGTERM"))?,
        })
    }

    /// Serves until the agent ends.
    fn run(&mut self, channel: &Channel) -> Result<(), GateError> {
        let mut all = true;
        loop {
            let [asked, end] = self.wait(channel, all)?;
            all = self.receive()?;
            self.release()?;
            if end || (asked && !self.answer(channel)?) {
                return Ok(());
            }
        }
    }

    /// Waits for a packet, for the time of a waiting one, for the agent, or for a signal. Returns whether the last two
    /// have come. `all`: every packet that had come has been read.
    fn wait(&self, channel: &Channel, all: bool) -> Result<[bool; 2], GateError> {
        let pause = self.hold.next_us().map(|next| {
            let pause = Duration::from_micros(next.saturating_sub(now_us()));
            TimeSpec::from_duration(pause)
        });
        let watched = [channel.as_fd(), self.end.as_fd(), self.queue.as_fd()];
        let mut watched = watched.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        // New packets queue up behind waiting ones, and are read when those are next checked.
        let each_waits = self.hold.waiting_flows() == self.flows.len();
        let reads_later = all && pause.is_some() && each_waits && self.law.may_hear_late();
        if reads_later {
            watched[2].set_events(PollFlags::empty());
        }
        match ppoll(&mut watched, pause, None) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok([false; 2]),
            Err(error) => return Err(GateError::system("wait for packets")(error.into())),
        }
        let [asked, end, _] = watched.map(|fd| fd.any().unwrap_or(true));
        Ok([asked, end])
    }

    /// Takes packets from the queue. Returns whether it took all that had come.
    fn receive(&mut self) -> Result<bool, GateError> {
        for _ in 0..BURST {
            let packet = self.queue.receive();
            let Some(packet) = packet.map_err(GateError::system("receive packets"))? else {
                return Ok(true);
            };
            let known = flow(packet.leaves_by, packet.head).filter(|f| self.flows.contains(f));
            let Some(flow) = known else {
                // A packet of a flow that was just taken out of the rules.
                let id = packet.id;
                self.queue.accept(id);
                continue;
            };
            let leaving = Leaving {
                flow,
                bytes: packet.bytes,
                at_us: now_us(),
            };
            let id = packet.id;
            let law = &mut self.law;
            let mark = catch_unwind(AssertUnwindSafe(|| law.came(&leaving, packet.head)));
            self.hold
                .push(leaving, id, *mark.as_ref().unwrap_or(&L::Mark::default()));
            if mark.is_err() {
                return Err(self.fail());
            }
        }
        Ok(false)
    }

    /// The law has failed: from the next release on no packet waits.
    fn fail(&mut self) -> GateError {
        self.failed = true;
        GateError::Panicked
    }

    /// Lets packets go whose time has come.
    fn release(&mut self) -> Result<(), GateError> {
        let now_us = now_us();
        let Self { hold, law, .. } = self;
        if self.failed {
            hold.let_go(None);
        }
        let mut looked = catch_unwind(AssertUnwindSafe(|| hold.look(law, now_us)));
        while let Some((id, packet)) = self.hold.pop() {
            self.queue.accept(id);
            if looked.is_ok() && !self.failed {
                looked = catch_unwind(AssertUnwindSafe(|| self.law.leaves(&packet)));
            }
        }
        if looked.is_err() {
            self.queue.flush().ok();
            return Err(self.fail());
        }
        self.queue
            .flush()
            .map_err(GateError::system("let packets go"))
    }

    /// Does what the agent asks. Returns whether the agent is still there; an error if the law has failed.
    fn answer(&mut self, channel: &Channel) -> Result<bool, GateError> {
        // On any error the agent can no longer be served.
        let Ok(Some((request, _))) = channel.receive() else {
            return Ok(false);
        };
        let done = match request {
            Request::Hold(flows) => flows.iter().try_for_each(|flow| self.admit(flow)),
            Request::Leave(flows) => flows.iter().try_for_each(|flow| self.dismiss(flow)),
            Request::Counts => {
                let reply = Reply::Counts(self.hold.counts());
                return Ok(channel.send(&reply, &[]).is_ok());
            }
            Request::Each => {
                let each = self.hold.each().take(FLOWS).collect();
                return Ok(channel.send(&Reply::Each(each), &[]).is_ok());
            }
            Request::Open(_) => Ok(()),
        };
        let reply = match done {
            Ok(()) => Reply::Done,
            Err(error) => Reply::Refused(error.in_words()),
        };
        let told = channel.send(&reply, &[]).is_ok();
        match self.failed {
            true => Err(GateError::Panicked),
            false => Ok(told),
        }
    }

    fn admit(&mut self, flow: &Flow) -> Result<(), GateError> {
        if self.flows.insert(*flow) {
            let added = self.rules.add(flow);
            if added.is_err() {
                self.flows.remove(flow);
            }
            added.map_err(GateError::system("add a flow to the gate's rules"))?;
        }
        Ok(())
    }

    /// Lets the flow's waiting packets leave before new ones can bypass the queue.
    fn dismiss(&mut self, flow: &Flow) -> Result<(), GateError> {
        if self.flows.remove(flow) {
            self.hold.let_go(Some(flow));
            self.release()?;
            self.hold.forget(flow);
            let flow = *flow;
            self.change(move |rules| rules.remove(&flow))?;
        }
        Ok(())
    }

    /// Takes flows out of the rules, and meanwhile releases the packets that still come: while the kernel makes the
    /// change, packets begin to bypass the queue, and may overtake only those that are still in it.
    fn change(
        &mut self,
        change: impl FnOnce(&Rules) -> io::Result<()> + Send,
    ) -> Result<(), GateError> {
        const POLL_INTERVAL_MS: u8 = 1;
        // First the packets that have come already; bounded, since they may keep coming.
        for _ in 0..CAPACITY.packets {
            let all = self.receive()?;
            self.release()?;
            if all {
                break;
            }
        }
        let rules = Arc::clone(&self.rules);
        thread::scope(|scope| {
            let change = scope.spawn(move || change(&rules));
            while !change.is_finished() {
                self.let_pass(POLL_INTERVAL_MS)?;
            }
            let changed = change.join().expect("it does not panic");
            changed.map_err(GateError::system("take flows out of the gate's rules"))
        })
    }

    /// Waits up to `wait_ms` for packets, and lets those go whose time has come. Returns whether any came.
    fn let_pass(&mut self, wait_ms: u8) -> Result<bool, GateError> {
        let mut coming = [PollFd::new(self.queue.as_fd(), PollFlags::POLLIN)];
        let some = !matches!(poll(&mut coming, wait_ms), Ok(0));
        self.receive()?;
        self.release()?;
        Ok(some)
    }

    /// Lets everything go, in order.
    fn end(mut self) -> Result<(), GateError> {
        /// After this time without a packet, none is still on its way from a removed rule.
        const QUIET_MS: u8 = 20;
        /// A bound, since other programs' rules may send packets to this queue.
        const MOST_US: u64 = 500_000;
        self.flows.clear();
        self.hold.let_go(None);
        self.release()?;
        self.change(Rules::clear)?;
        let began_us = now_us();
        while self.let_pass(QUIET_MS)? && now_us() - began_us < MOST_US {}
        Ok(())
    }
}

/// Becomes readable when SIGTERM has come.
fn termination() -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(SIGTERM, write)?;
    Ok(read)
}

/// CLOCK_MONOTONIC, which the kernel's programs read as well.
fn now_us() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock");
    Duration::from(now).as_micros() as u64
}
