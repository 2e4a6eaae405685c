use super::*;
use std::path::Path;
use tidegate_scenario::Scenario;
use tidegate_sim::Options;

/// A download over 12 Mbit/s and 40 ms; Linux's TCP runs alone for the first half second.
fn run(act: Act, reward: Reward, rate: &str, mut each: impl FnMut(&Episode, &Step, &Session)) {
    let text = format!(
        "name = 'learn'
         duration_s = 8
         down = {{ rate = {rate}, delay_ms = 20, queue = {{ packets = 500 }} }}
         up = {{ rate = {{ constant_mbps = 12 }}, delay_ms = 20 }}
         workload = [{{ name = 'download', does = {{ bulk = {{}} }} }}]
         run = [{{ name = 'mine' }}]"
    );
    let path = Path::new("learn.toml");
    let scenario = Scenario::parse(&text, path).unwrap();
    let inputs = scenario.link_inputs(path).unwrap();
    let options = Options::default();
    let mut session = Session::new(&scenario, &inputs, &scenario.runs[0], &options).unwrap();
    let task = Task {
        act,
        reward,
        step_ms: 100.0,
        start_ms: 500.0,
        history: 2,
        delta: 0.1,
    };
    let mut episode = Episode::new(task, 0);
    assert!(episode.go_on(&mut session, &|| true));
    loop {
        episode.act(&mut session, 0.0);
        assert!(episode.go_on(&mut session, &|| true));
        let step = episode.observe(&mut session);
        each(&episode, &step, &session);
        if step.over {
            return;
        }
    }
}

/// The queue stands before the agent begins; the least round trip is still the path's.
#[test]
fn the_least_round_trip_is_not_forgotten() {
    let mut steps = 0;
    run(
        Act::None,
        Reward::Orca,
        "{ constant_mbps = 12 }",
        |episode, step, _| {
            let newest = &episode.seen()[FEATURES..];
            // 40 ms, and a packet's time over 12 Mbit/s.
            let least_ms = step.rtt_ms / (1.0 + f64::from(newest[1]));
            assert!((40.0..42.5).contains(&least_ms), "{least_ms} ms: {step:?}");
            steps += 1;
        },
    );
    assert!(steps > 70);
}

/// Features and rewards are as documented (docs/python.md).
#[test]
fn features_and_rewards_are_those_of_the_documents() {
    let mut most_bps: f64 = 1.0;
    let mut before = Step::default();
    let mut full = 0;
    run(
        Act::None,
        Reward::Tide,
        "{ constant_mbps = 12 }",
        |episode, step, _| {
            let newest: Vec<f64> = episode.seen()[FEATURES..]
                .iter()
                .map(|&seen| seen.into())
                .collect();
            most_bps = most_bps.max(step.goodput_bps);
            let cut = |feature: f64| feature.clamp(-1.0, 10.0);
            let near = |ours: f64, expected: f64| {
                assert!(
                    (ours - expected).abs() < 1e-5,
                    "{ours}, not {expected}: {step:?}"
                );
            };
            if before.rtt_ms > 0.0 {
                near(newest[0], cut((step.rtt_ms - before.rtt_ms) / 100.0));
            }
            near(
                newest[2],
                cut(step.sent_bps / step.goodput_bps.max(1e3) - 1.0),
            );
            near(newest[3], cut(step.goodput_bps / most_bps));
            let used = (step.goodput_bps * 1500.0 / 1448.0 / 12e6).min(1.0);
            near(step.reward, used - step.queue_delay_ms / 100.0);
            full += u32::from(used > 0.99);
            before = *step;
        },
    );
    // A full link is used, headers included.
    assert!(full > 60, "{full} of 75 steps");
}

/// Where the link can carry nothing, nothing is missed.
#[test]
fn a_step_without_capacity_counts_as_used() {
    let mut none = 0;
    let rate = "{ steps = [[0, 12], [3, 0], [4, 12]] }";
    run(Act::None, Reward::Tide, rate, |_, step, session| {
        let now_s = session.now().as_secs_f64();
        if (3.2..3.95).contains(&now_s) {
            let used = step.reward + step.queue_delay_ms / 100.0;
            assert!((used - 1.0).abs() < 1e-9, "{step:?}");
            none += 1;
        }
    });
    assert!(none >= 7, "{none}");
}
