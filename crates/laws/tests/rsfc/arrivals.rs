//! Arrivals by hand: which count, and which do not.

use tidegate_laws::{Ack, Flow, Law, Params, Path, Segment};

const MSS: u32 = 1448;

/// A flow over 40 ms each way whose segments come every 20 ms.
struct Receiver {
    flow: Flow,
    path: Path,
    now_us: u64,
    /// The next segment in order, and the newest that is acknowledged.
    next: u32,
    acked: u32,
    timestamps: bool,
}

impl Receiver {
    fn new(timestamps: bool) -> Self {
        let mut receiver = Self {
            flow: Flow::default(),
            path: Path::default(),
            now_us: 10_000_000,
            next: 0,
            acked: 0,
            timestamps,
        };
        receiver.acknowledge();
        receiver
    }

    /// Segment number `n` arrives after `way_us`; the kernel has acknowledged up to number `acked`.
    fn arrives(&mut self, n: u32, way_us: u64) {
        self.now_us += 20_000;
        let ms = |us: u64| (us / 1_000) as u32;
        let sent_us = self.now_us - way_us;
        let segment = Segment {
            now_us: self.now_us,
            seq: n.wrapping_mul(MSS),
            len: MSS,
            mss: MSS,
            timestamps: self
                .timestamps
                .then_some((ms(sent_us), ms(sent_us - 40_000))),
            ..Segment::default()
        };
        let params = Params {
            law: Law::Rsfc,
            ..Params::default()
        };
        self.flow.data_in(&mut self.path, &params, &segment);
    }

    fn acknowledge(&mut self) {
        self.flow.ack_out(&Ack {
            now_us: self.now_us,
            ack: self.acked.wrapping_mul(MSS),
            raw: 60_000,
            scale: 7,
            bare: true,
            sack: false,
            tsval: self.timestamps.then_some((self.now_us / 1_000) as u32),
        });
    }

    /// Receives `count` segments in order.
    fn receive(&mut self, count: u32, way_us: u64) {
        for _ in 0..count {
            self.arrives(self.next, way_us);
            self.next += 1;
            self.acked = self.next;
            self.acknowledge();
        }
    }

    /// RDmin and RTTmin.
    fn least_us(&self) -> (u32, u32) {
        let least = self.flow.raw().rsfc.least;
        (least.rd_us, least.rtt_us)
    }
}

#[test]
fn without_timestamps_the_window_is_the_kernels() {
    let mut receiver = Receiver::new(false);
    receiver.receive(100, 40_000);
    receiver.receive(100, 900_000);
    assert_eq!(receiver.flow.wanted(), None);
}

#[test]
fn with_timestamps_the_same_queue_is_steered() {
    let mut receiver = Receiver::new(true);
    receiver.receive(100, 40_000);
    assert_eq!(receiver.flow.wanted(), None);
    receiver.receive(20, 900_000);
    assert!(receiver.flow.wanted().is_some_and(|w| w <= 8 * MSS));
}

/// Segments that were overtaken, or that come before a hole is filled, say nothing about the path.
#[test]
fn disorder_and_loss_move_no_minimum() {
    let mut receiver = Receiver::new(true);
    receiver.receive(100, 40_000);
    let before = receiver.least_us();
    // Number 100 is missing, two come without it, then it does.
    for n in [101, 102, 100] {
        receiver.arrives(n, 30_000);
        receiver.acknowledge();
    }
    assert_eq!(receiver.least_us(), before);
    // The hole is filled: the next in order counts.
    (receiver.next, receiver.acked) = (103, 103);
    receiver.acknowledge();
    receiver.receive(5, 30_000);
    assert_eq!(receiver.least_us().0, before.0 - 10_000);
}

#[test]
fn a_segment_that_had_arrived_before_moves_no_minimum() {
    let mut receiver = Receiver::new(true);
    receiver.receive(100, 40_000);
    let before = receiver.least_us();
    receiver.arrives(98, 30_000);
    assert_eq!(receiver.least_us(), before);
}

#[test]
fn a_loss_beside_a_queue_leaves_the_state() {
    let mut receiver = Receiver::new(true);
    receiver.receive(100, 40_000);
    // A hole, behind which a queue stands.
    for n in 101..150 {
        receiver.arrives(n, 900_000);
        receiver.acknowledge();
    }
    assert_eq!(receiver.flow.wanted(), None);
}
