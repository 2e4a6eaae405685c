//! §5.4 and §5.7: losses without congestion, and senders that fill the buffer.

use super::paths::{Path, downloads};
use tidegate_scenario::RunResult;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Random losses (§5.4).
const LOSSES: [f64; 3] = [0.001, 0.01, 0.05];

const SECONDS: [f64; 2] = [60.0, 10.0];

fn used(sample: &Sample, case: &str) -> f64 {
    sample.mean(case, |run| 100.0 * run.link.utilisation)
}

/// Losses at random.
pub fn losses() -> Figure {
    let path = |loss| Path::new(12.0, 50.0).buffer(1.0).loss(loss);
    let case = move |loss: f64, control: &str| {
        let what = format!("{} % lost", loss * 100.0);
        path(loss).case(&what, control, downloads(1, 0.0), SECONDS)
    };
    let both = || {
        LOSSES
            .into_iter()
            .flat_map(move |loss| ["copa", "cubic"].map(|c| case(loss, c)))
    };
    let quantities = LOSSES.into_iter().flat_map(move |loss| {
        let [copa, cubic] = ["copa", "cubic"].map(|control| case(loss, control).name);
        let alone = copa.clone();
        [
            Quantity::new(
                format!("{} % lost: Copa's use of the link", loss * 100.0),
                "%",
                Claim::at_least(90.0 * (1.0 - loss), 20.0),
                move |s| used(s, &alone),
            ),
            Quantity::new(
                format!("{} % lost: Copa's use ÷ CUBIC's", loss * 100.0),
                "",
                Claim::at_least(1.0, 0.8),
                move |s| used(s, &copa) / used(s, &cubic),
            ),
        ]
    });
    Figure {
        id: "losses",
        title: "Losses that are no congestion (§5.4)",
        claim: "Copa does not take losses for congestion, and carries what is left; CUBIC collapses.",
        method: "12 Mbit/s, 50 ms, a buffer of one bandwidth-delay product; packets are lost at random.",
        cases: both().collect(),
        quantities: quantities.collect(),
        draw: Box::new(|_| Vec::new()),
    }
}

/// Flows of Copa's and of CUBIC's, in this order.
const MIXES: [[usize; 2]; 3] = [[1, 1], [2, 2], [1, 3]];

/// Beside CUBIC.
pub fn cubic() -> Figure {
    let path = Path::new(50.0, 40.0).buffer(2.0);
    let case = {
        let path = path.clone();
        move |[copa, cubic]: [usize; 2]| {
            let mut workloads = downloads(copa + cubic, 0.5);
            for workload in &mut workloads[..copa] {
                workload.congestion_control = Some("copa".into());
            }
            path.case(
                &format!("{copa} of Copa and {cubic} others"),
                "cubic",
                workloads,
                [90.0, 20.0],
            )
        }
    };
    let share = |run: &RunResult, copa: usize| {
        let total: f64 = run.flows.iter().map(|f| f.goodput_bps).sum();
        let theirs: f64 = run.flows[..copa].iter().map(|f| f.goodput_bps).sum();
        100.0 * theirs / total * run.flows.len() as f64 / copa as f64
    };
    let quantities = MIXES.map(|mix| {
        let name = case(mix).name;
        let [copa, cubic] = mix;
        Quantity::new(
            format!("{copa} of Copa beside {cubic} of CUBIC: its flows' share of an equal one"),
            "%",
            Claim::same(100.0, 20.0),
            move |s| s.mean(&name, |run| share(run, copa)),
        )
        .because(AIMD)
    });
    Figure {
        id: "cubic",
        title: "Beside CUBIC (§5.7)",
        claim: "Copa detects senders that fill the buffer, and gets a fair share beside CUBIC.",
        method: "50 Mbit/s, 40 ms, a buffer of two bandwidth-delay products; flows begin half a second apart.",
        cases: MIXES.map(&case).into(),
        quantities: quantities.into(),
        draw: Box::new(|_| Vec::new()),
    }
}

const AIMD: &str = "1/δ grows by a packet a round trip, and the share that it brings grows by the packet in the queue: where the queue is \
                    much shorter than the round trip it grows faster than NewReno's window, and where CUBIC's grows faster than that it \
                    grows slower";
