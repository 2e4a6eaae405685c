use super::share::whole;
use super::{Arrival, Share, State, Tide};
use crate::histories;
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
    /// What a probe meets: more comes at the same delay, or the queue grows.
    meets_path: bool,
    /// Each flow's floor is so much lower than that of the one before.
    apart_us: u64,
    /// The way back carries uploads.
    uploading: bool,
}

impl Stretch {
    /// A packet's queueing delay and the time before it, as this probe's answer; `draw` is noise.
    fn answer(&self, probing: bool, mut draw: impl FnMut(u64) -> u64) -> (u64, u64) {
        let gap_us = draw(2 * self.gap_us);
        let queue_us = self.queue_us.0 + draw(self.queue_us.1 - self.queue_us.0);
        match (probing, self.meets_path) {
            (false, _) => (queue_us, gap_us),
            (true, true) => (queue_us, gap_us / 2),
            (true, false) => (2 * queue_us, gap_us),
        }
    }
}

/// Queueing delay at least and at most: none, short, breathing, standing, or at one level.
fn queues() -> impl Strategy<Value = (u64, u64)> {
    let most = prop_oneof![
        Just(0u64),
        0u64..3_000,
        3_000u64..60_000,
        20_000u64..2_000_000
    ];
    let level = 3_000u64..200_000;
    prop_oneof![
        1 => most.clone().prop_map(|most| (0, most)),
        1 => most.prop_map(|most| (most / 2, most)),
        2 => level.prop_map(|level| (level, level + 1_000)),
    ]
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let silence = prop_oneof![
        6 => Just(0u64),
        3 => 1_000u64..3_000_000,
        1 => 9_000_000u64..12_000_000,
    ];
    let path = (
        prop_oneof![10u64..2_000, 10u64..40_000],
        500u64..9_000,
        1u64..20,
        prop_oneof![1_000u64..60_000, 1_000u64..600_000],
        queues(),
    );
    let floors = (
        any::<bool>(),
        prop_oneof![Just(0u64), 0u64..80_000],
        any::<bool>(),
    );
    let stretch = (silence, any::<bool>(), 1usize..600, path, floors);
    let stretch = stretch.prop_map(|(silence_us, outage, packets, path, floors)| {
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
            meets_path: floors.0,
            apart_us: floors.1,
            uploading: floors.2,
        }
    });
    prop::collection::vec(stretch, 1..12)
}

/// The C form.
fn raw(a: &Arrival) -> sys::tg_arrival {
    sys::tg_arrival {
        now_us: a.now_us,
        len: a.len as u32,
        mss: a.mss as u32,
        sample_us: a.sample_us.unwrap_or(0) as u32,
        echo_us: a.sample_us.unwrap_or(0) as u32,
        rtt_min_us: a.rtt_min_us as u32,
        queue_us: a.queue_us as u32,
        lag_us: a.sample_us.unwrap_or(0).saturating_sub(a.queue_us) as u32,
        fell_us: a.fell_us as u32,
        uploading: a.uploading.into(),
        ..Default::default()
    }
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
    /// Probes that met a queue, and path.
    queues: u64,
    paths: u64,
    /// Packets that came while raised floors were held against RTTmin.
    rechecked: u64,
    /// Whether the laws stayed in the same discrete state to the end.
    agreed: bool,
}

impl Both {
    /// The flows weigh 0 (which counts as 1), 1, 2, …
    fn new(flows: usize) -> Self {
        let weights = 0..flows as u32;
        let share = |weight| sys::tg_share {
            weight,
            ..Default::default()
        };
        let formula_share = |weight| Share {
            weight: u64::from(weight),
            ..Default::default()
        };
        Self {
            c: sys::tg_tide::default(),
            shares: weights.clone().map(share).collect(),
            formula: Tide::default(),
            formula_shares: weights.map(formula_share).collect(),
        }
    }

    /// By how much both raise the flow's floor.
    fn floor_rise(&mut self, flow: usize) -> (u32, u64) {
        let share = &mut self.shares[flow];
        // SAFETY: the record is only read, and the share is exclusively ours.
        let ours = unsafe { sys::tg_tide_rise(&raw const self.c, share) };
        let formula = self.formula.floor_rise(&mut self.formula_shares[flow]);
        (ours, formula)
    }

    /// Both windows; `TG_UNLIMITED` and none: the kernel's.
    fn arrived(&mut self, flow: usize, a: &Arrival) -> (u32, Option<f64>) {
        // SAFETY: as above.
        let ours = unsafe { sys::tg_tide_arrived(&mut self.c, &mut self.shares[flow], &raw(a)) };
        (
            ours,
            self.formula.arrived(&mut self.formula_shares[flow], a),
        )
    }

    /// Comparisons that a rounding may decide otherwise: the censored count against the forecast,
    /// a delay against the time of a segment, the fallen count, the hungry flow's bytes.
    fn discrete_state_agrees(&self) -> bool {
        let (c, formula) = (&self.c, &self.formula);
        let state = match formula.state {
            State::Starting => sys::TG_TIDE_STARTING,
            State::Running => sys::TG_TIDE_RUNNING,
            State::Probing => sys::TG_TIDE_PROBING,
            State::Rechecking => sys::TG_TIDE_RECHECKING,
        };
        let counts = [
            c.standing_buckets,
            c.backlogged,
            c.steady,
            c.hungry,
            c.hungry_now,
            c.probes,
        ];
        let [hungry, now, probes] =
            [formula.hungry, formula.hungry_now, formula.probes].map(|n| n as u32);
        // An idle link ends the count at once, and not only at the bucket's end.
        let backlogged = if formula.idle { 0 } else { formula.backlogged };
        let times = [c.level_us, c.patience_us, c.risen_us].map(u64::from);
        let errors = formula.state == State::Starting || u64::from(c.errors) == formula.errors;
        c.state == state
            && (c.ran_empty != 0) == formula.idle
            && counts
                == [
                    formula.standing_buckets,
                    backlogged,
                    formula.steady,
                    hungry,
                    now,
                    probes,
                ]
            && times == [formula.level_us, formula.patience_us, formula.risen_us]
            && c.touched_us == formula.touched.0
            && errors
    }
}

/// Asserts that `ours` is the formula's window, whole. Rates are kept to a byte a second, and each shift rounds.
#[track_caller]
fn assert_same_window(ours: u32, formula: f64, mss: u64) {
    let allowed = 0.001 * formula + 16.0;
    // What does not fit stands for "open".
    let [least, most] =
        [-allowed, allowed].map(|by| whole(formula + by, mss).min(sys::TG_UNLIMITED.into()));
    let ours = f64::from(ours);
    assert!(
        (least.floor()..=most).contains(&ours),
        "the law says {ours}, the formula {formula}, of segments of {mss}"
    );
}

/// Runs a history through both laws, and compares for as long as their discrete states agree.
fn run(flows: usize, stretches: &[Stretch], noise: &[u64]) -> Tally {
    let mut both = Both::new(flows);
    let mut noise = noise.iter().cycle();
    let mut draw = |most: u64| noise.next().expect("endless") % (most + 1);
    let mut tally = Tally::default();
    let mut now_us = 3_000_000_000;
    for (i, stretch) in stretches.iter().enumerate() {
        // A flow joins with every stretch.
        let joined = flows.min(1 + i) as u64;
        now_us += stretch.silence_us;
        let mut waited_us = if stretch.outage {
            stretch.silence_us
        } else {
            0
        };
        for _ in 0..stretch.packets {
            let probing = both.formula.state == State::Probing;
            let (queue_us, gap_us) = stretch.answer(probing, &mut draw);
            now_us += gap_us;
            let flow = draw(joined - 1) as usize;
            let queue_us =
                queue_us + flow as u64 * stretch.apart_us + std::mem::take(&mut waited_us);
            let mut arrival = Arrival {
                now_us,
                len: stretch.mss * (1 + draw(stretch.merged - 1)),
                mss: stretch.mss,
                rtt_min_us: stretch.lag_us / 2 + draw(stretch.lag_us),
                sample_us: (draw(3) == 0).then(|| stretch.lag_us + queue_us + draw(2_000)),
                queue_us,
                fell_us: if draw(40) == 0 {
                    draw(stretch.lag_us / 4)
                } else {
                    0
                },
                uploading: stretch.uploading,
            };
            let (ours, formula) = both.floor_rise(flow);
            assert_eq!(u64::from(ours), formula, "the floor's rise");
            arrival.queue_us = arrival.queue_us.saturating_sub(formula);
            let (ours, formula) = both.arrived(flow, &arrival);
            if !both.discrete_state_agrees() {
                return tally;
            }
            assert_eq!(both.formula.h_us.unwrap_or(0), u64::from(both.c.h_us), "H");
            tally.compared += 1;
            tally.rechecked += u64::from(both.formula.state == State::Rechecking);
            tally.paths = both.formula.rises;
            tally.queues = both.formula.probes - both.formula.rises;
            match formula {
                None => assert_eq!(ours, sys::TG_UNLIMITED),
                Some(window) => {
                    tally.steered += 1;
                    assert_same_window(ours, window, stretch.mss);
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
    let (queues, paths) = (sum(|t| t.queues as usize), sum(|t| t.paths as usize));
    let (rechecked, agreed) = (sum(|t| t.rechecked as usize), sum(|t| t.agreed.into()));
    println!(
        "{compared} windows compared, {steered} steered, {queues} probes met a queue, {paths} \
         path, {rechecked} packets rechecked, {agreed} of 150 agreed"
    );
    assert!(steered > compared / 2 && agreed > 130);
    assert!(queues > 50 && paths > 50 && rechecked > 500);
}
