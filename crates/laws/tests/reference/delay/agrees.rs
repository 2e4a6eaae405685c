use super::OneWayDelay;
use crate::histories;
use proptest::prelude::*;
use tidegate_laws::sys;

/// A packet: time since the one before it was sent, and its way to us, in µs.
type Sent = (u64, u64);

fn packets(gaps_us: std::ops::Range<u64>) -> impl Strategy<Value = Vec<Sent>> {
    let way = prop_oneof![5_000u64..6_000, 5_000u64..400_000];
    prop::collection::vec((gaps_us, way), 50..800)
}

/// The peer's clock at the start, in ticks; it wraps soon. Ours shows nearly the same time, so that
/// the difference of the two wraps, too.
const PEER_TICKS: u64 = (1 << 32) - 1_000;
const AHEAD_US: u64 = 6_000;
/// The way back.
const BACK_US: u64 = 7_000;

/// The C, fed by a peer whose clock ticks every `tick_us`.
struct Receiver {
    c: sys::tg_delay,
    tick_us: u64,
    sent_us: u64,
}

/// The result for a packet.
struct Seen {
    tsval: u64,
    now_us: u64,
    queue_us: u32,
    /// The unit that the C used for this packet, and the one that it uses from now on.
    ticks_us: [u32; 2],
}

impl Receiver {
    fn new(tick_us: u64) -> Self {
        Self {
            c: sys::tg_delay::default(),
            tick_us,
            sent_us: 0,
        }
    }

    /// The next packet, which echoes the moment at which it was sent, less the way back. Packets
    /// may overtake each other: the law does not mind.
    fn packet(&mut self, (gap_us, way_us): Sent) -> Seen {
        self.sent_us += gap_us;
        let tsval = PEER_TICKS + self.sent_us / self.tick_us;
        let our_us = PEER_TICKS * self.tick_us - AHEAD_US;
        let now_us = our_us + self.sent_us + way_us;
        let echoed_us = our_us + self.sent_us - BACK_US.min(self.sent_us);
        // SAFETY: the record is exclusively ours.
        unsafe {
            let queue_us = sys::tg_delay_arrived(&mut self.c, tsval as u32, now_us as u32);
            let before = self.c.tick_us;
            sys::tg_delay_compare(&mut self.c, tsval as u32, echoed_us, now_us as u32, 0);
            Seen {
                tsval,
                now_us,
                queue_us,
                ticks_us: [before, self.c.tick_us],
            }
        }
    }
}

proptest! {
    #![proptest_config(histories(300))]

    /// A clock of milliseconds is understood from the first packet.
    #[test]
    fn milliseconds_are_exact(packets in packets(0..50_000)) {
        let mut receiver = Receiver::new(1_000);
        let mut formula = OneWayDelay::new(1_000.0);
        for packet in packets {
            let seen = receiver.packet(packet);
            let expected = formula.arrived(seen.tsval, seen.now_us);
            prop_assert_eq!(f64::from(seen.queue_us), expected);
        }
    }

    /// Any other clock in use is found out within a second, and exact from then on.
    #[test]
    fn other_units_are_found_out(
        packets in packets(100..20_000),
        tick_us in prop_oneof![Just(1u64), Just(100), Just(3_333), Just(4_000), Just(10_000)],
    ) {
        let mut receiver = Receiver::new(tick_us);
        let mut formula = OneWayDelay::new(tick_us as f64);
        let mut found = false;
        for packet in packets {
            let seen = receiver.packet(packet);
            if found {
                let expected = formula.arrived(seen.tsval, seen.now_us);
                prop_assert_eq!(f64::from(seen.queue_us), expected);
            } else if u64::from(seen.ticks_us[1]) == tick_us {
                found = true;
                formula.arrived(seen.tsval, seen.now_us);
            }
            prop_assert!(found || receiver.sent_us < 1_000_000, "{:?}", seen.ticks_us);
        }
    }

    /// A connection may live for hours and be silent for longer than either clock takes to wrap:
    /// 71 minutes in µs.
    #[test]
    fn hours_change_nothing(
        packets in packets(0..200_000_000),
        silence_us in 3_600_000_000u64..6_000_000_000,
        tick_us in prop_oneof![Just(1u64), Just(100), Just(1_000), Just(3_333), Just(4_000), Just(10_000)],
    ) {
        let mut receiver = Receiver::new(tick_us);
        // Enough for the unit to be known.
        for _ in 0..100 {
            receiver.packet((15_000, 5_500));
        }
        prop_assert_eq!(u64::from(receiver.c.tick_us), tick_us);
        let mut formula = OneWayDelay::new(tick_us as f64);
        // From here on both floors are those of the shortest way.
        let seen = receiver.packet((15_000, 4_000));
        formula.arrived(seen.tsval, seen.now_us);
        for (i, packet) in packets.iter().enumerate() {
            let silence_us = if i == 20 { silence_us } else { 0 };
            let seen = receiver.packet((packet.0 + silence_us, packet.1));
            prop_assert_eq!(u64::from(seen.ticks_us[1]), tick_us, "after {} s", receiver.sent_us / 1_000_000);
            let expected = formula.arrived(seen.tsval, seen.now_us);
            // A tick of quantisation may have set either floor.
            prop_assert!((f64::from(seen.queue_us) - expected).abs() <= tick_us as f64);
        }
    }
}

/// A TSval that follows no clock (RFC 7323 asks for one, section 5.4) yields no delay.
#[test]
fn what_is_no_clock_yields_no_delay() {
    let mut c = sys::tg_delay::default();
    for i in 0..2_000u32 {
        let now_us = i * 1_000;
        // Thirty-three ticks a second.
        // SAFETY: the record is exclusively ours.
        unsafe {
            let queue_us = sys::tg_delay_arrived(&mut c, i / 30, now_us);
            sys::tg_delay_compare(&mut c, i / 30, now_us.into(), now_us, 0);
            assert!(
                i <= 501 || queue_us == sys::TG_DELAY_UNKNOWN,
                "packet {i}: {queue_us}"
            );
        }
    }
}

/// A delay that was taken for queue but is path belongs to the floor.
#[test]
fn a_raised_floor_lowers_the_delay() {
    let mut receiver = Receiver::new(1_000);
    receiver.packet((1_000, 5_000));
    assert_eq!(receiver.packet((1_000, 85_000)).queue_us, 80_000);
    // SAFETY: the record is exclusively ours.
    let relative_us = |d: &sys::tg_delay| unsafe { sys::tg_delay_relative(d, 7, 9_000) };
    let before_us = relative_us(&receiver.c);
    // SAFETY: as above.
    unsafe { sys::tg_delay_raise(&mut receiver.c, 60_000) };
    assert_eq!(before_us.wrapping_sub(relative_us(&receiver.c)), 60_000);
    assert_eq!(receiver.packet((1_000, 85_000)).queue_us, 20_000);
}
