//! The emulator: a thread that carries packets from one [`Port`] to another through a
//! [`Link`] in each direction, in real time.
//!
//! Everything happens on one thread: what arrived is read first, then what is due is written, and
//! when there is neither the thread sleeps until the next event or packet. Writing a packet runs the
//! receiving TCP on this thread, which is what bounds the rate (about 2 Gbit/s of MTU-sized packets).

mod frame;
mod record;

use frame::Frame;
pub use record::{LaneRecord, Record};

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

/// Packets read or written in one direction before the other has its turn.
const BATCH: usize = 32;

/// Longest sleep: how late a stop may be noticed.
const NAP: Duration = Duration::from_millis(20);

/// Both directions between two devices.
pub struct Emulator<'a> {
    clock: Clock,
    window: Window,
    lanes: [Lane<'a>; 2],
    /// Buffers of packets that have left.
    pool: Vec<Vec<u8>>,
}

/// One direction.
struct Lane<'a> {
    from: &'a Port,
    to: &'a Port,
    link: Link<Frame>,
    record: LaneRecord,
}

impl<'a> Emulator<'a> {
    /// An emulator between the client's port and the server's, with the link of each direction and
    /// what is to be recorded of it.
    pub fn new(
        (client, server): (&'a Port, &'a Port),
        (down, up): ((Config, LinkRecord), (Config, LinkRecord)),
        seed: u64,
        clock: Clock,
        window: Window,
    ) -> Self {
        let lane = |from, to, (config, record), seed| Lane {
            from,
            to,
            link: Link::new(config, seed),
            record: LaneRecord::new(record),
        };
        Self {
            clock,
            window,
            lanes: [
                lane(server, client, down, seed),
                lane(client, server, up, seed.wrapping_add(1)),
            ],
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

    /// Reads what the hosts have sent; whether there was anything.
    fn take_arrivals(&mut self) -> Result<bool, Errno> {
        let mut any = false;
        for lane in &mut self.lanes {
            for _ in 0..BATCH {
                let mut bytes = self.pool.pop().unwrap_or_else(|| Vec::with_capacity(MTU));
                if !lane.from.read(&mut bytes)? {
                    self.pool.push(bytes);
                    break;
                }
                any = true;
                let arrived = self.clock.now();
                lane.link.push(arrived, Frame { bytes, arrived });
            }
        }
        Ok(any)
    }

    /// Writes what is due; whether there was anything.
    fn deliver_due(&mut self) -> bool {
        let mut any = false;
        for lane in &mut self.lanes {
            for _ in 0..BATCH {
                let now = self.clock.now();
                let Some(delivery) = lane.link.poll(now) else {
                    break;
                };
                any = true;
                let Frame { bytes, arrived } = delivery.packet;
                if lane.to.write(&bytes).is_err() {
                    lane.record.refused += 1;
                }
                let passage = Passage {
                    bytes: bytes.len(),
                    arrived,
                    due: delivery.due,
                    queued: delivery.queued,
                };
                lane.record.count(&passage, now - delivery.due);
                self.pool.push(bytes);
            }
        }
        any
    }

    /// Sleeps until a packet arrives or the next event of a link.
    fn sleep(&self) -> Result<(), Errno> {
        let [a, b] = &self.lanes;
        let next = [a, b].into_iter().filter_map(|l| l.link.next_event()).min();
        let timeout = next.map_or(NAP, |at| at - self.clock.now()).min(NAP);
        let mut fds = [a, b].map(|l| PollFd::new(l.from.as_fd(), PollFlags::POLLIN));
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
        let [down, up] = self.lanes.map(|mut lane| {
            lane.record.link.at_end = *lane.link.stats();
            lane.record
        });
        Record {
            down,
            up,
            cpu_share,
            counted,
        }
    }
}
