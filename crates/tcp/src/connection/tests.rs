//! Handshakes, ends, and what must not disturb them, over a pipe that delays by 10 ms.

mod afc;
mod ecn;
mod ends;
mod handshake;
mod hostile;

use super::{Connection, Ending, State};
use crate::{Config, Ecn, Flags, Segment, Seq, Timestamps};
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// One way.
const DELAY: Duration = Duration::from_millis(10);

/// Two ends and the segments on the way between them.
struct Pair {
    now: Instant,
    ends: [Option<Connection>; 2],
    /// To each end: arrival times and segments.
    pipes: [VecDeque<(Instant, Segment)>; 2],
    /// Drops segments: (from which end, how many that end has sent before, the segment).
    lose: fn(usize, usize, &Segment) -> bool,
    /// Marks ECN-capable segments, with the same arguments.
    mark: fn(usize, usize, &Segment) -> bool,
    sent: [usize; 2],
    server: Config,
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

fn config(initial: u32) -> Config {
    Config {
        initial_seq: Seq(initial),
        timestamp_offset: initial.wrapping_mul(7),
        ..Config::default()
    }
}

impl Pair {
    fn new(client: Config, server: Config) -> Self {
        let now = Instant::from_millis(1000);
        Self {
            now,
            ends: [Some(Connection::connect(client, now)), None],
            pipes: Default::default(),
            lose: |_, _, _| false,
            mark: |_, _, _| false,
            sent: [0; 2],
            server,
        }
    }

    /// An established pair, with initial sequence numbers close to where they wrap.
    fn established() -> Self {
        let mut pair = Self::new(config(u32::MAX - 5), config(u32::MAX - 1000));
        pair.run_for(Duration::from_millis(100));
        assert_eq!(pair.states(), [State::Established; 2]);
        pair
    }

    fn end(&mut self, which: usize) -> &mut Connection {
        self.ends[which].as_mut().expect("it exists")
    }

    fn states(&self) -> [State; 2] {
        [0, 1].map(|end| self.ends[end].as_ref().expect("it exists").state())
    }

    /// Sends everything that is due.
    fn pump(&mut self) {
        for from in [CLIENT, SERVER] {
            let Some(end) = &mut self.ends[from] else {
                continue;
            };
            while let Some(mut segment) = end.transmit(self.now) {
                let lost = (self.lose)(from, self.sent[from], &segment);
                if segment.ecn.is_capable() && (self.mark)(from, self.sent[from], &segment) {
                    segment.ecn = Ecn::Ce;
                }
                self.sent[from] += 1;
                if !lost {
                    self.pipes[1 - from].push_back((self.now + DELAY, segment));
                }
            }
        }
    }

    /// Time of whatever happens next.
    fn next(&self) -> Option<Instant> {
        let arrivals = self.pipes.iter().filter_map(|pipe| Some(pipe.front()?.0));
        let timers = self.ends.iter().flatten().filter_map(Connection::timeout);
        arrivals.chain(timers).min()
    }

    fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        self.pump();
        while let Some(next) = self.next().filter(|&at| at <= until) {
            self.now = self.now.max(next);
            self.step();
            self.pump();
        }
        self.now = until;
    }

    fn step(&mut self) {
        for to in [CLIENT, SERVER] {
            if let Some((_, segment)) = self.pipes[to].pop_front_if(|(at, _)| *at <= self.now) {
                self.deliver(to, &segment);
                return;
            }
        }
        for end in self.ends.iter_mut().flatten() {
            end.expire(self.now);
        }
    }

    fn deliver(&mut self, to: usize, segment: &Segment) {
        match &mut self.ends[to] {
            Some(end) => drop(end.receive(self.now, segment)),
            empty => *empty = Connection::accept(self.server.clone(), self.now, segment),
        }
    }

    /// Lets `segment` arrive, and returns what `to` answers at once.
    fn inject(&mut self, to: usize, segment: &Segment) -> Vec<Segment> {
        let now = self.now;
        let end = self.end(to);
        end.receive(now, segment);
        std::iter::from_fn(|| end.transmit(now)).collect()
    }

    /// A segment that `from` might send now.
    fn forged(&mut self, from: usize, flags: Flags) -> Segment {
        let now = self.now;
        let end = self.end(from);
        Segment {
            seq: Seq::at(end.initial, end.sender.next()),
            ack: Seq::at(end.peer_initial, end.receiver.next()),
            flags,
            window: 1000,
            timestamps: end.clock.option(now, false),
            ..Segment::default()
        }
    }
}

/// The timestamps of `segment`, with TSval moved by `ticks`.
fn shifted(segment: &Segment, ticks: i32) -> Option<Timestamps> {
    segment.timestamps.map(|t| Timestamps {
        val: t.val.wrapping_add_signed(ticks),
        ..t
    })
}
