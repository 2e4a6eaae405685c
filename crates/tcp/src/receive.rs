//! The receiving half: reassembly, the window that is advertised, when to acknowledge.

use crate::{Config, SackBlocks, Seq};
use std::ops::Range;
use tidegate_time::Instant;

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
}

/// What a segment is to carry about the other direction.
#[derive(Clone, Copy, Debug)]
pub struct Advertisement {
    /// Offset of the next byte expected.
    pub ack: u64,
    /// Window field.
    pub window: u16,
    /// SACK blocks.
    pub sack: SackBlocks,
}

/// The receiving half of a connection. Offsets are of the peer's stream; 0 is its SYN.
#[derive(Debug)]
pub struct Receiver {}

#[allow(unused_variables, clippy::new_without_default)]
impl Receiver {
    /// Before the handshake.
    pub fn new(config: &Config) -> Self {
        todo!()
    }

    /// The window scale to offer in the SYN (Linux's `tcp_select_initial_window`).
    pub fn scale_to_offer(&self) -> u8 {
        todo!()
    }

    /// The (never scaled) window field of a SYN or SYN-ACK.
    pub fn syn_window(&self) -> u16 {
        todo!()
    }

    /// The handshake is over.
    pub fn establish(&mut self, now: Instant, terms: Terms) {
        todo!()
    }

    /// Whether a segment lies in the window (RFC 9293 §3.10.7.4, first check).
    pub fn acceptable(&self, offset: u64, seq_len: u32) -> bool {
        todo!()
    }

    /// An acceptable segment: `len` bytes at `offset`, then perhaps FIN. Bytes outside the window are
    /// ignored; returns those that are not, which have arrived now.
    pub fn segment(&mut self, now: Instant, offset: u64, len: u32, fin: bool) -> Range<u64> {
        todo!()
    }

    /// A segment that was not acceptable, or must be challenged (RFC 5961): an ACK is due at once.
    pub fn refuse(&mut self, now: Instant, offset: u64, len: u32) {
        todo!()
    }

    /// Offset of the next byte expected (`rcv_nxt`).
    pub fn next(&self) -> u64 {
        todo!()
    }

    /// Offset up to which the last segment sent acknowledged (`rcv_wup`).
    pub fn last_ack(&self) -> u64 {
        todo!()
    }

    /// Bytes that the application may read.
    pub fn readable(&self) -> u64 {
        todo!()
    }

    /// The application reads up to `max` bytes; returns how many.
    pub fn read(&mut self, now: Instant, max: u64) -> u64 {
        todo!()
    }

    /// Whether everything up to the peer's FIN has arrived.
    pub fn finished(&self) -> bool {
        todo!()
    }

    /// Whether an ACK is due now, if nothing else carries it.
    pub fn ack_due(&self, now: Instant) -> bool {
        todo!()
    }

    /// What the segment that is being sent now says; what it says counts as said.
    /// `pure`: carries no data.
    pub fn advertise(&mut self, now: Instant, pure: bool) -> Advertisement {
        todo!()
    }

    /// When [`Self::expire`] wants to be called.
    pub fn timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// The time of [`Self::timeout`] has come.
    pub fn expire(&mut self, now: Instant) {
        todo!()
    }
}
