//! The sender's stream: what is acknowledged, what has to be sent again, what is next.

use crate::{Gap, PathId};
use std::collections::VecDeque;

/// Packets that may be sent before the receiver has told its limit: 300 kB or so.
const FIRST_LIMIT: u64 = 200;

/// The path that carries a packet of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The path that it was last sent on.
    pub path: PathId,
    /// Its number there.
    pub path_seq: u64,
}

/// A packet that is not known to have come in order.
#[derive(Clone, Copy, Debug)]
struct Slot {
    carrier: Carrier,
    /// It is to be sent again.
    queued: bool,
}

/// The stream.
#[derive(Debug)]
pub struct Stream {
    /// Packets that the application has written.
    written: u64,
    /// Nothing follows what is written.
    finished: bool,
    /// The first number that is not acknowledged.
    acknowledged: u64,
    /// From `acknowledged` on, those that have been sent.
    slots: VecDeque<Slot>,
    /// Numbers to be sent again, in the order in which their losses were found.
    again: VecDeque<u64>,
    /// Numbers below it may be sent.
    limit: u64,
    /// One packet may be sent beyond the limit, to learn whether the limit still holds.
    probe_limit: bool,
    retransmits: u64,
}

impl Stream {
    /// Nothing written; the receiver takes at least one packet, and tells its limit soon.
    pub fn new() -> Self {
        Self {
            written: 0,
            finished: false,
            acknowledged: 0,
            slots: VecDeque::new(),
            again: VecDeque::new(),
            limit: FIRST_LIMIT,
            probe_limit: false,
            retransmits: 0,
        }
    }

    /// The application writes `packets` packets.
    pub fn write(&mut self, packets: u64) {
        self.written = self.written.saturating_add(packets);
    }

    /// Nothing follows. If everything has been sent already, an empty packet says so.
    pub fn finish(&mut self) {
        if !self.finished && self.next() == self.written {
            self.written += 1;
        }
        self.finished = true;
    }

    /// The number after the last that has been sent.
    fn next(&self) -> u64 {
        self.acknowledged + self.slots.len() as u64
    }

    /// Numbers below this one have reached the receiver.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Packets sent and not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Whether everything written is acknowledged.
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged == self.written
    }

    /// Packets sent again so far.
    pub fn retransmits(&self) -> u64 {
        self.retransmits
    }

    /// The receiver's report about the whole stream. Packets that were never sent are ignored.
    pub fn acknowledge(&mut self, next: u64, limit: u64) {
        if next > self.next() {
            return;
        }
        for _ in self.acknowledged..next {
            self.slots.pop_front();
        }
        self.acknowledged = self.acknowledged.max(next);
        self.limit = self.limit.max(limit);
    }

    /// The packet with that carrier is lost.
    pub fn lose(&mut self, stream: u64, carrier: Carrier) {
        let lost = |slot: &&mut Slot| slot.carrier == carrier && !slot.queued;
        if let Some(slot) = self.slot(stream).filter(lost) {
            slot.queued = true;
            self.again.push_back(stream);
        }
    }

    /// The packet that `path` carried is given up, unless another path carries it by now.
    pub fn lose_on(&mut self, stream: u64, path: PathId) {
        let carrier = self.slot(stream).map(|slot| slot.carrier);
        if let Some(carrier) = carrier.filter(|carrier| carrier.path == path) {
            self.lose(stream, carrier);
        }
    }

    /// The receiver asks for a gap: all packets of it that no path `carries` any more are sent again.
    pub fn ask(&mut self, gap: &Gap, carries: impl Fn(&Carrier) -> bool) {
        let from = gap.first.clamp(self.acknowledged, self.next());
        let to = gap.end().clamp(from, self.next());
        for stream in from..to {
            let slot = &mut self.slots[(stream - self.acknowledged) as usize];
            if !slot.queued && !carries(&slot.carrier) {
                slot.queued = true;
                self.again.push_back(stream);
            }
        }
    }

    /// Nothing is in flight and no report comes: all packets that are not acknowledged are sent again or, if the
    /// receiver has them all but accepts no more, one more.
    pub fn retransmit_all(&mut self) {
        let everything = Gap {
            first: self.acknowledged,
            count: u32::MAX,
        };
        self.probe_limit = self.slots.is_empty() && self.next() >= self.limit;
        self.ask(&everything, |_| false);
    }

    /// Whether something waits to be sent, new or again.
    pub fn has_work(&self) -> bool {
        let again = self.again.iter().any(|&stream| stream >= self.acknowledged);
        again || self.has_new()
    }

    /// Whether something has never been sent and may be.
    pub fn has_new(&self) -> bool {
        self.next() < self.written && (self.next() < self.limit || self.probe_limit)
    }

    /// Whether more has been written than may be sent.
    pub fn is_blocked(&self) -> bool {
        self.next() < self.written && self.next() >= self.limit
    }

    /// The next packet to be sent, by `carrier`; lost packets before new ones. Returns its number, and whether it is
    /// the last.
    pub fn take(&mut self, carrier: impl FnOnce(u64) -> Carrier) -> Option<(u64, bool)> {
        self.skip_acknowledged();
        let stream = match self.again.pop_front() {
            Some(stream) => {
                self.retransmits += 1;
                let carrier = carrier(stream);
                if let Some(slot) = self.slot(stream) {
                    *slot = Slot {
                        carrier,
                        queued: false,
                    };
                }
                stream
            }
            None => self.take_new(carrier)?,
        };
        Some((stream, self.is_last(stream)))
    }

    fn take_new(&mut self, carrier: impl FnOnce(u64) -> Carrier) -> Option<u64> {
        if !self.has_new() {
            return None;
        }
        self.probe_limit = false;
        let stream = self.next();
        self.slots.push_back(Slot {
            carrier: carrier(stream),
            queued: false,
        });
        Some(stream)
    }

    fn is_last(&self, stream: u64) -> bool {
        self.finished && stream + 1 == self.written
    }

    fn skip_acknowledged(&mut self) {
        while self.again.front().is_some_and(|&s| s < self.acknowledged) {
            self.again.pop_front();
        }
    }

    fn slot(&mut self, stream: u64) -> Option<&mut Slot> {
        let place = stream.checked_sub(self.acknowledged)?;
        self.slots.get_mut(usize::try_from(place).ok()?)
    }
}
