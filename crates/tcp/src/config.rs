//! The settings of an endpoint.

use crate::cc::Factory;
use crate::ecn::EcnMode;
use crate::{Seq, Ticks};

/// Settings of one endpoint. The defaults are those of Linux 6.18 over a path with an MTU of 1500.
#[derive(Clone, Debug)]
pub struct Config {
    /// Congestion control of the data that it sends.
    pub congestion_control: Factory,
    /// Largest payload that it accepts in a segment, in bytes, as its SYN says.
    pub mss: u16,
    /// Initial congestion window, in segments (RFC 6928).
    pub initial_window: u32,
    /// Whether to offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether to offer SACK (RFC 2018).
    pub sack: bool,
    /// Whether to offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Whether a pause longer than a timeout, or a window that was not used, lowers the congestion window
    /// (`tcp_slow_start_after_idle`, RFC 2861). NS-2 does not.
    pub slow_start_after_idle: bool,
    /// Whether segments that only the window limits are also spread evenly over the round trip (RFC 9002 §7.7). Linux's
    /// TCP without `fq` does not do that; nearly every QUIC does.
    pub paced: bool,
    /// Send buffer: bytes written and not yet acknowledged, at most.
    pub send_buffer: u64,
    /// Whether small segments leave at once (`TCP_NODELAY`), and not one at a time (RFC 9293 §3.7.4).
    pub nodelay: bool,
    /// The receive buffer.
    pub receive_buffer: ReceiveBuffer,
    /// How the receive buffer is kept from overflowing.
    pub flow_control: FlowControl,
    /// Which explicit congestion notification to ask for, and to agree to at most (`tcp_ecn`: 0, 1 and 3). A
    /// congestion control that needs more has more ([`Self::ecn`]).
    pub ecn: EcnMode,
    /// Initial sequence number.
    pub initial_seq: Seq,
    /// Added to the clock in timestamps, so that no two connections' clocks agree.
    pub timestamp_offset: u32,
    /// The ticks at which timers run out; none: to the nanosecond.
    pub ticks: Option<Ticks>,
}

impl Config {
    /// The seed of an algorithm's random choices: the settings that differ from connection to connection anyway.
    pub fn seed(&self) -> u64 {
        u64::from(self.initial_seq.0) << 32 | u64::from(self.timestamp_offset)
    }

    /// Which explicit congestion notification the connection is to have, its congestion control's needs
    /// included (`tcp_ca_needs_ecn`).
    pub fn ecn(&self) -> EcnMode {
        self.ecn.max(self.congestion_control.needs_ecn())
    }

    /// Whether to offer adaptive flow control. An autotuned buffer's room depends on what segments cost, so it cannot
    /// promise to take data sent beyond the window.
    pub fn offers_afc(&self) -> bool {
        self.flow_control == FlowControl::Adaptive
            && matches!(self.receive_buffer, ReceiveBuffer::Fixed(_))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            congestion_control: Factory::default(),
            mss: 1460,
            initial_window: 10,
            timestamps: true,
            sack: true,
            window_scaling: true,
            slow_start_after_idle: true,
            paced: false,
            send_buffer: 16 << 20,
            nodelay: false,
            receive_buffer: ReceiveBuffer::default(),
            flow_control: FlowControl::default(),
            ecn: EcnMode::Off,
            initial_seq: Seq(0),
            timestamp_offset: 0,
            ticks: None,
        }
    }
}

/// How the receive buffer is kept from overflowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowControl {
    /// The window, and an ACK when reading has at least doubled it.
    #[default]
    Linux,
    /// The window alone, as the AFC paper has it in NS-2 (§2.2): ACKs only answer segments, but for
    /// one when a closed window opens. Meant for a [`ReceiveBuffer::Fixed`].
    Classic,
    /// Adaptive flow control (AFC §4), with a [`ReceiveBuffer::Fixed`] and a peer that knows it, too;
    /// classic otherwise.
    Adaptive,
}

/// How large the receive buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// Linux's autotuning (`tcp_moderate_rcvbuf`): from `initial` to at most `max` bytes of memory,
    /// as in `tcp_rmem`; the window is a share of it.
    Autotuned {
        /// `tcp_rmem[1]` in bytes.
        initial: u64,
        /// `tcp_rmem[2]` in bytes.
        max: u64,
    },
    /// A fixed window of this many bytes of payload, as textbooks and NS-2 have it.
    Fixed(u64),
}

impl Default for ReceiveBuffer {
    fn default() -> Self {
        Self::Autotuned {
            initial: 131_072,
            max: 33_554_432,
        }
    }
}
