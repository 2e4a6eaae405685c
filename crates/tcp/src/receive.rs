//! The receiving half: reassembly, the window that is advertised, when to acknowledge.
//!
//! ```text
//!  segment ─▶ reassembly ─▶ memory ◀─ autotune ◀─ read
//!                 │           └▶ window ─┐
//!                 └▶ sack ───────────────┼▶ advertise
//!                    ack (when) ─────────┘
//! ```
//!
//! It is Linux's receiver, rule by rule, with the memory that a segment costs on a path with an MTU of 1500 and no GRO.
//! With [`ReceiveBuffer::Fixed`] the window is a textbook's, and everything else Linux's.

mod ack;
mod arrive;
mod autotune;
mod ecn;
mod feedback;
mod memory;
mod reassembly;
mod sack;
mod window;

use crate::{
    Config, Ecn, Flags, FlowControl, ReadReport, ReceiveBuffer, SackBlocks, Segment, Seq, Ticks,
};
use ack::Acks;
use autotune::Autotune;
pub use ecn::Feedback as EcnFeedback;
use ecn::Marks;
use feedback::Feedback;
use memory::Memory;
use reassembly::{Range, Reassembly};
use sack::Sack;
use std::time::Duration;
use tidegate_basics::time::{Instant, earlier};
use window::{Stock, Window};

/// Segments of the first round trip (`TCP_INIT_CWND`), for the right-sizing to start from.
const FIRST_ROUND: u64 = 10;

/// What the handshake agreed on, as the receiver needs it.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The peer's initial sequence number: offset 0 of its stream.
    pub initial: Seq,
    /// Payload of a full segment from the peer in bytes, as far as is known (options deducted).
    pub mss: u32,
    /// Whether SACK was permitted.
    pub sack: bool,
    /// Whether timestamps are in use.
    pub timestamps: bool,
    /// Shift of the window field that this side advertises; 0 without window scaling.
    pub scale: u8,
    /// The window that this side's SYN showed.
    pub window: u16,
    /// Round trip of the handshake; None if it was ambiguous.
    pub rtt: Option<Duration>,
}

/// A segment with data or FIN that has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Offset of its first byte.
    pub offset: u64,
    /// Payload in bytes.
    pub len: u32,
    /// Whether the FIN follows the payload.
    pub fin: bool,
    /// Whether PSH is set.
    pub push: bool,
    /// Milliseconds since the segment left that its timestamp echoes; None without timestamps.
    pub echo_age: Option<u32>,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Whether CWR is set: the sender has reduced its window.
    pub cwr: bool,
}

impl Arrival {
    fn end(&self) -> u64 {
        self.offset + u64::from(self.len) + u64::from(self.fin)
    }
}

/// The fields of a segment that concern the other direction.
#[derive(Clone, Copy, Debug)]
pub struct Advertisement {
    /// Offset of the next byte expected.
    pub ack: u64,
    /// Window field.
    pub window: u16,
    /// Flags that tell of marks.
    pub flags: Flags,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// How the application reads, if the peer is to be told.
    pub read_rate: Option<ReadReport>,
}

/// The receiver in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Window last advertised, in bytes (Linux's `rcv_wnd`).
    pub window: u64,
    /// The largest window that would be advertised now, in bytes (`rcv_ssthresh`).
    pub window_limit: u64,
    /// The receiver's estimate of the round trip (`rcv_rtt`).
    pub rtt: Option<Duration>,
    /// Size of the receive buffer in bytes of memory (`sk_rcvbuf`).
    pub buffer: u64,
    /// Most bytes that the application has read in a round trip (`rcv_space`).
    pub space: u64,
    /// Payload of the peer's full segments, as guessed (`rcv_mss`).
    pub mss: u32,
    /// Bytes that wait beyond a hole.
    pub out_of_order: u64,
    /// Bytes that arrived more than once so far.
    pub duplicates: u64,
    /// Segments dropped for want of memory, or of room in the buffer, so far.
    pub dropped: u64,
}

/// The receiving half of a connection. Offsets are of the peer's stream; 0 is its SYN.
#[derive(Debug)]
pub struct Receiver {
    terms: Terms,
    mss: u16,
    ticks: Option<Ticks>,
    reassembly: Reassembly,
    sack: Sack,
    memory: Memory,
    window: Window,
    autotune: Autotune,
    acks: Acks,
    marks: Marks,
    flow_control: FlowControl,
    /// Adaptive flow control, if both ends have agreed on it.
    feedback: Option<Feedback>,
    /// Offset of the next byte for the application (`copied_seq`).
    copied: u64,
    /// There was no memory for the segment in hand.
    starved: bool,
    duplicates: u64,
    dropped: u64,
}

impl Receiver {
    /// Before the handshake.
    pub fn new(config: &Config) -> Self {
        let memory = match config.receive_buffer {
            ReceiveBuffer::Autotuned { initial, max } => Memory::autotuned(initial, max),
            ReceiveBuffer::Fixed(bytes) => Memory::fixed(bytes),
        };
        let mss = u32::from(config.mss);
        let terms = Terms {
            initial: Seq(0),
            mss,
            sack: false,
            timestamps: false,
            scale: 0,
            window: 0,
            rtt: None,
        };
        Self {
            terms,
            mss: config.mss,
            ticks: config.ticks,
            reassembly: Reassembly::new(),
            sack: Sack::default(),
            memory,
            window: Window::new(&memory, 0, 0, mss.into()),
            autotune: Autotune::new(Instant::ZERO, 0),
            acks: Acks::new(Instant::ZERO, mss, false, 0, None),
            marks: Marks::new(EcnFeedback::Off),
            flow_control: config.flow_control,
            feedback: None,
            copied: 1,
            starved: false,
            duplicates: 0,
            dropped: 0,
        }
    }

    /// The window scale to offer in the SYN (Linux's `tcp_select_initial_window`).
    pub fn scale_to_offer(&self) -> u8 {
        window::scale(&self.memory)
    }

    /// The (never scaled) window field of a SYN or SYN-ACK; `timestamps`: whether the peer is known
    /// to use them.
    pub fn syn_window(&self, timestamps: bool) -> u16 {
        let options = if timestamps { 12 } else { 0 };
        let mss = self.mss.saturating_sub(options).max(1);
        window::initial(&self.memory, mss.into()) as u16
    }

    /// The handshake is over.
    pub fn establish(&mut self, now: Instant, terms: Terms) {
        let size = terms.window.into();
        let mss = terms.mss.into();
        self.terms = terms;
        self.window = Window::new(&self.memory, size, terms.scale, mss);
        let first = self
            .window
            .ssthresh()
            .min(size)
            .min(FIRST_ROUND * mss)
            .max(1);
        self.autotune = Autotune::new(now, first);
        self.acks =
            Acks::new(now, terms.mss, terms.timestamps, size, terms.rtt).with_ticks(self.ticks);
    }

    /// Whether a segment lies in the window (RFC 9293 §3.10.7.4, first check). As in Linux since 6.17: a segment that
    /// only begins in it may pass if nothing is waiting to be read; a repetition of acknowledged data is old
    /// (`tcp_sequence`).
    pub fn acceptable(&self, offset: u64, seq_len: u32) -> bool {
        let end = offset + u64::from(seq_len);
        let edge = self.edge().max(self.next());
        let begins = offset <= edge && self.unread() == 0 && self.feedback.is_none();
        end >= self.window.left() && (end <= edge || begins)
    }

    /// A segment was not acceptable, or must be challenged (RFC 5961): an ACK is due at once, unless one left a moment
    /// ago (`tcp_send_dupack`).
    pub fn refuse(&mut self, now: Instant, offset: u64, len: u32) {
        if len > 0 && offset < self.next() {
            self.acks.enter_quick_mode(self.window.size());
            let end = offset + u64::from(len);
            self.repeated(Range::new(offset, end.min(self.next())));
        }
        if offset + u64::from(len) > self.edge()
            && let Some(feedback) = &mut self.feedback
        {
            feedback.refuse();
            self.dropped += 1;
        }
        self.note_arrival(now);
        self.acks.refuse(now, len);
    }

    /// Both ends have agreed on how marks are told; the peer's SYN came as `syn`.
    pub fn tell_marks(&mut self, feedback: EcnFeedback, syn: Ecn) {
        self.marks = Marks::new(feedback);
        self.marks.shook_hands(syn);
    }

    /// An acceptable segment has arrived, with data or without.
    pub fn note_mark(&mut self, ecn: Ecn) {
        if self.marks.segment(ecn) {
            self.acks.hasten();
        }
    }

    /// An ACK is due at once.
    pub fn acknowledge(&mut self) {
        self.acks.send();
    }

    /// Offset of the next byte expected (`rcv_nxt`).
    pub fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// Offset up to which the last segment sent acknowledged (`rcv_wup`).
    pub fn last_ack(&self) -> u64 {
        self.window.left()
    }

    /// Whether its buffer is a textbook's ([`ReceiveBuffer::Fixed`]).
    pub fn is_textbook(&self) -> bool {
        self.memory.is_plain()
    }

    /// Bytes that the application may read.
    pub fn readable(&self) -> u64 {
        self.unread() - u64::from(self.finished())
    }

    /// Offsets received in order and not read; the FIN counts.
    fn unread(&self) -> u64 {
        self.next() - self.copied
    }

    /// Bytes that the memory is charged for.
    fn payload(&self) -> u64 {
        self.readable() + self.reassembly.held()
    }

    /// The application reads up to `max` bytes; returns how many.
    pub fn read(&mut self, now: Instant, max: u64) -> u64 {
        let bytes = max.min(self.readable());
        if bytes == 0 {
            return 0;
        }
        self.measure_read(now, bytes);
        self.memory.release(bytes, self.payload());
        self.copied += bytes;
        let opens = self.opens();
        let rtt_us = self.rtt_us();
        if let Some(feedback) = &mut self.feedback {
            feedback.read(now, bytes, opens, rtt_us);
        }
        let update = opens && (self.is_linux() || self.window.remaining(self.next()) == 0);
        if self.acks.read(self.payload() == 0, self.behind()) || update {
            self.acks.send();
        }
        bytes
    }

    /// Whether a doubled window is worth an ACK of its own. Outside of Linux only an opened one is (AFC §2.2); with AFC
    /// other changes wait for their time ([`Feedback`]).
    fn is_linux(&self) -> bool {
        self.flow_control == FlowControl::Linux
    }

    /// The right-sizing looks at reads segment by segment, so that a round trip ends with the first of them and the
    /// others still count as unread. We guess where segments end, as if all were full.
    fn measure_read(&mut self, now: Instant, bytes: u64) {
        if self.memory.is_plain() || !self.autotune.is_over(now) {
            return;
        }
        let mss = u64::from(self.acks.mss());
        let rest_of_segment = mss - (self.copied - 1) % mss;
        let copied = self.copied + bytes.min(rest_of_segment);
        if let Some(round) = self.autotune.read(now, copied, self.next()) {
            let span = self.reassembly.span();
            self.autotune
                .grow(&mut self.memory, &mut self.window, round, span);
        }
    }

    /// Whether reading has at least doubled the window (`tcp_cleanup_rbuf`).
    fn opens(&self) -> bool {
        let open = self.window.remaining(self.next());
        if self.finished() || 2 * open > self.window.clamp() {
            return false;
        }
        let window = self.select();
        window > 0 && window >= 2 * open
    }

    fn select(&self) -> u64 {
        self.window.select(&stock(
            &self.memory,
            &self.reassembly,
            self.copied,
            &self.acks,
        ))
    }

    /// Whether everything up to the peer's FIN has arrived.
    pub fn finished(&self) -> bool {
        self.reassembly.finished()
    }

    /// Whether an ACK is due now, if nothing else carries it.
    pub fn ack_due(&self) -> bool {
        self.acks.due()
    }

    /// Whether nothing is left to be said by a segment of its own.
    pub fn is_done(&self) -> bool {
        !self.acks.due() && !self.marks.has_early()
    }

    /// The fields of the segment that is being sent now; the peer counts as told. `pure`: it carries no data.
    pub fn advertise(&mut self, now: Instant, pure: bool) -> Advertisement {
        let window = if std::mem::take(&mut self.starved) {
            self.window.close(self.next());
            0
        } else {
            let stock = stock(&self.memory, &self.reassembly, self.copied, &self.acks);
            let tight = self.window.is_tight(&stock);
            let window = self.window.advertise(&stock);
            if tight {
                self.acks.calm();
            }
            window
        };
        self.acks.sent(now, !pure);
        Advertisement {
            ack: self.next(),
            window,
            flags: self.marks.tell(None),
            sack: self.sack_blocks(),
            read_rate: self
                .told()
                .then(|| self.feedback.as_mut().map(Feedback::tell))
                .flatten(),
        }
    }

    /// An ACK that has to leave before any other segment, for the data from before marks began or ended (RFC 8257
    /// §3.2).
    pub fn advertise_early(&mut self) -> Option<Advertisement> {
        let early = self.marks.take_early()?;
        let stock = stock(&self.memory, &self.reassembly, self.copied, &self.acks);
        Some(Advertisement {
            ack: early.ack,
            window: self.window.advertise(&stock),
            flags: self.marks.tell(Some(early)),
            sack: self.sack_blocks(),
            read_rate: None,
        })
    }

    /// Bytes of header that SACK blocks and read rate of the next [`Self::advertise`] take.
    pub fn report_bytes(&self) -> u32 {
        let rate = match self.told() {
            true => Segment::READ_RATE_BYTES as u32,
            false => 0,
        };
        match self.sack.count().min(self.sack_room()) {
            0 => rate,
            blocks => rate + 4 + 8 * blocks as u32,
        }
    }

    /// Whether the peer is told how fast the application reads: only once data have arrived.
    fn told(&self) -> bool {
        self.feedback.is_some() && self.next() > 1
    }

    fn sack_blocks(&mut self) -> SackBlocks {
        let room = self.sack_room();
        self.sack.report(self.terms.initial, room)
    }

    /// The most SACK blocks: a header has 40 bytes for options; timestamps take 12, a read rate 8, a block 8, the
    /// option itself 4.
    fn sack_room(&self) -> usize {
        if !self.terms.sack {
            return 0;
        }
        SackBlocks::MAX - usize::from(self.terms.timestamps) - usize::from(self.told())
    }

    /// When [`Self::expire`] wants to be called: delayed ACK, ACKs put together, proactive feedback.
    pub fn timeout(&self) -> Option<Instant> {
        let proactive = self.feedback.as_ref().and_then(Feedback::timeout);
        earlier(self.acks.timeout(), proactive)
    }

    /// The time of [`Self::timeout`] has come.
    pub fn expire(&mut self, now: Instant) {
        self.acks.expire(now);
        if self.feedback.as_mut().is_some_and(|f| f.expire(now)) {
            self.acks.send();
        }
    }

    /// The numbers for people (Linux's `TCP_INFO`, and more).
    pub fn info(&self) -> Info {
        Info {
            window: self.window.size(),
            window_limit: self.window.ssthresh(),
            rtt: self.autotune.rtt(),
            buffer: self.memory.limit(),
            space: self.autotune.space(),
            mss: self.acks.mss(),
            out_of_order: self.reassembly.held(),
            duplicates: self.duplicates,
            dropped: self.dropped,
        }
    }
}

/// The inputs from which a window is chosen. A function of the fields, so that the window can be changed meanwhile.
fn stock<'a>(memory: &'a Memory, reassembly: &Reassembly, copied: u64, acks: &Acks) -> Stock<'a> {
    Stock {
        memory,
        next: reassembly.next(),
        unread: reassembly.next() - copied,
        mss: acks.mss().into(),
    }
}

#[cfg(test)]
mod tests;
