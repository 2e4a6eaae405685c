//! Packet scripts, after packetdrill: segments and ACKs at given times, in units of whole segments.

mod credit;
mod delivery;
mod limits;
mod loss;
mod rates;
mod timeouts;
mod trains;
mod undo;

use super::*;
use crate::cc::{Algorithm, CongestionControl, Recovery, Window};
use crate::{Config, Timestamps};

/// Payload of a full segment.
const MSS: u64 = 1000;

/// The settings of a script.
#[derive(Clone, Copy)]
struct Setup {
    sack: bool,
    timestamps: bool,
    rtt_ms: Option<u64>,
    window: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            sack: true,
            timestamps: false,
            rtt_ms: Some(100),
            window: 1 << 30,
        }
    }
}

/// A sender and the time. The connection is established at 0.
struct Script {
    sender: Sender,
    now: Instant,
    /// Segments sent since the last question: milliseconds, and the transmission.
    log: Vec<(u64, Transmission)>,
    window: u64,
}

impl Script {
    fn new(setup: Setup) -> Self {
        let config = Config {
            congestion_control: Algorithm::Reno.into(),
            ..Config::default()
        };
        let mut sender = Sender::new(&config);
        sender.establish(
            Instant::ZERO,
            Terms {
                mss: MSS as u32,
                sack: setup.sack,
                timestamps: setup.timestamps,
                window: setup.window,
                rtt: setup.rtt_ms.map(Duration::from_millis),
                resent_syns: 0,
                lost_syns: false,
            },
        );
        let mut script = Self {
            sender,
            now: Instant::ZERO,
            log: Vec::new(),
            window: setup.window,
        };
        // The handshake's last ACK, the first whose number follows the peer's SYN.
        script.ack(0, &[]);
        script
    }

    /// With defaults, and `segments` segments written.
    fn with_segments(segments: u64) -> Self {
        let mut script = Self::new(Setup::default());
        script.write(segments * MSS);
        script
    }

    fn write(&mut self, bytes: u64) {
        assert_eq!(self.sender.write(bytes), bytes);
        self.drain();
    }

    fn finish(&mut self) {
        self.sender.finish();
        self.drain();
    }

    fn drain(&mut self) {
        let ms = self.now.as_nanos() / 1_000_000;
        while let Some(segment) = self.sender.transmit(self.now) {
            self.log.push((ms, segment));
        }
        verify(&self.sender);
        assert_eq!(self.sender.transmit(self.now), None);
    }

    /// Lets time pass; timers fire when they are due.
    fn at(&mut self, ms: u64) -> &mut Self {
        let until = Instant::from_millis(ms);
        assert!(until >= self.now);
        while let Some(due) = self.sender.timeout().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            self.sender.expire(self.now);
            self.drain();
            if self.sender.gave_up() {
                break;
            }
        }
        self.now = until;
        self
    }

    /// An ACK of the first `acked` segments, with SACK blocks [from, to) of segments.
    fn ack(&mut self, acked: u64, blocks: &[(u64, u64)]) -> &mut Self {
        self.ack_echoing(acked, blocks, None)
    }

    /// The same with an echoed timestamp, in milliseconds.
    fn ack_echoing(&mut self, acked: u64, blocks: &[(u64, u64)], echo: Option<u32>) -> &mut Self {
        let offset = |segment: u64| 1 + segment * MSS;
        let sack: Vec<_> = blocks.iter().map(|b| (offset(b.0), offset(b.1))).collect();
        self.sender.ack(
            self.now,
            &Ack {
                offset: offset(acked),
                window: self.window,
                sack: &sack,
                timestamps: echo.map(|ecr| Timestamps { val: 1, ecr }),
                data: false,
                echo: crate::Echo::Nothing,
                peer_offset: 1,
            },
        );
        self.drain();
        self
    }

    /// Segments sent since the last question.
    fn sent(&mut self) -> Vec<u64> {
        let log = std::mem::take(&mut self.log);
        log.iter().map(|(_, s)| (s.offset - 1) / MSS).collect()
    }

    /// The same with the millisecond of each.
    fn sent_at(&mut self) -> Vec<(u64, u64)> {
        let log = std::mem::take(&mut self.log);
        let segment = |(ms, s): &(u64, Transmission)| (*ms, (s.offset - 1) / MSS);
        log.iter().map(segment).collect()
    }

    /// Acknowledges one segment after the other, each at once, up to `segments`.
    fn ack_each(&mut self, from: u64, to: u64) -> &mut Self {
        for segment in from..to {
            self.ack(segment + 1, &[]);
        }
        self
    }

    fn info(&self) -> Info {
        self.sender.info()
    }
}

/// Checks what must always hold.
fn verify(sender: &Sender) {
    let board = &sender.board;
    scoreboard::tests::verify(board);
    assert!(
        board.arrived() + board.lost() <= board.len(),
        "more has left than was sent"
    );
    assert!(sender.congestion.cwnd() >= 1);
    assert!(board.una() <= board.end());
    if board.is_empty() {
        assert_eq!(board.una().max(1), board.end());
    } else {
        assert!(board.end_of(board.first()) > board.una());
        let timed = sender.timers.any() || sender.gave_up();
        assert!(timed, "something in flight and no timer");
    }
}
