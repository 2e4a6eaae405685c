use super::{Arrival, Share, State, Tide};
use crate::{assert_close, histories};
use proptest::prelude::*;
use tidegate_laws::sys;

/// A stretch of time on a path: everything in it changes when the next begins.
#[derive(Clone, Debug)]
struct Stretch {
    /// Silence before it, during which nothing was sent, or the link was out.
    silence_us: u64,
    outage: bool,
    packets: usize,
    /// Time between packets, in µs, and their size.
    gap_us: u64,
    mss: u64,
    merged: u64,
    /// The round trip without the queue towards us; that queue at least and at most.
    lag_us: u64,
    queue_us: (u64, u64),
    /// At the first drain in it: how much of a flow's delay proves to be path.
    rise_us: u64,
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let silence = prop_oneof![
        6 => Just(0u64),
        3 => 1_000u64..3_000_000,
        1 => 9_000_000u64..12_000_000,
    ];
    let queue = prop_oneof![
        Just(0u64),
        0u64..3_000,
        3_000u64..60_000,
        20_000u64..2_000_000
    ];
    let queue =
        (queue, any::<bool>()).prop_map(|(most, stands)| (if stands { most / 2 } else { 0 }, most));
    let path = (
        10u64..40_000,
        500u64..9_000,
        1u64..20,
        1_000u64..600_000,
        queue,
    );
    let stretch = (silence, any::<bool>(), 1usize..600, path, 0u64..200_000);
    let stretch = stretch.prop_map(|(silence_us, outage, packets, path, rise_us)| {
        let (gap_us, mss, merged, lag_us, queue_us) = path;
        Stretch {
            silence_us,
            outage,
            packets,
            gap_us,
            mss,
            merged,
            lag_us,
            queue_us,
            rise_us,
        }
    });
    prop::collection::vec(stretch, 1..12)
}

/// Both laws, and the flows of the path in each.
struct Both {
    c: sys::tg_tide,
    shares: Vec<sys::tg_share>,
    formula: Tide,
    formula_shares: Vec<Share>,
}

/// What came of a history.
#[derive(Default)]
struct Tally {
    compared: usize,
    steered: usize,
    drains: u64,
    /// Whether the laws stayed in the same discrete state to the end.
    agreed: bool,
}

impl Both {
    fn new(flows: usize) -> Self {
        Self {
            c: sys::tg_tide::default(),
            shares: vec![sys::tg_share::default(); flows],
            formula: Tide::default(),
            formula_shares: vec![Share::default(); flows],
        }
    }

    /// Both windows; `TG_OPEN` and none: the kernel's.
    fn arrived(&mut self, flow: usize, a: &Arrival) -> (u32, Option<f64>) {
        let arrival = sys::tg_arrival {
            now_us: a.now_us,
            len: a.len as u32,
            mss: a.mss as u32,
            sample_us: a.sample_us.unwrap_or(0) as u32,
            rtt_min_us: a.rtt_min_us as u32,
            queue_us: a.queue_us as u32,
        };
        // SAFETY: the records are exclusively ours.
        let ours = unsafe { sys::tg_tide_arrived(&mut self.c, &mut self.shares[flow], &arrival) };
        (
            ours,
            self.formula.arrived(&mut self.formula_shares[flow], a),
        )
    }

    fn refloored(&mut self, flow: usize, rise_us: u64) {
        // SAFETY: as above.
        unsafe {
            sys::tg_tide_refloored(&mut self.c, &mut self.shares[flow], rise_us as u32);
        }
        self.formula
            .refloored(&mut self.formula_shares[flow], rise_us);
    }

    /// Comparisons that a rounding may decide otherwise: the censored count against the forecast,
    /// the fallen count, the hungry flow's bytes.
    fn discrete_state_agrees(&self) -> bool {
        let state = match self.formula.state {
            State::Starting => sys::TG_TIDE_STARTING,
            State::Running => sys::TG_TIDE_RUNNING,
            State::Draining => sys::TG_TIDE_DRAINING,
        };
        let ours = (
            self.c.state,
            self.c.drains,
            self.c.hungry,
            self.c.hungry_now,
        );
        let [drains, hungry, now] = [
            self.formula.drains,
            self.formula.hungry,
            self.formula.hungry_now,
        ]
        .map(|n| n as u32);
        let errors = self.formula.state == State::Starting
            || u64::from(self.c.errors) == self.formula.errors;
        ours == (state, drains, hungry, now) && errors
    }
}

/// Runs a history through both laws, and compares for as long as their discrete states agree.
fn run(flows: usize, stretches: &[Stretch], noise: &[u64]) -> Tally {
    let mut both = Both::new(flows);
    let mut noise = noise.iter().cycle();
    let mut draw = |most: u64| noise.next().expect("endless") % (most + 1);
    let mut tally = Tally::default();
    let mut now_us = 3_000_000_000;
    for stretch in stretches {
        now_us += stretch.silence_us;
        let mut waited_us = if stretch.outage {
            stretch.silence_us
        } else {
            0
        };
        let mut refloors = 0;
        for _ in 0..stretch.packets {
            now_us += draw(2 * stretch.gap_us);
            let queue_us = stretch.queue_us.0
                + draw(stretch.queue_us.1 - stretch.queue_us.0)
                + std::mem::take(&mut waited_us);
            let flow = draw(flows as u64 - 1) as usize;
            let arrival = Arrival {
                now_us,
                len: stretch.mss * (1 + draw(stretch.merged - 1)),
                mss: stretch.mss,
                rtt_min_us: stretch.lag_us / 2 + draw(stretch.lag_us),
                sample_us: (draw(3) == 0).then(|| stretch.lag_us + queue_us + draw(2_000)),
                queue_us,
            };
            if both.formula.state == State::Draining && refloors < flows && draw(9) == 0 {
                both.refloored(flow, if draw(1) == 0 { 0 } else { stretch.rise_us });
                refloors += 1;
            }
            let (ours, formula) = both.arrived(flow, &arrival);
            assert_eq!(both.formula.h_us.unwrap_or(0), u64::from(both.c.h_us), "H");
            if !both.discrete_state_agrees() {
                return tally;
            }
            tally.compared += 1;
            tally.drains = both.formula.drains;
            match formula {
                None => assert_eq!(ours, sys::TG_OPEN),
                Some(window) => {
                    tally.steered += 1;
                    // What does not fit stands for "open".
                    let window = window.min(sys::TG_OPEN.into());
                    // Rates are kept to a byte a second, and each shift rounds.
                    assert_close(ours.into(), window, 0.001, 16.0);
                }
            }
        }
    }
    tally.agreed = true;
    tally
}

proptest! {
    #![proptest_config(histories(150))]

    #[test]
    fn the_window_is_its_formula(
        flows in 1usize..5,
        stretches in stretches(),
        noise in prop::collection::vec(any::<u64>(), 1_009),
    ) {
        run(flows, &stretches, &noise);
    }
}

/// The comparison above would hold for laws that part at once, or never steer.
#[test]
fn histories_steer_and_the_laws_seldom_part() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::new(histories(1));
    let mut tallies = Vec::new();
    for _ in 0..150 {
        let stretches = stretches()
            .new_tree(&mut runner)
            .expect("no rejects")
            .current();
        let noise: Vec<u64> = prop::collection::vec(any::<u64>(), 1_009)
            .new_tree(&mut runner)
            .expect("no rejects")
            .current();
        tallies.push(run(1 + tallies.len() % 4, &stretches, &noise));
    }
    let sum = |f: fn(&Tally) -> usize| tallies.iter().map(f).sum::<usize>();
    let (compared, steered) = (sum(|t| t.compared), sum(|t| t.steered));
    let (drains, agreed) = (sum(|t| t.drains as usize), sum(|t| t.agreed.into()));
    println!(
        "{compared} windows compared, {steered} steered, {drains} drains, {agreed} of 150 agreed"
    );
    assert!(steered > compared / 2 && drains > 50 && agreed > 140);
}

/// A path that drains for the first time, and that drain's number.
fn draining() -> sys::tg_tide {
    sys::tg_tide {
        state: sys::TG_TIDE_DRAINING,
        drains: 1,
        h_us: 40_000,
        ..Default::default()
    }
}

/// The edge that holds when the drain takes effect divides the data sent before from the data sent
/// after, and a flow sees that once. A window that is held by its edge still moves it, to the end
/// of its unit.
#[test]
fn the_promised_edge_divides_old_data_from_new() {
    let mut path = draining();
    let mut share = sys::tg_share::default();
    // SAFETY: the records are exclusively ours.
    let drained = |path: &sys::tg_tide, share: &sys::tg_share, end: u32| unsafe {
        sys::tg_tide_drained(path, share, end) != 0
    };
    // SAFETY: as above.
    let promised = |path: &sys::tg_tide, share: &mut sys::tg_share, edge: u32, held: bool| unsafe {
        sys::tg_tide_promised(path, share, edge, held.into());
    };
    assert!(!drained(&path, &share, 9_000), "nothing is promised yet");
    let edge: u32 = 500; // just past the wrap
    promised(&path, &mut share, edge.wrapping_sub(1_000), true);
    promised(&path, &mut share, edge, true);
    promised(&path, &mut share, edge + 70_000, false);
    assert!(!drained(&path, &share, edge) && !drained(&path, &share, edge.wrapping_sub(1_448)));
    assert!(drained(&path, &share, edge + 1));
    // SAFETY: the records are exclusively ours.
    unsafe { sys::tg_tide_refloored(&mut path, &mut share, 0) };
    assert!(!drained(&path, &share, edge + 1), "seen through already");
    path.drains = 2;
    assert!(
        !drained(&path, &share, edge + 1),
        "another drain has an edge of its own"
    );
}

proptest! {
    #![proptest_config(histories(2_000))]

    /// Delays seen after a drain: real queue has shrunk, or a slow link's has grown, and the floor
    /// stays. What is as it was, to an eighth or a tick, must stay so for a round trip; then the
    /// smallest of it is path.
    #[test]
    fn what_stays_steady_after_a_drain_is_path(
        h_us in 1_000u32..300_000,
        before_us in 0u32..300_000,
        steps in prop::collection::vec((0u64..60_000, -20i64..=20), 1..40),
    ) {
        let path = sys::tg_tide { h_us, before_us, ..draining() };
        let mut share = sys::tg_share::default();
        let empty = f64::max(f64::from(h_us) / 32.0, 2_000.0).floor();
        let slack = f64::max(f64::from(before_us) / 8.0, empty).floor();
        let mut now_us = 7_000_000;
        let mut first = None;
        let mut least = u32::MAX;
        for (gap_us, percent) in steps {
            now_us += gap_us;
            let queue_us = (i64::from(before_us) * (100 + percent) / 100) as u32;
            let mut rise_us = 0;
            // SAFETY: the records are exclusively ours.
            let done = unsafe {
                sys::tg_tide_judge(&path, &mut share, now_us, queue_us, &mut rise_us) != 0
            };
            let (queue, before) = (f64::from(queue_us), f64::from(before_us));
            if queue <= empty || (queue - before).abs() > slack {
                prop_assert_eq!((done, rise_us), (true, 0));
                return Ok(());
            }
            let until_us = *first.get_or_insert(now_us + u64::from(h_us) + u64::from(queue_us));
            least = least.min(queue_us);
            prop_assert_eq!((done, rise_us), if now_us < until_us { (false, 0) } else { (true, least) });
            if done {
                return Ok(());
            }
        }
    }
}
