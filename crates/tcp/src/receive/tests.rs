use super::*;
use proptest::prelude::*;

pub(super) const MSS: u32 = 500;

/// The contents of an ACK: offset, window in bytes, SACK blocks as offsets.
pub(super) type Said = (u64, u64, Vec<(u64, u64)>);

/// A receiver and its clock, after the handshake.
pub(super) struct Script {
    pub(super) receiver: Receiver,
    pub(super) now: Instant,
    edge: u64,
}

impl Script {
    pub(super) fn new(buffer: ReceiveBuffer) -> Self {
        Self::with(buffer, MSS, false, true)
    }

    fn with(buffer: ReceiveBuffer, mss: u32, timestamps: bool, sack: bool) -> Self {
        let mut receiver = Receiver::new(&Config {
            receive_buffer: buffer,
            mss: mss as u16 + if timestamps { 12 } else { 0 },
            ..Config::default()
        });
        let terms = Terms {
            initial: Seq(u32::MAX - 700),
            mss,
            sack,
            timestamps,
            scale: receiver.scale_to_offer(),
            window: receiver.syn_window(false),
            rtt: Some(Duration::from_millis(100)),
        };
        let edge = 1 + u64::from(terms.window);
        receiver.establish(Instant::ZERO, terms);
        Self {
            receiver,
            now: Instant::ZERO,
            edge,
        }
    }

    /// A receiver that has left quick ACKs and the window's growth behind, with the stream at the returned offset, and
    /// nothing unread or unacknowledged.
    fn settled(buffer: ReceiveBuffer) -> (Self, u64) {
        let mut script = Self::new(buffer);
        let mut next = 1;
        for _ in 0..400 {
            script.data(next, MSS);
            script.read(u64::MAX);
            script.ack();
            next += u64::from(MSS);
        }
        if script.receiver.window.left() < next {
            script.receiver.advertise(script.now, true);
        }
        (script, next)
    }

    pub(super) fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        if self.receiver.timeout().is_some_and(|at| at <= self.now) {
            self.receiver.expire(self.now);
        }
    }

    fn arrive(&mut self, offset: u64, len: u32, fin: bool) {
        let seq_len = len + u32::from(fin);
        if !self.receiver.acceptable(offset, seq_len) {
            return self.receiver.refuse(self.now, offset, len);
        }
        let arrival = Arrival {
            offset,
            len,
            fin,
            ..Arrival::default()
        };
        self.receiver.segment(self.now, &arrival);
    }

    pub(super) fn data(&mut self, offset: u64, len: u32) {
        self.arrive(offset, len, false);
    }

    pub(super) fn read(&mut self, max: u64) -> u64 {
        self.receiver.read(self.now, max)
    }

    /// The ACK that is due.
    pub(super) fn ack(&mut self) -> Option<Said> {
        self.receiver.ack_due().then(|| self.advertise())
    }

    pub(super) fn advertise(&mut self) -> Said {
        let ad = self.receiver.advertise(self.now, true);
        let window = u64::from(ad.window) << self.receiver.terms.scale;
        self.edge = self.edge.max(ad.ack + window);
        let offset = |seq: Seq| seq.offset(self.receiver.terms.initial, ad.ack);
        let block = |b: &(Seq, Seq)| (offset(b.0).expect("left"), offset(b.1).expect("right"));
        (
            ad.ack,
            window,
            ad.sack.as_slice().iter().map(block).collect(),
        )
    }
}

fn acknowledged(script: &mut Script) -> Option<(u64, Vec<(u64, u64)>)> {
    script.ack().map(|(ack, _, sack)| (ack, sack))
}

#[test]
fn every_segment_at_first_then_every_second() {
    let mut script = Script::new(ReceiveBuffer::Fixed(60_000));
    let mut acked = Vec::new();
    for i in 0..24 {
        script.data(1 + 500 * i, MSS);
        script.read(u64::MAX);
        acked.push(script.ack().is_some());
    }
    let second = [false, true].into_iter().cycle().take(8);
    let expected: Vec<bool> = std::iter::repeat_n(true, 16).chain(second).collect();
    assert_eq!(acked, expected);
}

#[test]
fn a_lone_segment_is_acknowledged_after_40_ms() {
    let (mut script, next) = Script::settled(ReceiveBuffer::Fixed(60_000));
    script.data(next, MSS);
    script.read(u64::MAX);
    script.wait(39);
    assert!(script.ack().is_none());
    script.wait(1);
    assert_eq!(acknowledged(&mut script), Some((next + 500, vec![])));
    assert_eq!(script.receiver.timeout(), None);
}

/// More than one segment, but the application does not read: the window's edge stands, so that
/// Linux's ACK waits; a textbook's does not.
#[test]
fn the_second_segment_is_acknowledged_when_the_edge_moves() {
    let linux = ReceiveBuffer::Autotuned {
        initial: 20_000,
        max: 20_000,
    };
    for (buffer, at_once) in [(linux, false), (ReceiveBuffer::Fixed(20_000), true)] {
        let (mut script, next) = Script::settled(buffer);
        script.data(next, MSS);
        script.data(next + 500, MSS);
        assert_eq!(script.ack().is_some(), at_once, "{buffer:?}");
        script.read(u64::MAX);
        assert_eq!(script.ack().is_some(), !at_once, "{buffer:?}");
    }
}

/// RFC 2018 §5: segments of 500 bytes from 5000 on.
#[test]
fn blocks_as_in_rfc_2018_first_segment_lost() {
    let mut script = Script::new(ReceiveBuffer::default());
    in_order_to_5000(&mut script);
    for i in 1..=7 {
        script.data(5000 + 500 * i, MSS);
        if i <= 3 {
            let block = (5500, 5500 + 500 * i);
            assert_eq!(acknowledged(&mut script), Some((5000, vec![block])));
        }
    }
    script.wait(1);
    assert_eq!(acknowledged(&mut script), Some((5000, vec![(5500, 9000)])));
}

#[test]
fn blocks_as_in_rfc_2018_every_second_segment_lost() {
    let mut script = Script::new(ReceiveBuffer::default());
    in_order_to_5000(&mut script);
    let mut steps = |offset, ack, sack: &[(u64, u64)]| {
        script.data(offset, MSS);
        script.wait(1);
        assert_eq!(acknowledged(&mut script), Some((ack, sack.to_vec())));
    };
    steps(5000, 5500, &[]);
    steps(6000, 5500, &[(6000, 6500)]);
    steps(7000, 5500, &[(7000, 7500), (6000, 6500)]);
    steps(8000, 5500, &[(8000, 8500), (7000, 7500), (6000, 6500)]);
    // The 4th comes, then the 2nd.
    steps(6500, 5500, &[(6000, 7500), (8000, 8500)]);
    steps(5500, 7500, &[(8000, 8500)]);
}

fn in_order_to_5000(script: &mut Script) {
    script.data(1, 499);
    for i in 1..10 {
        script.data(500 * i, MSS);
    }
    script.read(u64::MAX);
    script.advertise();
}

/// RFC 2883 §4.1: a segment comes twice; §4.2.1: one comes that holds a known part.
#[test]
fn duplicates_are_reported_first() {
    let mut script = Script::new(ReceiveBuffer::default());
    in_order_to_5000(&mut script);
    script.data(4000, MSS);
    assert_eq!(acknowledged(&mut script), Some((5000, vec![(4000, 4500)])));
    script.data(5500, MSS);
    assert_eq!(acknowledged(&mut script), Some((5000, vec![(5500, 6000)])));
    script.data(5500, MSS);
    let twice = vec![(5500, 6000), (5500, 6000)];
    assert_eq!(acknowledged(&mut script), Some((5000, twice)));
    script.data(5750, MSS);
    let part = vec![(5750, 6000), (5500, 6250)];
    assert_eq!(acknowledged(&mut script), Some((5000, part)));
    // In order, and beyond the hole.
    script.data(4800, 900);
    let both = script.ack().expect("the hole is filled");
    assert_eq!((both.0, &both.2[..]), (6250, &[(5500, 5700)][..]));
    assert_eq!(
        script.receiver.info().duplicates,
        500 + 500 + 250 + 200 + 200
    );
}

#[test]
fn three_blocks_with_timestamps_four_without() {
    for (timestamps, room) in [(true, 3), (false, 4)] {
        let mut script = Script::with(ReceiveBuffer::default(), MSS, timestamps, true);
        for i in 1..=6 {
            script.data(1 + 1000 * i, MSS);
        }
        script.wait(1);
        assert_eq!(script.advertise().2.len(), room);
    }
    let mut without = Script::with(ReceiveBuffer::default(), MSS, true, false);
    for i in 1..=6 {
        without.data(1 + 1000 * i, MSS);
        assert_eq!(acknowledged(&mut without), Some((1, vec![])));
    }
}

#[test]
fn a_filled_hole_is_acknowledged_at_once() {
    let (mut script, next) = Script::settled(ReceiveBuffer::Fixed(60_000));
    script.data(next + 500, MSS);
    assert!(script.ack().is_some());
    script.data(next, MSS);
    assert_eq!(acknowledged(&mut script), Some((next + 1000, vec![])));
}

#[test]
fn a_slow_reader_closes_the_window_and_opens_it_again() {
    for buffer in [
        ReceiveBuffer::Fixed(10_000),
        ReceiveBuffer::Autotuned {
            initial: 30_000,
            max: 30_000,
        },
    ] {
        let mut script = Script::with(buffer, 1448, true, true);
        for _ in 0..60 {
            let next = script.receiver.next();
            let open = script.receiver.window.remaining(next);
            script.data(next, open.min(1448) as u32);
            script.wait(200);
            script.ack();
        }
        let next = script.receiver.next();
        assert_eq!(script.receiver.info().window, 0, "{buffer:?}");
        assert!(!script.receiver.acceptable(next, MSS), "{buffer:?}");
        // A probe: one byte that is known already.
        script.wait(1000);
        script.data(next - 1, 0);
        assert_eq!(script.ack().expect("an answer").1, 0, "{buffer:?}");
        // A little room is none: silly-window avoidance.
        script.read(100);
        assert!(script.ack().is_none(), "{buffer:?}");
        assert_eq!(script.advertise().1, 0, "{buffer:?}");
        // All of it.
        script.read(u64::MAX);
        let (ack, window, _) = script.ack().expect("a window update");
        assert_eq!(ack, next);
        assert!(window >= 9_000, "{buffer:?}: {window}");
    }
}

#[test]
fn a_fixed_window_is_the_buffer_less_what_waits() {
    let mut script = Script::new(ReceiveBuffer::Fixed(40_000));
    for i in 0..20 {
        script.data(1 + 500 * i, MSS);
        let unread = 500 * (i + 1) - if i >= 10 { 5000 } else { 0 };
        assert_eq!(script.advertise().1, 40_000 - unread);
        if i == 9 {
            script.read(5000);
        }
    }
    // Out-of-order data take nothing from the window.
    script.data(20_001, MSS);
    assert_eq!(script.advertise().1, 40_000 - 5000);
}

#[test]
fn what_lies_outside_the_window_is_refused() {
    let mut script = Script::new(ReceiveBuffer::Fixed(10_000));
    script.data(1, MSS);
    script.advertise();
    let receiver = &script.receiver;
    assert!(receiver.acceptable(501, 9_500 - 500 + 500));
    assert!(
        !receiver.acceptable(501, 9_501),
        "not while something waits"
    );
    assert!(!receiver.acceptable(10_002, 1));
    assert!(receiver.acceptable(500, 1));
    assert!(!receiver.acceptable(1, 499), "old");
    script.read(u64::MAX);
    assert!(script.receiver.acceptable(501, 9_501));
}

#[test]
fn a_fin_waits_for_what_is_missing() {
    let mut script = Script::new(ReceiveBuffer::default());
    script.arrive(501, 200, true);
    assert!(!script.receiver.finished());
    assert_eq!(acknowledged(&mut script), Some((1, vec![(501, 702)])));
    script.data(1, MSS);
    assert!(script.receiver.finished());
    assert_eq!(script.receiver.readable(), 700);
    assert_eq!(acknowledged(&mut script), Some((702, vec![])));
    assert_eq!(script.read(u64::MAX), 700);
    assert_eq!(script.read(u64::MAX), 0);
    // Again, and more of it.
    script.arrive(501, 200, true);
    assert_eq!(acknowledged(&mut script), Some((702, vec![(501, 702)])));
    script.data(702, MSS);
    assert_eq!(
        (script.receiver.next(), script.receiver.readable()),
        (702, 0)
    );
}

/// Memory is charged by the segment: four of one byte each fill a buffer of 3000.
#[test]
fn what_does_not_fit_is_dropped() {
    let mut script = Script::new(ReceiveBuffer::Autotuned {
        initial: 3_000,
        max: 3_000,
    });
    for i in 1..=6 {
        script.data(1 + 2 * i, 1);
    }
    let info = script.receiver.info();
    assert_eq!((info.out_of_order, info.dropped), (4, 2));
    // The application waits for this one, so it must come in, but nothing else may.
    script.data(1, 1);
    assert_eq!(script.receiver.readable(), 1);
    assert_eq!(script.ack().map(|a| (a.0, a.1)), Some((2, 0)));
    script.read(u64::MAX);
    // Data that were on their way meet a closed window.
    script.data(2, 1);
    assert_eq!(script.receiver.readable(), 0);
    assert_eq!(script.ack().map(|a| a.0), Some(2));
}

#[derive(Clone, Debug)]
enum Step {
    InOrder(u32),
    Beyond(u64, u32),
    Again(u64, u32),
    Read(u64),
    Wait(u64),
    Send,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..=MSS).prop_map(Step::InOrder),
        4 => Just(Step::InOrder(MSS)),
        2 => (1..20_000_u64, 1..=MSS).prop_map(|(gap, len)| Step::Beyond(gap, len)),
        1 => (1..5_000_u64, 1..=MSS).prop_map(|(back, len)| Step::Again(back, len)),
        2 => (1..20_000_u64).prop_map(Step::Read),
        1 => (1..300_u64).prop_map(Step::Wait),
        1 => Just(Step::Send),
    ]
}

fn buffer() -> impl Strategy<Value = ReceiveBuffer> {
    prop_oneof![
        (2_000..200_000_u64).prop_map(ReceiveBuffer::Fixed),
        (20_000..200_000_u64, 0..6_000_000_u64).prop_map(|(initial, more)| {
            ReceiveBuffer::Autotuned {
                initial,
                max: initial + more,
            }
        }),
    ]
}

proptest! {
    /// A sender that keeps to the window: its edge never retreats (unless memory has run out, as
    /// it may with many small segments: then the window is closed), everything is read once, ACKs
    /// never stop, and reading all of it opens the window.
    #[test]
    fn keeps_its_promises(buffer in buffer(), steps in prop::collection::vec(step(), 1..300)) {
        let mut script = Script::new(buffer);
        let mut read = 0;
        for step in steps {
            let (next, edge) = (script.receiver.next(), script.edge);
            let mut send = |offset: u64, len: u32| {
                let fits = edge.saturating_sub(offset).min(len.into()) as u32;
                if fits > 0 {
                    script.data(offset, fits);
                }
            };
            let mut forced = false;
            match step {
                Step::InOrder(len) => send(next, len),
                Step::Beyond(gap, len) => send(next + gap, len),
                Step::Again(back, len) => send(next.saturating_sub(back).max(1), len),
                Step::Read(max) => read += script.read(max),
                Step::Wait(ms) => script.wait(ms),
                Step::Send => forced = true,
            }
            let starved = script.receiver.starved;
            if forced || script.receiver.ack_due() {
                let (ack, window, _) = script.advertise();
                if starved {
                    prop_assert_eq!(window, 0);
                    script.edge = ack;
                } else {
                    prop_assert!(ack + window >= edge, "{ack} + {window} < {edge}");
                }
            }
            let owes = script.receiver.next() > script.receiver.last_ack();
            prop_assert!(!owes || script.receiver.timeout().is_some());
        }
        prop_assert_eq!(read + script.receiver.readable(), script.receiver.next() - 1);
        script.read(u64::MAX);
        script.advertise();
        let (_, window, _) = script.advertise();
        prop_assert!(window >= u64::from(MSS), "{window}");
    }
}

/// Classic flow control sends no window update unless the window was closed (AFC §2.2); Linux sends one when the window
/// has doubled.
#[test]
fn a_classic_window_is_updated_only_when_it_was_closed() {
    for (flow_control, told) in [(FlowControl::Linux, true), (FlowControl::Classic, false)] {
        let mut script = Script::new(ReceiveBuffer::Fixed(20_000));
        script.receiver.flow_control = flow_control;
        for n in 0..32 {
            script.data(1 + 500 * n, MSS);
            script.wait(1);
            script.advertise();
        }
        assert_eq!(script.receiver.info().window, 4000);
        script.read(10_000);
        assert_eq!(script.ack().is_some(), told, "{flow_control:?}");
        script.read(u64::MAX);
        for n in 32..72 {
            script.data(1 + 500 * n, MSS);
            script.wait(1);
            script.advertise();
        }
        assert_eq!(script.receiver.info().window, 0);
        script.read(500);
        assert_eq!(script.ack().expect("an open window").1, 500);
    }
}
