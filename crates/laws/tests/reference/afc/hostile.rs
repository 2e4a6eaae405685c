//! A peer that lies about its read rate: the window stays bounded whatever it says.

use crate::histories;
use proptest::prelude::*;
use tidegate_laws::afc;
use tidegate_laws::sys;

/// The rates that a liar reports: nothing, everything, or anything.
fn lies() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(u32::MAX), any::<u32>()]
}

proptest! {
    #![proptest_config(histories(500))]

    /// Never more than the sender's memory, and with no rate just the classic window.
    #[test]
    fn the_window_stays_within_memory(free: u64, kbps in lies(), rtt_us: u32, most: u64) {
        let window = afc::window(free, kbps, rtt_us, most);
        prop_assert!(window <= most);
        prop_assert!(window >= free.min(most));
        prop_assert_eq!(afc::window(free, 0, rtt_us, most), free.min(most));
    }

    /// No rate is remembered that was not told, and none for ever.
    #[test]
    fn what_is_held_only_falls(kbps in lies(), elapsed_us: u32, more_us: u32, rtt_us: u32) {
        let held = afc::held(kbps, elapsed_us, rtt_us);
        prop_assert!(held <= kbps);
        prop_assert!(afc::held(kbps, elapsed_us.saturating_add(more_us), rtt_us) <= held);
        prop_assert_eq!(afc::held(kbps, 2 * (rtt_us / 2), rtt_us / 2), 0);
    }

    /// More room, a faster reader or a longer path never make the window smaller.
    #[test]
    fn the_window_is_monotone(free: u32, more: u32, kbps: u32, rtt_us: u32, most: u64) {
        let [free, more] = [free, more].map(u64::from);
        let window = afc::window(free, kbps, rtt_us, most);
        prop_assert!(afc::window(free + more, kbps, rtt_us, most) >= window);
        prop_assert!(afc::window(free, kbps.saturating_add(more as u32), rtt_us, most) >= window);
        prop_assert!(afc::window(free, kbps, rtt_us.saturating_add(more as u32), most) >= window);
    }

    /// Any numbers at any times, even backwards, leave a rate that no sample exceeded.
    #[test]
    fn no_history_breaks_the_rate(
        events in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u32>()), 1..200),
    ) {
        let mut ours = sys::tg_afc::default();
        for (bytes, now_us, rtt_us) in events {
            // SAFETY: the record is live and exclusively borrowed; C keeps no copy of it.
            unsafe { sys::tg_afc_read(&mut ours, bytes, now_us, rtt_us) };
            // The most bytes possible, in the shortest sample.
            prop_assert!(ours.smooth_rx <= (1 << 40) * 1_000_000 / 1_000);
        }
    }
}
