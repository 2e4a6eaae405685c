//! How segments are processed once the peer's SYN is known (RFC 9293 §3.10.7.4).

use super::{Connection, Ending, NOTHING, State, TIME_WAIT};
use crate::ecn::Echo;
use crate::receive::{Advertisement, Arrival};
use crate::send::{Ack, Transmission};
use crate::{Flags, SackBlocks, Segment, Seq};
use std::ops::Range;
use tidegate_basics::time::Instant;

impl Connection {
    /// Returns the bytes that it brings.
    pub(super) fn receive_synchronised(&mut self, now: Instant, segment: &Segment) -> Range<u64> {
        let handshaking = self.state == State::SynReceived;
        if handshaking && !self.pass_handshake(now, segment) {
            return NOTHING;
        }
        let Some(offset) = self.offset_of_theirs(segment.seq) else {
            self.receiver.refuse(now, 0, 0);
            return NOTHING;
        };
        if !self.sequence_check(now, segment, offset) {
            return NOTHING;
        }
        // The SYN-ACK of a simultaneous open has just been dealt with; a later one means that the
        // peer has not heard the ACK of its first.
        let known = handshaking && offset == 0;
        if !self.is_plain(now, segment, offset, known) {
            return NOTHING;
        }
        self.clock
            .heard(now, segment.timestamps, offset, self.receiver.last_ack());
        self.receiver.note_mark(segment.ecn);
        let echo = match handshaking {
            // It reports the ECN field with which the SYN-ACK came.
            true => Echo::Nothing,
            false => self.echo_of(segment),
        };
        if !self.process_ack(now, segment, offset, echo) {
            return NOTHING;
        }
        self.process_data(now, segment, offset)
    }

    /// SYN-RECEIVED: resets and repetitions of the SYN; whether the handshake is over.
    fn pass_handshake(&mut self, now: Instant, segment: &Segment) -> bool {
        if segment.flags.has(Flags::RST) {
            if segment.seq == Seq::at(self.peer_initial, 1) {
                self.end(Ending::Reset);
            }
            return false;
        }
        self.complete_handshake(now, segment)
    }

    /// PAWS first, then the window, as Linux does (`tcp_validate_incoming`).
    fn sequence_check(&mut self, now: Instant, segment: &Segment, offset: u64) -> bool {
        let reset = segment.flags.has(Flags::RST);
        let acceptable = self.receiver.acceptable(offset, segment.seq_len());
        if (!reset && self.clock.is_old(now, segment.timestamps)) || !acceptable {
            if !reset {
                self.receiver.refuse(now, offset, segment.len);
            }
            return false;
        }
        true
    }

    /// Whether it is neither a reset nor a SYN, unless the SYN is `known`. Doubtful ones are challenged (RFC 5961 §3.2,
    /// §4.2).
    fn is_plain(&mut self, now: Instant, segment: &Segment, offset: u64, known: bool) -> bool {
        if segment.flags.has(Flags::RST) {
            if offset == self.receiver.next() {
                self.end(Ending::Reset);
            } else {
                self.receiver.refuse(now, 0, 0);
            }
            return false;
        }
        if segment.flags.has(Flags::SYN) && !known {
            self.receiver.refuse(now, 0, 0);
            return false;
        }
        segment.flags.has(Flags::ACK)
    }

    /// Whether the segment's data are to be looked at.
    fn process_ack(
        &mut self,
        now: Instant,
        segment: &Segment,
        peer_offset: u64,
        echo: Echo,
    ) -> bool {
        let Some(offset) = self.offset_of_ours(segment.ack) else {
            return false;
        };
        if offset > self.sender.next() {
            // Data that were never sent cannot be acknowledged.
            self.receiver.refuse(now, 0, 0);
            return false;
        }
        if let Some(report) = segment.read_rate.filter(|_| self.afc) {
            self.sender.peer_reads(now, offset, report);
        }
        let (sack, count) = self.sack_offsets(&segment.sack);
        self.sender.ack(
            now,
            &Ack {
                offset,
                window: u64::from(segment.window) << self.peer_scale,
                sack: &sack[..count],
                timestamps: segment.timestamps,
                echo,
                data: segment.seq_len() > 0,
                peer_offset,
            },
        );
        if self.sender.finished() {
            self.fin_acknowledged(now);
        }
        self.state != State::Closed
    }

    fn sack_offsets(&self, blocks: &SackBlocks) -> ([(u64, u64); SackBlocks::MAX], usize) {
        let mut offsets = [(0, 0); SackBlocks::MAX];
        let mut count = 0;
        for &(left, right) in blocks.as_slice() {
            if let (Some(left), Some(right)) =
                (self.offset_of_ours(left), self.offset_of_ours(right))
            {
                offsets[count] = (left, right);
                count += 1;
            }
        }
        (offsets, count)
    }

    fn process_data(&mut self, now: Instant, segment: &Segment, offset: u64) -> Range<u64> {
        let fin = segment.flags.has(Flags::FIN);
        if segment.len == 0 && !fin {
            return NOTHING;
        }
        // The SYN takes a place before the data's. Without one the byte at offset 0 is garbage, such
        // as keep-alives carry (RFC 9293 §3.8.4), and old.
        let offset = offset + u64::from(segment.flags.has(Flags::SYN));
        let finished = self.receiver.finished();
        let arrived = self.receiver.segment(
            now,
            &Arrival {
                offset,
                len: segment.len,
                fin,
                push: segment.flags.has(Flags::PSH),
                echo_age: self.clock.echo_age(now, segment.timestamps),
                ecn: segment.ecn,
                cwr: segment.flags.has(Flags::CWR),
            },
        );
        if !finished && self.receiver.finished() {
            self.fin_received(now);
        } else if self.state == State::TimeWait {
            // The peer repeats its FIN: our last ACK was lost.
            self.linger = Some(now + TIME_WAIT);
        }
        arrived
    }

    fn fin_acknowledged(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                self.linger = self.released.then(|| now + TIME_WAIT);
            }
            State::Closing => self.time_wait(now),
            State::LastAck => self.end(Ending::Closed),
            _ => {}
        }
    }

    fn fin_received(&mut self, now: Instant) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => {
                self.state = State::Closing;
                self.receiver.acknowledge();
            }
            State::FinWait2 => {
                self.time_wait(now);
                self.receiver.acknowledge();
            }
            _ => {}
        }
    }

    fn time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.ending = Some(Ending::Closed);
        self.linger = Some(now + TIME_WAIT);
    }

    pub(super) fn transmit_synchronised(&mut self, now: Instant) -> Option<Segment> {
        // Most calls come after something that leaves nothing to send.
        if self.rest.is_none() && self.sender.is_done() && self.receiver.is_done() {
            // What an acknowledgement makes of the sender counts this room, too.
            self.sender.reserve(self.receiver.report_bytes());
            return None;
        }
        if let Some(ad) = self.receiver.advertise_early() {
            let next = self.sender.next();
            let mut segment = self.carry(now, &ad, (next, 0), Flags::ACK);
            self.label(&mut segment, false);
            return Some(segment);
        }
        if let Some(t) = self.transmit_data(now) {
            let mut flags = Flags::ACK;
            if t.push {
                flags = flags.with(Flags::PSH);
            }
            if t.fin {
                flags = flags.with(Flags::FIN);
                self.fin_sent();
            }
            let mut segment = self.segment(now, t.offset, t.len, flags);
            self.label(&mut segment, t.new);
            return Some(segment);
        }
        if self.receiver.ack_due() {
            let mut segment = self.segment(now, self.sender.next(), 0, Flags::ACK);
            self.label(&mut segment, false);
            return Some(segment);
        }
        None
    }

    /// The sender's next segment, with room for the SACK blocks and read rate that go with it. A new segment is cut to
    /// the room that there is. One that is sent again may be from a time when there was more room, and is then split in
    /// two (`tcp_fragment` in `__tcp_retransmit_skb`).
    fn transmit_data(&mut self, now: Instant) -> Option<Transmission> {
        let report = self.receiver.report_bytes();
        self.sender.reserve(report);
        let una = self.sender.una();
        let rest = self.rest.take().filter(|rest| rest.offset >= una);
        let whole = rest.or_else(|| self.sender.transmit(now))?;
        let room = self.sender.mss() - report;
        if whole.len <= room {
            return Some(whole);
        }
        self.rest = Some(Transmission {
            offset: whole.offset + u64::from(room),
            len: whole.len - room,
            ..whole
        });
        Some(Transmission {
            len: room,
            fin: false,
            push: false,
            ..whole
        })
    }

    fn fin_sent(&mut self) {
        match self.state {
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            _ => {}
        }
    }

    fn segment(&mut self, now: Instant, offset: u64, len: u32, flags: Flags) -> Segment {
        let ad = self
            .receiver
            .advertise(now, len == 0 && flags == Flags::ACK);
        self.carry(now, &ad, (offset, len), flags)
    }

    /// A segment of `len` bytes at `offset` with the fields of `ad`.
    fn carry(
        &self,
        now: Instant,
        ad: &Advertisement,
        (offset, len): (u64, u32),
        flags: Flags,
    ) -> Segment {
        Segment {
            seq: Seq::at(self.initial, offset),
            ack: Seq::at(self.peer_initial, ad.ack),
            flags: flags.with(ad.flags),
            window: ad.window,
            len,
            timestamps: self.clock.option(now, false),
            read_rate: ad.read_rate,
            sack: ad.sack,
            ..Segment::default()
        }
    }

    /// RFC 9293 §3.10.7: a reset that answers an ACK takes that ACK's number, one of our own takes our next.
    pub(super) fn reset_segment(&mut self, now: Instant, seq: Seq) -> Segment {
        Segment {
            seq,
            ack: Seq::at(self.peer_initial, self.receiver.next()),
            flags: Flags::RST.with(Flags::ACK),
            timestamps: self.clock.option(now, false),
            ..Segment::default()
        }
    }
}
