//! The log of departures against a plain list of all departures.

use super::histories;
use proptest::prelude::*;
use tidegate_laws::sys;

/// The moments that are remembered, each with the bytes that had arrived when the packet that left then was made.
#[derive(Default)]
struct List {
    noted: Vec<(u64, u64)>,
    /// When the newest of them left.
    last: Option<u64>,
    /// The newest departure, whether it is one of them or not.
    latest: (u64, u64),
    spacing_us: u64,
}

impl List {
    fn note(&mut self, made: u64, at_us: u64) {
        self.latest = (at_us, made);
        if self.last.is_some_and(|last| at_us - last < self.spacing_us) {
            return;
        }
        if self.noted.len() >= sys::TG_SEND_LOG_SLOTS as usize {
            self.noted = self.noted.iter().copied().step_by(2).collect();
            self.spacing_us = (2 * self.spacing_us).max(1000);
        }
        self.noted.push((at_us, made));
        self.last = Some(at_us);
    }

    /// Interpolates between two moments. Each call asks for a later time than the one before.
    fn at(&mut self, at_us: u64) -> Option<u64> {
        let until = self.noted.partition_point(|noted| noted.0 <= at_us);
        self.noted.drain(..until.saturating_sub(1));
        let &(began_us, made) = self.noted.first()?;
        if at_us < began_us {
            return None;
        }
        let next = *self.noted.get(1).unwrap_or(&self.latest);
        if at_us >= next.0 {
            return Some(next.1);
        }
        Some(made + (next.1 - made) * (at_us - began_us) / (next.0 - began_us))
    }
}

/// A packet leaves after some µs, when some more bytes have arrived; or the log is asked for a time some µs ago.
#[derive(Clone, Copy, Debug)]
enum Step {
    Leaves(u64, u64),
    Asks(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![6 => 1u64..2_000, 2 => 1u64..40_000, 1 => 1u64..2_000_000];
    let leaves = (gap, 0u64..200_000).prop_map(|(gap, bytes)| Step::Leaves(gap, bytes));
    let asks = (0u64..300_000).prop_map(Step::Asks);
    prop::collection::vec(prop_oneof![4 => leaves, 1 => asks], 1..800)
}

proptest! {
    #![proptest_config(histories(300))]

    /// Bytes and microseconds wrap on the way.
    #[test]
    fn what_had_left_is_known(steps in steps(), rtt_us in 0u32..400_000) {
        let mut now_us = (1u64 << 32) - 1_000_000;
        let mut arrived = (1u64 << 32) - 2_000_000;
        let mut departed = sys::tg_send_log::default();
        let mut list = List::default();
        for step in steps {
            match step {
                Step::Leaves(gap, bytes) => {
                    now_us += gap;
                    arrived += bytes;
                    // SAFETY: the record is exclusively ours.
                    unsafe { sys::tg_send_log_append(&mut departed, arrived, now_us as u32) };
                    list.note(arrived, now_us);
                }
                Step::Asks(ago) => {
                    let mut made = 0;
                    let at_us = now_us - ago;
                    // SAFETY: as above.
                    unsafe { sys::tg_send_log_space(&mut departed, rtt_us) };
                    list.spacing_us = (rtt_us / sys::TG_SEND_LOG_PER_ROUND).into();
                    // SAFETY: as above; `made` is, too.
                    let known = unsafe { sys::tg_send_log_at(&mut departed, at_us as u32, &mut made) };
                    let ours = (known != 0).then_some(made);
                    prop_assert_eq!(ours, list.at(at_us).map(|made| made as u32));
                }
            }
        }
    }
}
