use super::{Arrival, Rledbat, TARGET_US};
use crate::{assert_close, histories};
use proptest::prelude::*;
use tidegate_laws::sys;

/// What happens next: time since the last segment, its bytes, its round trip if it yields a sample,
/// whether it fills an old gap, and how old its timestamp is in ms.
#[derive(Clone, Copy, Debug)]
struct Step {
    gap_us: u64,
    len: u64,
    rtt_us: Option<u64>,
    again: bool,
    stale_ms: u64,
}

const MSS: u64 = 1448;

/// A path of 2 to 250 ms whose queue wanders about the target; losses, reordering, pauses, and now
/// and then a quarter of an hour of nothing.
fn history() -> impl Strategy<Value = Vec<Step>> {
    let bases = prop_oneof![2_000u64..20_000, 20_000u64..130_000, 130_000u64..250_000];
    let queue = prop_oneof![0u64..40_000, 40_000u64..70_000, 50_000u64..250_000];
    let phase = (
        queue,
        1usize..120,
        prop::option::weighted(0.1, 1_000_000u64..900_000_000),
    );
    let phases = prop::collection::vec(phase, 1..12);
    let chances = prop::collection::vec((0u64..4_000, 0u64..100, 1u64..60_000, 0u64..5), 120);
    (bases, phases, chances).prop_map(|(base_us, phases, chances)| {
        let mut steps = vec![];
        for (queue_us, count, pause) in phases {
            for (i, &(gap_us, chance, len, stale_ms)) in chances.iter().take(count).enumerate() {
                let jitter = gap_us / 4;
                steps.push(Step {
                    gap_us: if i == 0 {
                        pause.unwrap_or(gap_us)
                    } else {
                        gap_us * 8
                    },
                    len: if chance < 80 { MSS } else { len },
                    rtt_us: (chance % 2 == 0).then_some(base_us + queue_us + jitter),
                    again: chance == 1,
                    stale_ms: if chance % 10 == 3 { stale_ms } else { 0 },
                });
            }
        }
        steps
    })
}

/// The same segment for the law, whose numbers wrap.
fn wrapped(a: &Arrival) -> sys::tg_rledbat_arrival {
    sys::tg_rledbat_arrival {
        now_us: a.now_us,
        end: a.end as u32,
        len: a.len as u32,
        mss: a.mss as u32,
        tsval: a.tsval as u32,
        sample_us: a.sample_us.unwrap_or(0) as u32,
    }
}

/// How often each thing happened, lest the histories miss one.
#[derive(Debug, Default)]
struct Seen {
    slowdowns: u32,
    increases: u32,
    decreases: u32,
}

fn run(steps: &[Step], seen: &mut Seen) {
    let mut law = sys::tg_rledbat::default();
    let mut formula = Rledbat::default();
    let mut now_us = 5_000_000u64;
    // Soon before they wrap.
    let mut end = (1u64 << 32) - 100_000;
    let clock_ms = (1u64 << 32) - 20_000;
    for step in steps {
        now_us += step.gap_us;
        let from = if step.again { end - 3 * step.len } else { end };
        end = end.max(from + step.len);
        let arrival = Arrival {
            now_us,
            end: from + step.len,
            len: step.len,
            mss: MSS,
            tsval: clock_ms + now_us / 1_000 - step.stale_ms,
            sample_us: step.rtt_us,
        };
        let (before, slowdowns) = (law.window, law.slowdowns);
        // SAFETY: the record is exclusively ours.
        let ours = unsafe { sys::tg_rledbat_arrived(&mut law, &wrapped(&arrival)) };
        let window = formula.arrived(&arrival);
        // Rounded to a byte.
        assert_close(ours.into(), window, 0.0, 1.0);
        assert_close(law.ssthresh.into(), formula.ssthresh, 0.0, 1.0);
        assert_close(law.srtt_us.into(), formula.srtt_us, 0.0, 1.0);
        // Two round trips, each rounded to a microsecond.
        let due_us = formula.slowdown_at_us.unwrap_or(0);
        assert!(law.slowdown_at_us.abs_diff(due_us) <= 2);
        assert_eq!(law.slowdown_at_us > 0, due_us > 0);
        formula.round_to(&law);
        seen.slowdowns += u32::from(law.slowdowns > slowdowns);
        seen.increases += u32::from(ours > before);
        seen.decreases += u32::from(ours < before);
    }
}

#[test]
fn rledbat_is_its_formula() {
    let mut seen = Seen::default();
    let mut runner = proptest::test_runner::TestRunner::new(histories(300));
    let sums = std::cell::RefCell::new(&mut seen);
    runner
        .run(&history(), |steps| {
            run(&steps, &mut sums.borrow_mut());
            Ok(())
        })
        .unwrap();
    assert!(seen.slowdowns > 100, "{seen:?}");
    assert!(seen.increases > 1_000 && seen.decreases > 300, "{seen:?}");
}

/// A window-limited sender over a link of known rate: the queue settles at the target.
struct Loop {
    law: sys::tg_rledbat,
    now_us: u64,
    end: u32,
    window: u32,
}

const BASE_US: f64 = 40_000.0;
const BYTES_PER_US: f64 = 2.5;

impl Loop {
    fn new() -> Self {
        Self {
            law: sys::tg_rledbat::default(),
            now_us: 1_000_000,
            end: 0,
            window: 2 * MSS as u32,
        }
    }

    /// A segment later: what the window holds beyond the pipe is queue. Returns the queueing delay.
    fn step(&mut self) -> f64 {
        let rtt_us = (f64::from(self.window) / BYTES_PER_US).max(BASE_US);
        let segments = (f64::from(self.window) / MSS as f64).max(1.0);
        self.now_us += (rtt_us / segments) as u64;
        self.end += MSS as u32;
        let arrival = sys::tg_rledbat_arrival {
            now_us: self.now_us,
            end: self.end,
            len: MSS as u32,
            mss: MSS as u32,
            tsval: (self.now_us / 1_000) as u32,
            sample_us: rtt_us as u32,
        };
        // SAFETY: the record is exclusively ours.
        self.window = unsafe { sys::tg_rledbat_arrived(&mut self.law, &arrival) };
        rtt_us - BASE_US
    }
}

/// g = ceil(2 T / base) = 3, so that the window grows by a third a round trip until three quarters of
/// the target stand in the queue.
#[test]
fn slow_start_grows_by_its_gain_and_ends_at_three_quarters_of_the_target() {
    let mut l = Loop::new();
    let began_us = l.now_us;
    let mut queue_us = 0.0;
    while l.law.slowdown_at_us == 0 {
        queue_us = l.step();
    }
    assert_close(queue_us, 0.75 * TARGET_US, 0.02, 0.0);
    // (1 + 1/3)^n, where it pays, is continuous: e^(n/3).
    let pipe = BASE_US * BYTES_PER_US / (2.0 * MSS as f64);
    let rounds = 3.0 * libm::log(pipe);
    let beyond = 3.0 * (0.75 * TARGET_US);
    let expected = rounds * BASE_US + beyond;
    assert_close((l.now_us - began_us) as f64, expected, 0.1, 0.0);
}

#[test]
fn a_slow_down_follows_after_two_round_trips_and_lasts_two() {
    let mut l = Loop::new();
    while l.law.slowdowns == 0 {
        l.step();
    }
    let (began_us, srtt_us) = (l.now_us, l.law.srtt_us);
    assert!(began_us >= l.law.slowdown_at_us);
    assert_eq!(l.window, 2 * MSS as u32);
    while l.window == 2 * MSS as u32 {
        l.step();
    }
    assert_close(
        (l.now_us - began_us) as f64,
        2.0 * f64::from(srtt_us),
        0.3,
        BASE_US,
    );
}

/// A tenth of the time goes to slow-downs and their slow starts, the rest of it the queue is at the
/// target.
#[test]
fn it_settles_at_the_target_and_slows_down_for_a_tenth_of_the_time() {
    let mut l = Loop::new();
    while l.now_us < 120_000_000 {
        l.step();
    }
    let (mut settled, mut steps, mut largest) = (0u32, 0u32, 0.0f64);
    let (began, slowdowns) = (l.now_us, l.law.slowdowns);
    let (mut small_us, mut last_us) = (0, l.now_us);
    while l.now_us < 1_200_000_000 {
        let queue_us = l.step();
        let below = l.law.slowdown_us != 0;
        small_us += if below { l.now_us - last_us } else { 0 };
        last_us = l.now_us;
        if !below {
            steps += 1;
            settled += u32::from((0.7 * TARGET_US..=1.1 * TARGET_US).contains(&queue_us));
            largest = largest.max(queue_us);
        }
    }
    assert!(l.law.slowdowns - slowdowns >= 10, "{}", l.law.slowdowns);
    let share = small_us as f64 / (l.now_us - began) as f64;
    assert!((0.02..=0.11).contains(&share), "{share}");
    assert!(
        f64::from(settled) / f64::from(steps) > 0.9,
        "{settled} of {steps}"
    );
    assert!(largest < 1.2 * TARGET_US, "{largest}");
}

#[test]
fn a_loss_halves_once_in_two_round_trips_and_what_was_overtaken_does_not() {
    let mut l = Loop::new();
    for _ in 0..3_000 {
        l.step();
    }
    let again = |l: &mut Loop, stale_ms: u32| {
        let arrival = sys::tg_rledbat_arrival {
            now_us: l.now_us,
            end: l.end - 10 * MSS as u32,
            len: MSS as u32,
            mss: MSS as u32,
            tsval: (l.now_us / 1_000) as u32 - stale_ms,
            sample_us: 0,
        };
        // SAFETY: the record is exclusively ours.
        unsafe { sys::tg_rledbat_arrived(&mut l.law, &arrival) }
    };
    let before = l.law.window;
    let overtaken = again(&mut l, 5);
    assert!(overtaken >= before && overtaken < before + 2 * MSS as u32);
    let before = l.law.window;
    assert_eq!(again(&mut l, 0), before / 2);
    assert_eq!(again(&mut l, 0), before / 2);
    assert_eq!(l.law.ssthresh, before / 2);
}
