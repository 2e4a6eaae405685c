//! Three segments until data may flow (RFC 9293 §3.5).

use super::timestamps::Clock;
use super::{Connection, Ending, State};
use crate::ticks::{Ticks, run_out};
use crate::{Flags, Segment, Seq, SynOptions, Timestamps};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// First timeout of a SYN (RFC 6298 §2.1, `TCP_TIMEOUT_INIT`).
const INITIAL_TIMEOUT: Duration = Duration::from_secs(1);

/// SYNs that are sent again a second after the one before, without backoff, since Linux 6.5
/// (`tcp_syn_linear_timeouts`).
const LINEAR_TIMEOUTS: u32 = 4;

/// SYNs, and SYN-ACKs, that are sent again before giving up (`tcp_syn_retries` beside the linear ones,
/// `tcp_synack_retries`).
const SYN_RETRIES: u32 = 6 + LINEAR_TIMEOUTS;
const SYN_ACK_RETRIES: u32 = 5;

/// The MSS of a peer that states none (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;

/// The least MSS that Linux accepts as meant (`TCP_MIN_MSS`).
const LEAST_MSS: u16 = 88;

/// The SYN's timer, and what the peer's SYN said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    /// When the SYN is to be sent; None while it is on the way.
    due: Option<Instant>,
    /// When it was sent last.
    sent: Option<Instant>,
    /// When it was sent first.
    first: Option<Instant>,
    transmissions: u32,
    /// How often the timer ran out. A SYN-ACK that is sent again because the peer repeated its SYN does not count
    /// towards giving up (`num_timeout` beside `num_retrans` in Linux).
    timeouts: u32,
    timeout: Duration,
    ticks: Option<Ticks>,
    peer: SynOptions,
}

impl Handshake {
    pub(super) fn new(now: Instant, ticks: Option<Ticks>) -> Self {
        Self {
            due: Some(now),
            sent: None,
            first: None,
            transmissions: 0,
            timeouts: 0,
            timeout: INITIAL_TIMEOUT,
            ticks,
            peer: SynOptions::default(),
        }
    }

    pub(super) fn timeout(&self) -> Option<Instant> {
        let sent = || Some(run_out(self.ticks, self.sent?, self.sent? + self.timeout));
        self.due.or_else(sent)
    }

    /// Sends the SYN again if it is time; whether it is time to give up instead.
    pub(super) fn expire(&mut self, now: Instant, state: State) -> bool {
        if self.due.is_some() || self.timeout().is_none_or(|at| at > now) {
            return false;
        }
        let retries = if state == State::SynSent {
            SYN_RETRIES
        } else {
            SYN_ACK_RETRIES
        };
        if self.timeouts >= retries {
            return true;
        }
        self.timeouts += 1;
        if state != State::SynSent || self.timeouts > LINEAR_TIMEOUTS {
            self.timeout *= 2;
        }
        self.due = Some(now);
        false
    }

    /// The SYN is to be sent (again) at once.
    fn resend(&mut self, now: Instant) {
        self.due = Some(now);
    }

    fn take_due(&mut self, now: Instant) -> bool {
        let due = self.due.take_if(|at| *at <= now).is_some();
        if due {
            self.sent = Some(now);
            self.first.get_or_insert(now);
            self.transmissions += 1;
        }
        due
    }

    pub(super) fn retransmits(&self) -> u32 {
        self.transmissions.saturating_sub(1)
    }

    /// The handshake's round trip. If several SYNs were sent, the answer's timestamp says which one it answers
    /// (`tcp_synack_rtt_meas`, and `tcp_ack_update_rtt` at the client); without one, the round trip is not known
    /// (Karn).
    pub(super) fn rtt(
        &self,
        now: Instant,
        clock: &Clock,
        answer: Option<Timestamps>,
    ) -> Option<Duration> {
        match self.retransmits() {
            0 => Some(now - self.sent?),
            _ => clock.since_echoed(now, answer),
        }
    }

    /// Whether more than one SYN was lost, unless the answer's timestamp says that the first one arrived (RFC 6928 §2;
    /// Linux tolerates one loss: `tcp_init_transfer`, `tcp_try_undo_spurious_syn`).
    pub(super) fn lost_syns(&self, clock: &Clock, answer: Option<Timestamps>) -> bool {
        let answers_first = |first| clock.is_echo_of(first, answer);
        self.retransmits() > 1 && self.timeouts > 0 && !self.first.is_some_and(answers_first)
    }

    pub(super) fn peer_options(&self) -> SynOptions {
        self.peer
    }

    pub(super) fn peer_mss(&self) -> u16 {
        self.peer.mss.unwrap_or(DEFAULT_MSS).max(LEAST_MSS)
    }
}

impl Connection {
    /// Notes what the peer's SYN says.
    pub(super) fn peer_syn(&mut self, now: Instant, syn: &Segment) {
        self.peer_initial = syn.seq;
        self.handshake.peer = syn.syn;
        self.clock.negotiate(now, syn.timestamps);
        self.negotiate_ecn(syn, syn.flags.has(Flags::ACK));
        if let (true, Some(scale)) = (self.config.window_scaling, syn.syn.window_scale) {
            // RFC 7323 §2.3: more than 14 means 14.
            self.peer_scale = scale.min(14);
            self.scale = self.receiver.scale_to_offer();
        }
    }

    /// RFC 9293 §3.10.7.3.
    pub(super) fn receive_in_syn_sent(&mut self, now: Instant, segment: &Segment) {
        let acknowledges = segment.flags.has(Flags::ACK);
        if acknowledges && segment.ack != Seq::at(self.initial, 1) {
            if !segment.flags.has(Flags::RST) {
                self.reset = Some(segment.ack);
            }
            return;
        }
        if segment.flags.has(Flags::RST) {
            if acknowledges {
                self.end(Ending::Reset);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.peer_syn(now, segment);
        if acknowledges {
            // The window of a SYN is never scaled.
            self.establish(now, segment.window.into(), segment.timestamps);
            self.receiver.acknowledge();
        } else {
            // Simultaneous open.
            self.state = State::SynReceived;
            self.handshake.resend(now);
        }
    }

    /// SYN-RECEIVED: whether the handshake is over, so that the segment counts as any other.
    pub(super) fn complete_handshake(&mut self, now: Instant, segment: &Segment) -> bool {
        if segment.flags.has(Flags::SYN) && segment.seq == self.peer_initial {
            // The peer has not heard of our SYN.
            self.handshake.resend(now);
            return segment.flags.has(Flags::ACK) && self.answers_syn(now, segment);
        }
        segment.flags.has(Flags::ACK) && self.answers_syn(now, segment)
    }

    fn answers_syn(&mut self, now: Instant, segment: &Segment) -> bool {
        if segment.ack != Seq::at(self.initial, 1) {
            self.reset = Some(segment.ack);
            return false;
        }
        let scale = if segment.flags.has(Flags::SYN) {
            0
        } else {
            self.peer_scale
        };
        self.hear_reflection(segment);
        self.establish(now, u64::from(segment.window) << scale, segment.timestamps);
        true
    }

    /// The window of our SYN or SYN-ACK.
    pub(super) fn syn_window(&self) -> u16 {
        let answers = self.state == State::SynReceived;
        self.receiver.syn_window(answers && self.clock.in_use())
    }

    pub(super) fn transmit_syn(&mut self, now: Instant) -> Option<Segment> {
        if !self.handshake.take_due(now) {
            return None;
        }
        let answers = self.state == State::SynReceived;
        let peer = self.handshake.peer;
        // An answer only holds options that were offered.
        let offered = |ours: bool, theirs: bool| ours && (!answers || theirs);
        Some(Segment {
            seq: self.initial,
            ack: if answers {
                Seq::at(self.peer_initial, 1)
            } else {
                Seq(0)
            },
            flags: self.syn_ecn_flags(if answers {
                Flags::SYN.with(Flags::ACK)
            } else {
                Flags::SYN
            }),
            ecn: self.syn_ecn(),
            window: self.syn_window(),
            len: 0,
            timestamps: self.clock.option(now, !answers),
            syn: SynOptions {
                mss: Some(self.config.mss),
                window_scale: offered(self.config.window_scaling, peer.window_scale.is_some())
                    .then(|| self.receiver.scale_to_offer()),
                sack_permitted: offered(self.config.sack, peer.sack_permitted),
                afc_permitted: offered(self.config.offers_afc(), peer.afc_permitted),
            },
            ..Segment::default()
        })
    }
}
