//! The emulator: a thread that carries packets between [`Port`]s through [`Link`]s, in real time.
//!
//! Everything happens on one thread: it reads packets that have arrived, then writes those that are due, and otherwise
//! sleeps until the next event or packet. Writing a packet runs the receiving TCP on this thread, which bounds the rate
//! (about 2 Gbit/s of MTU-sized packets).

mod frame;
mod record;
mod topology;

use frame::Frame;
pub use record::{LaneRecord, Record};
pub use topology::{Route, Topology, Ways};

use crate::clock::{Clock, make_punctual, thread_cpu_time};
use crate::port::Port;
use crate::tun::MTU;
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidegate_link::{Config, Instant, Link};
use tidegate_measure::{LinkRecord, Passage, Window};

/// The most packets that are read from one port or taken from one link before the others get a turn.
const BATCH: usize = 32;

/// Longest sleep: how late a stop may be noticed.
const NAP: Duration = Duration::from_millis(20);

/// How late this thread wakes up on a machine that is not too busy.
const PUNCTUAL: Duration = Duration::from_millis(1);

/// Links between ports.
pub struct Emulator<'a> {
    clock: Clock,
    window: Window,
    ports: Vec<&'a Port>,
    topology: Topology,
    lanes: Vec<Lane>,
    /// Packets that a port's other side refused.
    refused: u64,
    /// The latest time to look at the ports again.
    next_look: Instant,
    /// Buffers of packets that have left.
    pool: Vec<Vec<u8>>,
}

/// A link in one direction.
struct Lane {
    link: Link<Frame>,
    record: LaneRecord,
}

/// A link, what to record about it, and its random seed.
pub type LaneConfig = (Config, LinkRecord, u64);

impl<'a> Emulator<'a> {
    /// An emulator between the client's port and the server's, with the link of each direction and what to record about
    /// it.
    pub fn new(
        (client, server): (&'a Port, &'a Port),
        (down, up): ((Config, LinkRecord), (Config, LinkRecord)),
        seed: u64,
        clock: Clock,
        window: Window,
    ) -> Self {
        let lanes = vec![(down.0, down.1, seed), (up.0, up.1, seed.wrapping_add(1))];
        Self::between(vec![client, server], Topology::pair(), lanes, clock, window)
    }

    /// An emulator between several ports, in the topology's order, over the downlink, the uplink, and further links.
    pub fn between(
        ports: Vec<&'a Port>,
        topology: Topology,
        lanes: Vec<LaneConfig>,
        clock: Clock,
        window: Window,
    ) -> Self {
        let lane = |(config, record, seed)| Lane {
            link: Link::new(config, seed),
            record: LaneRecord::new(record),
        };
        Self {
            clock,
            window,
            ports,
            topology,
            lanes: lanes.into_iter().map(lane).collect(),
            refused: 0,
            next_look: Instant::MAX,
            pool: Vec::new(),
        }
    }

    /// Carries packets until the end of the window or until `stop`, on the calling thread.
    ///
    /// # Errors
    /// When a device is gone.
    pub fn run(mut self, stop: &AtomicBool) -> Result<Record> {
        make_punctual();
        let mut warmup = None;
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            if now >= self.window.end {
                break;
            }
            if now >= self.window.warmup && warmup.is_none() {
                warmup = Some((now, thread_cpu_time()));
                for lane in &mut self.lanes {
                    lane.record.link.at_warmup = *lane.link.stats();
                }
            }
            let arrived = self.take_arrivals().context("cannot read from a host")?;
            let left = self.deliver_due();
            if !arrived && !left {
                self.sleep().context("cannot wait for a host")?;
            }
        }
        Ok(self.into_record(warmup))
    }

    /// Reads the packets that hosts have sent. Returns whether there were any.
    fn take_arrivals(&mut self) -> Result<bool, Errno> {
        let mut arrivals = Vec::new();
        for port in 0..self.ports.len() {
            for _ in 0..BATCH {
                let mut bytes = self.pool.pop().unwrap_or_else(|| Vec::with_capacity(MTU));
                if !self.ports[port].read(&mut bytes)? {
                    self.pool.push(bytes);
                    break;
                }
                arrivals.push((port, bytes));
            }
        }
        let now = self.clock.now();
        let (from, step) = spread(self.next_look, now, arrivals.len());
        self.next_look = now;
        let any = !arrivals.is_empty();
        for (n, (port, bytes)) in (1..).zip(arrivals) {
            match self.topology.exits[port].route(&bytes) {
                Some(route) => self.forward(Frame {
                    bytes,
                    arrived: from + step * n,
                    route,
                    passed: 0,
                }),
                None => self.pool.push(bytes),
            }
        }
        Ok(any)
    }

    /// Passes a packet on to its next link, or to its destination.
    fn forward(&mut self, mut frame: Frame) {
        let route = &self.topology.routes[frame.route as usize];
        match route.links.get(usize::from(frame.passed)) {
            Some(&link) => {
                frame.passed += 1;
                self.lanes[link].link.push(frame.arrived, frame);
            }
            None => {
                if self.ports[route.to].write(&frame.bytes).is_err() {
                    self.refused += 1;
                }
                self.pool.push(frame.bytes);
            }
        }
    }

    /// Moves the packets that are due. Returns whether there were any.
    fn deliver_due(&mut self) -> bool {
        let mut any = false;
        for lane in 0..self.lanes.len() {
            for _ in 0..BATCH {
                let now = self.clock.now();
                let Some(delivery) = self.lanes[lane].link.poll(now) else {
                    break;
                };
                any = true;
                let mut frame = delivery.packet;
                let passage = Passage {
                    bytes: frame.bytes.len(),
                    arrived: frame.arrived,
                    due: delivery.due,
                    queued: delivery.queued,
                };
                // Even if this thread is late, the next link gets the packet at its due time.
                frame.arrived = delivery.due;
                self.forward(frame);
                self.lanes[lane].record.count(&passage, now - delivery.due);
            }
        }
        any
    }

    /// Sleeps until a packet arrives or the next event of a link.
    fn sleep(&mut self) -> Result<(), Errno> {
        let next = self.lanes.iter().filter_map(|l| l.link.next_event()).min();
        let now = self.clock.now();
        let timeout = next.map_or(NAP, |at| at - now).min(NAP);
        self.next_look = now + timeout;
        let fds = self.ports.iter().map(|port| port.as_fd());
        let mut fds: Vec<PollFd> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match ppoll(&mut fds, Some(TimeSpec::from_duration(timeout)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn into_record(self, warmup: Option<(Instant, Duration)>) -> Record {
        let (counted, cpu_share) = warmup.map_or_else(Default::default, |(since, used)| {
            let wall = self.clock.now() - since;
            let cpu = thread_cpu_time() - used;
            (wall, cpu.as_secs_f64() / wall.as_secs_f64())
        });
        let ended = |mut lane: Lane| {
            lane.record.link.at_end = *lane.link.stats();
            lane.record
        };
        let mut lanes = self.lanes.into_iter().map(ended);
        let mut next = || lanes.next().expect("a downlink and an uplink");
        Record {
            down: next(),
            up: next(),
            hops: lanes.collect(),
            refused: self.refused,
            cpu_share,
            counted,
        }
    }
}

/// Arrival times for packets that were read at `now`: of the first one, and the time from one to the next. If the
/// thread was delayed since `next_look`, the packets came at unknown times in between. They are spread evenly: all at
/// once, they would overflow a queue of a few packets.
fn spread(next_look: Instant, now: Instant, packets: usize) -> (Instant, Duration) {
    match now - next_look {
        late if late > PUNCTUAL => (next_look, late / packets.max(1) as u32),
        _ => (now, Duration::ZERO),
    }
}

#[cfg(test)]
mod tests;
