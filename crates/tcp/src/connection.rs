//! A connection: handshake, states, and what joins its two halves.

mod ecn;
mod handshake;
mod states;
mod timestamps;

use crate::cc::Manual;
use crate::receive::{self, Receiver};
use crate::send::{self, Sender, Transmission};
use crate::{Config, Flags, Segment, Seq, Timestamps};
use ecn::Negotiation;
use handshake::Handshake;
use std::ops::Range;
use std::time::Duration;
use tidegate_basics::time::{Instant, earlier};
use timestamps::Clock;

/// States of RFC 9293 §3.3.2. LISTEN is not one of a connection's: see [`Connection::accept`].
///
/// ```text
///  connect ─▶ SynSent ──────────▶ Established ◀────────── SynReceived ◀─ accept
///                        close │      │ FIN
///                              ▼      ▼
///                       FinWait1    CloseWait
///                FIN │  ACK │         │ close
///                    ▼      ▼         ▼
///              Closing   FinWait2   LastAck
///                ACK │      │ FIN     │ ACK
///                    ▼      ▼         ▼
///                    TimeWait ──────▶ Closed ◀── RST, abort, too many timeouts
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Our SYN is out.
    SynSent,
    /// The peer's SYN is in, ours is out with the ACK.
    SynReceived,
    /// Data flow.
    Established,
    /// We have closed.
    FinWait1,
    /// We have closed, and the peer has acknowledged it.
    FinWait2,
    /// The peer has closed.
    CloseWait,
    /// Both have closed at once.
    Closing,
    /// Both have closed, the peer first.
    LastAck,
    /// Both have closed; late segments are still answered.
    TimeWait,
    /// The end.
    Closed,
}

/// How a connection came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Both sides closed it.
    Closed,
    /// The peer reset it.
    Reset,
    /// The peer did not answer.
    TimedOut,
    /// [`Connection::abort`].
    Aborted,
}

/// How long TIME-WAIT lasts, and FIN-WAIT-2 at most once the application is gone (Linux's
/// `TCP_TIMEWAIT_LEN`, `tcp_fin_timeout`; RFC 9293 would have two MSL of two minutes).
const TIME_WAIT: Duration = Duration::from_secs(60);

/// No bytes.
const NOTHING: Range<u64> = 0..0;

/// One end of a connection.
///
/// After every call that takes `now`, call [`Self::transmit`] until it returns none; then wait for
/// the next segment, wish or [`Self::timeout`], whichever is first.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    state: State,
    ending: Option<Ending>,
    handshake: Handshake,
    ecn: Negotiation,
    clock: Clock,
    /// Our initial sequence number and the peer's.
    initial: Seq,
    peer_initial: Seq,
    /// Shifts of the window fields that arrive and that leave.
    peer_scale: u8,
    scale: u8,
    sender: Sender,
    receiver: Receiver,
    /// Both ends use adaptive flow control.
    afc: bool,
    /// The application has closed.
    closing: bool,
    /// The application is gone.
    released: bool,
    /// A reset is to be sent, with this sequence number.
    reset: Option<Seq>,
    /// What is left of a segment that had to be cut.
    rest: Option<Transmission>,
    /// End of TIME-WAIT or FIN-WAIT-2.
    linger: Option<Instant>,
}

impl Connection {
    /// An active open: the SYN is the first thing to [`Self::transmit`].
    pub fn connect(config: Config, now: Instant) -> Self {
        Self::new(config, State::SynSent, now)
    }

    /// A passive open, answering `syn`. None if `syn` is no plain SYN.
    pub fn accept(config: Config, now: Instant, syn: &Segment) -> Option<Self> {
        let plain =
            syn.flags.has(Flags::SYN) && !syn.flags.has(Flags::ACK) && !syn.flags.has(Flags::RST);
        plain.then(|| {
            let mut connection = Self::new(config, State::SynReceived, now);
            connection.peer_syn(now, syn);
            connection
        })
    }

    fn new(config: Config, state: State, now: Instant) -> Self {
        Self {
            state,
            ending: None,
            handshake: Handshake::new(now, config.ticks),
            ecn: Negotiation::default(),
            clock: Clock::new(&config),
            initial: config.initial_seq,
            peer_initial: Seq(0),
            peer_scale: 0,
            scale: 0,
            sender: Sender::new(&config),
            receiver: Receiver::new(&config),
            afc: false,
            closing: false,
            released: false,
            reset: None,
            rest: None,
            linger: None,
            config,
        }
    }

    /// A segment arrives. Returns the bytes of the peer's stream that it brings, as offsets; they count as arrived from
    /// now on, and some may have arrived before.
    pub fn receive(&mut self, now: Instant, segment: &Segment) -> Range<u64> {
        match self.state {
            State::SynSent => self.receive_in_syn_sent(now, segment),
            State::Closed => {}
            _ => return self.receive_synchronised(now, segment),
        }
        NOTHING
    }

    /// The next segment to be sent at `now`.
    pub fn transmit(&mut self, now: Instant) -> Option<Segment> {
        if let Some(seq) = self.reset.take() {
            return Some(self.reset_segment(now, seq));
        }
        match self.state {
            State::SynSent | State::SynReceived => self.transmit_syn(now),
            State::Closed => None,
            _ => self.transmit_synchronised(now),
        }
    }

    /// When to call [`Self::expire`]; None: never, unless something else happens.
    pub fn timeout(&self) -> Option<Instant> {
        match self.state {
            State::SynSent | State::SynReceived => self.handshake.timeout(),
            State::Closed => None,
            _ => {
                let halves = earlier(self.sender.timeout(), self.receiver.timeout());
                earlier(halves, self.linger)
            }
        }
    }

    /// The time of [`Self::timeout`] has come. Too early is harmless.
    pub fn expire(&mut self, now: Instant) {
        match self.state {
            State::SynSent | State::SynReceived => {
                if self.handshake.expire(now, self.state) {
                    self.end(Ending::TimedOut);
                }
                return;
            }
            State::Closed => return,
            _ => {}
        }
        if self.linger.is_some_and(|at| at <= now) {
            return self.end(Ending::Closed);
        }
        if self.sender.timeout().is_some_and(|at| at <= now) {
            self.sender.expire(now);
            if self.sender.gave_up() {
                return self.end(Ending::TimedOut);
            }
        }
        if self.receiver.timeout().is_some_and(|at| at <= now) {
            self.receiver.expire(now);
        }
    }

    /// The application writes `bytes`; returns how many the send buffer took, 0 after
    /// [`Self::close`].
    pub fn write(&mut self, bytes: u64) -> u64 {
        if self.closing || self.state == State::Closed {
            return 0;
        }
        self.sender.write(bytes)
    }

    /// Bytes that [`Self::write`] would take.
    pub fn writable(&self) -> u64 {
        if self.closing || self.state == State::Closed {
            return 0;
        }
        self.sender.writable()
    }

    /// Bytes that [`Self::read`] would return.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// The application reads up to `max` bytes; returns how many.
    pub fn read(&mut self, now: Instant, max: u64) -> u64 {
        self.receiver.read(now, max)
    }

    /// The application has nothing more to write; what was written is still sent.
    pub fn close(&mut self) {
        self.closing = true;
        self.sender.finish();
    }

    /// The application is gone: it has closed and will not read any more, so that the peer's FIN is
    /// not waited for without end.
    pub fn release(&mut self, now: Instant) {
        self.close();
        self.released = true;
        if self.state == State::FinWait2 {
            self.linger.get_or_insert(now + TIME_WAIT);
        }
    }

    /// Ends the connection at once, with a reset.
    pub fn abort(&mut self) {
        if !matches!(self.state, State::Closed | State::SynSent | State::TimeWait) {
            self.reset = Some(Seq::at(self.initial, self.sender.next()));
        }
        self.end(Ending::Aborted);
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// How it ended, once it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Whether data may flow both ways, or could.
    pub fn is_established(&self) -> bool {
        !matches!(
            self.state,
            State::SynSent | State::SynReceived | State::Closed
        )
    }

    /// Whether the peer has closed and everything that it sent has been read.
    pub fn at_end(&self) -> bool {
        self.receiver.finished() && self.readable() == 0
    }

    /// Whether everything written, and the FIN, has been acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.sender.finished()
    }

    /// Sets this end's congestion window and rate from now on, in place of its congestion control.
    pub fn tell(&mut self, manual: Manual) {
        self.sender.tell(manual);
    }

    /// The sending half's numbers.
    pub fn info(&self) -> send::Info {
        self.sender.info()
    }

    /// The sending half.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The receiving half.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Whether adaptive flow control was agreed on.
    pub fn uses_afc(&self) -> bool {
        self.afc
    }

    /// The window scale that this end's segments use, known after the handshake.
    pub fn window_scale(&self) -> u8 {
        self.scale
    }

    /// Offset in our stream of a segment of ours: the first byte of data is 1.
    pub fn offset_of_ours(&self, seq: Seq) -> Option<u64> {
        seq.offset(self.initial, self.sender.una())
    }

    /// Offset in the peer's stream of a segment of its: the first byte of data is 1.
    pub fn offset_of_theirs(&self, seq: Seq) -> Option<u64> {
        seq.offset(self.peer_initial, self.receiver.next())
    }

    fn end(&mut self, ending: Ending) {
        self.state = State::Closed;
        self.ending.get_or_insert(ending);
        self.linger = None;
    }

    /// Applies what both ends have agreed on, once the handshake is over: the peer has answered with that window and
    /// those timestamps.
    fn establish(&mut self, now: Instant, window: u64, answer: Option<Timestamps>) {
        let options = if self.clock.in_use() { 12 } else { 0 };
        let peer = self.handshake.peer_options();
        let rtt = self.handshake.rtt(now, &self.clock, answer);
        let sack = self.config.sack && peer.sack_permitted;
        let mss = u32::from(self.handshake.peer_mss().min(self.config.mss)) - options;
        self.receiver.establish(
            now,
            receive::Terms {
                initial: self.peer_initial,
                mss: u32::from(self.config.mss) - options,
                sack,
                timestamps: self.clock.in_use(),
                scale: self.scale,
                window: self.syn_window(),
                rtt,
            },
        );
        self.sender.establish(
            now,
            send::Terms {
                mss,
                sack,
                timestamps: self.clock.in_use(),
                window,
                rtt,
                resent_syns: self.handshake.retransmits(),
                lost_syns: self.handshake.lost_syns(&self.clock, answer),
            },
        );
        self.establish_ecn();
        self.afc = self.config.offers_afc() && peer.afc_permitted;
        if self.afc {
            self.receiver.tell_read_rate(now);
        }
        self.state = State::Established;
    }
}

#[cfg(test)]
mod tests;
