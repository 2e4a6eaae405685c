//! The stream: which numbers are missing, and since when.

use super::Arrival;
use crate::gaps::Gaps;
use crate::{Data, Feedback, Gap};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The least time between two requests for the same packet, whatever the sender says.
const LEAST_PATIENCE: Duration = Duration::from_millis(1);

/// Numbers of the stream.
#[derive(Debug)]
pub struct Reassembly {
    /// Packets that may wait.
    buffer: u64,
    /// Read by the application so far.
    read: u64,
    /// The number after the largest that has arrived.
    end: u64,
    /// The missing numbers below `end`, and when to ask for them.
    holes: Gaps<Instant>,
    /// Numbers missing in all.
    missing: u64,
    /// The earliest time in `holes`, or an earlier one.
    next_request: Instant,
    /// The buffer is more than half full.
    hurried: bool,
    /// How many packets the stream has, once that is known.
    length: Option<u64>,
    /// τ, as last told by the sender.
    patience: Duration,
    most_waiting: u64,
}

impl Reassembly {
    /// Nothing has arrived.
    pub fn new(buffer: u64) -> Self {
        Self {
            buffer,
            read: 0,
            end: 0,
            holes: Gaps::default(),
            missing: 0,
            next_request: Instant::MAX,
            hurried: false,
            length: None,
            patience: Duration::ZERO,
            most_waiting: 0,
        }
    }

    /// A packet arrives.
    pub fn arrive(&mut self, now: Instant, data: &Data) -> Arrival {
        let number = data.stream;
        if number >= self.limit() || self.length.is_some_and(|length| number >= length) {
            return Arrival::Refused;
        }
        self.patience = data.patience;
        if data.fin && number + 1 >= self.end {
            self.length = Some(number + 1);
        }
        if number < self.end {
            if !self.holes.remove(number) {
                return Arrival::Duplicate;
            }
            self.missing -= 1;
        } else {
            self.open(now, number);
        }
        self.most_waiting = self.most_waiting.max(self.waiting());
        self.hurry(now);
        Arrival::New
    }

    /// `number` arrives before some below it. Paths of different lengths may be the reason for such holes, so the
    /// receiver asks for them only after τ, unless it is in a hurry (section 3.1.2).
    fn open(&mut self, now: Instant, number: u64) {
        let ask_at = match self.hurried {
            true => now,
            false => now + self.patience,
        };
        self.holes.push(self.end, number, ask_at);
        if self.end < number {
            self.next_request = self.next_request.min(ask_at);
        }
        self.missing += number - self.end;
        self.end = number + 1;
    }

    /// "SNACKs will be sent immediately if the receiver's buffer is more than half full" (section 3.1.2): for the
    /// numbers missing at that moment, and for new holes from then on.
    fn hurry(&mut self, now: Instant) {
        let hurried = self.waiting() * 2 > self.buffer;
        if hurried && !self.hurried {
            for (_, _, ask_at) in self.holes.iter_mut() {
                *ask_at = now;
            }
            self.next_request = now;
        }
        self.hurried = hurried;
    }

    /// The gaps to ask for at `now`, as many as fit; they are asked for again after τ.
    pub fn missing(&mut self, now: Instant) -> Vec<Gap> {
        let mut gaps = Vec::new();
        if self.next_request > now {
            return gaps;
        }
        let mut next_request = Instant::MAX;
        for (first, end, ask_at) in self.holes.iter_mut() {
            if *ask_at <= now && gaps.len() < Feedback::GAPS {
                gaps.push(Gap {
                    first,
                    count: u32::try_from(end - first).unwrap_or(u32::MAX),
                });
                *ask_at = now + self.patience.max(LEAST_PATIENCE);
            }
            next_request = next_request.min(*ask_at);
        }
        self.next_request = next_request;
        gaps
    }

    /// Whether there is a gap to ask for.
    pub fn is_asking(&mut self, now: Instant) -> bool {
        if self.next_request <= now {
            // The hole with the earliest time may have been filled since.
            let times = self.holes.iter_mut().map(|(_, _, ask_at)| *ask_at);
            self.next_request = times.min().unwrap_or(Instant::MAX);
        }
        self.next_request <= now
    }

    /// When there may be a gap to ask for.
    pub fn next_request(&self) -> Option<Instant> {
        (self.next_request < Instant::MAX).then_some(self.next_request)
    }

    /// The first number that is missing.
    pub fn next(&self) -> u64 {
        self.holes.first().unwrap_or(self.end)
    }

    /// Numbers below this one may arrive.
    pub fn limit(&self) -> u64 {
        self.read + self.buffer
    }

    /// Packets in order that have not been read.
    pub fn readable(&self) -> u64 {
        self.next() - self.read
    }

    /// Reads up to `max`.
    pub fn read(&mut self, max: u64) -> u64 {
        let count = self.readable().min(max);
        self.read += count;
        count
    }

    /// Packets that have arrived and have not been read.
    pub fn waiting(&self) -> u64 {
        self.end - self.read - self.missing
    }

    /// The most packets that have ever waited.
    pub fn most_waiting(&self) -> u64 {
        self.most_waiting
    }

    /// Whether everything has been read.
    pub fn finished(&self) -> bool {
        self.length == Some(self.read)
    }
}
