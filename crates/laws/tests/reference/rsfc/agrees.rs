use super::{Arrival, Rsfc, State};
use crate::histories;
use proptest::prelude::*;
use tidegate_laws::sys;

const MSS: u64 = 1448;

/// A path for a while, a queue that grows or shrinks along it, how often a segment comes, and the unit of the sender's
/// clock.
#[derive(Clone, Copy, Debug)]
struct Phase {
    path_us: u64,
    queue_us: u64,
    growth_us: i64,
    gap_us: u64,
    segments: usize,
    tick_us: Option<u64>,
}

/// What else may happen to a segment.
#[derive(Clone, Copy, Debug)]
struct Chance {
    bytes: u64,
    sampled: bool,
    sound: bool,
    held: bool,
    silence_us: u64,
}

fn phase() -> impl Strategy<Value = Phase> {
    let path = prop_oneof![Just(40_000u64), 5_000u64..150_000];
    let queue = prop_oneof![Just(0u64), 0u64..100_000, 100_000u64..900_000];
    let growth = prop_oneof![Just(0i64), -4_000i64..4_000];
    let gap = prop_oneof![Just(2_000u64), 100u64..20_000];
    let tick = prop_oneof![20 => Just(Some(1_000)), 1 => Just(Some(10_000)), 1 => Just(None)];
    (path, queue, growth, gap, 1usize..250, tick).prop_map(
        |(path_us, queue_us, growth_us, gap_us, segments, tick_us)| Phase {
            path_us,
            queue_us,
            growth_us,
            gap_us,
            segments,
            tick_us,
        },
    )
}

fn chance() -> impl Strategy<Value = Chance> {
    let bytes = prop_oneof![8 => Just(MSS), 1 => 0u64..65_000];
    let silence = prop_oneof![100 => Just(0u64), 1 => 0u64..4_000_000_000];
    let flags = (
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.97),
        prop::bool::weighted(0.05),
    );
    (bytes, flags, silence).prop_map(|(bytes, (sampled, sound, held), silence_us)| Chance {
        bytes,
        sampled,
        sound,
        held,
        silence_us,
    })
}

/// How far the sender's clock is behind ours, so that RD wraps.
const OFFSET_US: i64 = (1 << 32) - 300_000;

fn history(phases: &[Phase], chances: &[Chance], keep: bool) -> Vec<Arrival> {
    let mut now_us = (1u64 << 32) - 2_000_000;
    let mut chances = chances.iter().cycle();
    let mut arrivals = vec![];
    for phase in phases {
        let mut queue_us = phase.queue_us as i64;
        for _ in 0..phase.segments {
            let chance = chances.next().unwrap();
            now_us += phase.gap_us + chance.silence_us;
            queue_us = (queue_us + phase.growth_us).clamp(0, 2_000_000);
            let way_us = phase.path_us as i64 + queue_us;
            arrivals.push(Arrival {
                now_us,
                bytes: chance.bytes,
                mss: MSS,
                rd_us: OFFSET_US + way_us,
                rtt_us: chance.sampled.then_some(phase.path_us + way_us as u64),
                tick_us: phase.tick_us,
                sound: chance.sound,
                held: chance.held,
                keep,
            });
        }
    }
    arrivals
}

/// The same for the law, whose numbers wrap.
fn wrapped(a: &Arrival) -> sys::tg_rsfc_arrival {
    sys::tg_rsfc_arrival {
        now_us: a.now_us as u32,
        bytes: a.bytes as u32,
        mss: a.mss as u32,
        rd_us: a.rd_us as u32,
        sample_us: a.rtt_us.unwrap_or(0) as u32,
        tick_us: a.tick_us.unwrap_or(0) as u32,
        sound: a.sound.into(),
        held: a.held.into(),
        keep: a.keep.into(),
    }
}

fn state(law: &sys::tg_rsfc) -> State {
    match u32::from(law.state) {
        sys::TG_RSFC_SLOW => State::Slow,
        sys::TG_RSFC_FAST => State::Fast,
        _ => State::Monitor,
    }
}

/// How often each transition was made, lest the histories miss one.
#[derive(Debug, Default)]
struct Seen {
    fast: u32,
    drained: u32,
    raised: u32,
    stuck: u32,
    recovered: u32,
    halved: u32,
}

impl Seen {
    fn note(&mut self, from: State, to: State, raised: bool) {
        match (from, to) {
            (State::Slow, State::Fast) => self.fast += 1,
            (State::Fast, State::Slow) if raised => self.raised += 1,
            (State::Fast, State::Slow) => self.drained += 1,
            (State::Fast, State::Monitor) => self.stuck += 1,
            (State::Monitor, State::Slow) => self.recovered += 1,
            (State::Monitor, State::Fast) => self.halved += 1,
            _ => {}
        }
    }
}

fn run(arrivals: &[Arrival], seen: &mut Seen) {
    let mut law = sys::tg_rsfc::default();
    let mut formula = Rsfc::default();
    for (i, a) in arrivals.iter().enumerate() {
        let (from, rd_min_us) = (formula.state, formula.rd_min_us);
        // SAFETY: the record is exclusively ours.
        let ours = unsafe { sys::tg_rsfc_arrived(&mut law, &wrapped(a)) };
        let window = formula.arrived(a);
        let open = f64::from(sys::TG_UNLIMITED);
        assert_eq!(
            f64::from(ours),
            window.unwrap_or(open).min(open),
            "{i}: {a:?}"
        );
        assert_eq!(state(&law), formula.state, "{i}: {a:?}");
        assert_eq!(u64::from(law.least.rtt_us), formula.rtt_min_us.unwrap_or(0));
        if let Some(rd_us) = formula.rd_min_us {
            assert_eq!(law.least.rd_us, rd_us as u32, "{i}: {a:?}");
        }
        if a.tick_us.is_some() {
            seen.note(from, formula.state, formula.rd_min_us > rd_min_us);
        }
    }
}

#[test]
fn rsfc_is_its_formula() {
    let seen = std::cell::RefCell::new(Seen::default());
    let phases = prop::collection::vec(phase(), 1..20);
    let chances = prop::collection::vec(chance(), 1_000);
    proptest!(histories(500), |(phases in phases, chances in chances, keep in prop::bool::weighted(0.2))| {
        run(&history(&phases, &chances, keep), &mut seen.borrow_mut());
    });
    let seen = seen.into_inner();
    let counts = [
        seen.fast,
        seen.drained,
        seen.raised,
        seen.stuck,
        seen.recovered,
        seen.halved,
    ];
    assert!(counts.iter().all(|n| *n > 10), "{seen:?}");
}
