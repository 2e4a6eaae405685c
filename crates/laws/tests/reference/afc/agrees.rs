use super::{ReadRate, held, window};
use crate::{assert_close, histories};
use proptest::prelude::*;
use tidegate_laws::sys;

/// What happens at a receiver.
#[derive(Clone, Copy, Debug)]
enum Event {
    Read(u64),
    Arrival,
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        2 => (0u64..2_000_000).prop_map(Event::Read),
        3 => Just(Event::Arrival),
    ];
    let gap = prop_oneof![4 => 0u64..3_000, 2 => 0u64..40_000, 1 => 0u64..5_000_000];
    prop::collection::vec((gap, event), 1..400)
}

proptest! {
    #![proptest_config(histories(200))]

    #[test]
    fn the_read_rate_is_the_formulas(events in events(), rtt_us in 0u32..2_000_000) {
        let mut now_us = 1 << 40;
        let mut formula = ReadRate::new(now_us);
        let mut ours = sys::tg_afc::default();
        // SAFETY: the record is live and exclusively borrowed; C keeps no copy of it.
        unsafe { sys::tg_afc_start(&mut ours, now_us) };
        for (gap_us, event) in events {
            now_us += gap_us;
            match event {
                Event::Read(bytes) => {
                    formula.read(bytes, now_us, rtt_us);
                    // SAFETY: as above.
                    unsafe { sys::tg_afc_read(&mut ours, bytes, now_us, rtt_us) };
                }
                Event::Arrival => {
                    formula.ar_update(now_us, rtt_us);
                    // SAFETY: as above.
                    unsafe { sys::tg_afc_arrived(&mut ours, now_us, rtt_us) };
                }
            }
            // Each sample rounds down by less than a byte a second twice, and halves what was lost.
            assert_close(ours.smooth_rx as f64, formula.smooth_rx, 1e-12, 2.0);
            // SAFETY: as above.
            let kbps = unsafe { sys::tg_afc_kbps(&ours) };
            assert_close(kbps.into(), formula.smooth_rx * 8.0 / 1000.0, 1e-12, 1.1);
        }
    }

    #[test]
    fn a_rate_is_forgotten_in_a_line(kbps in 0u32..1 << 31, elapsed_us in 0u32..5_000_000, rtt_us in 1u32..2_000_000) {
        let ours = tidegate_laws::afc::held(kbps, elapsed_us, rtt_us);
        assert_close(ours.into(), held(kbps, elapsed_us, rtt_us), 1e-9, 1.0);
    }

    #[test]
    fn the_window_is_equation_36(free in 0u64..1 << 30, kbps: u32, rtt_us in 0u32..10_000_000) {
        // SAFETY: plain numbers.
        let ours = unsafe { sys::tg_afc_window(free, kbps, rtt_us, u64::MAX) };
        assert_close(ours as f64, window(free, kbps, rtt_us), 1e-12, 1.0);
    }
}

/// Over a path of 10 ms, an application that reads 7500 bytes every 10 ms reads 6 Mbit/s, whatever arrives
/// in between; when it stops, each round trip halves that.
#[test]
fn a_rate_is_found_and_forgotten() {
    const RTT_US: u32 = 10_000;
    let mut rate = tidegate_laws::afc::ReadRate::new(0);
    for tick in 1..20 {
        for us in [1_000, 4_000, 9_999] {
            rate.arrived((tick - 1) * 10_000 + us, RTT_US);
        }
        rate.read(7_500, tick * 10_000, RTT_US);
    }
    assert_eq!(rate.tell(), 5_999);
    rate.arrived(190_000 + 9_999, RTT_US);
    assert_eq!(rate.tell(), 5_999);
    rate.arrived(190_000 + 10_000, RTT_US);
    assert_eq!(rate.tell(), 2_999);
}

/// Algorithm 3, line 9, in the reading of `afc.h`: five quarters up, four fifths down.
#[test]
fn a_change_is_a_quarter() {
    let told = |from: u64, to: u64| {
        let a = sys::tg_afc {
            smooth_rx: to * 125,
            told_kbps: from as u32,
            ..Default::default()
        };
        // SAFETY: the record is live; C keeps no copy of it.
        unsafe { sys::tg_afc_changed(&a) != 0 }
    };
    assert!(!told(0, 0) && told(0, 1));
    assert!(!told(1000, 1250) && told(1000, 1251));
    assert!(!told(1000, 800) && told(1000, 799));
}
