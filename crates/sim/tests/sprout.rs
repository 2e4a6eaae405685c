//! Sprout over links: its throughput, and the age of the data.

mod common;

use common::{flow, run, scenario};

const SPROUT: &str = "{ name = 'stream', does = { sprout = {} } }";
const EWMA: &str = "{ name = 'stream', does = { sprout = { forecast = 'ewma' } } }";

/// A steady link is kinder than the model: Sprout uses much of it, with far less delay than its tolerance.
#[test]
fn over_a_steady_link_it_keeps_its_promise() {
    let run = run(&(scenario(10.0, 30.0, 2000, SPROUT) + "warmup_s = 5\n"));
    let stream = flow(&run, "stream");
    let age = stream.age_ms.expect("Sprout has one");
    assert!(run.link.utilisation > 0.5, "{}", run.link.utilisation);
    assert!(run.link.queue_delay_ms.p95 < 100.0, "{run:#?}");
    assert!(age.p95 < 20.0 + 100.0, "{age:?}");
    assert!(age.p50 > 20.0, "{age:?}");
    assert_eq!(run.link.drops, 0);
}

/// Both keep more in flight than this round trip needs, Sprout-EWMA all of the 100 ms.
#[test]
fn without_caution_it_waits_longer() {
    let ends = "warmup_s = 5\n";
    let [cautious, steady] =
        [SPROUT, EWMA].map(|workload| run(&(scenario(10.0, 30.0, 2000, workload) + ends)));
    assert!(
        steady.link.utilisation > 0.95,
        "{}",
        steady.link.utilisation
    );
    let age = |run| flow(run, "stream").age_ms.expect("Sprout has one").p95;
    let [cautious, steady] = [age(&cautious), age(&steady)];
    assert!(steady > cautious && steady < 100.0, "{steady}, {cautious}");
}

#[test]
fn an_outage_is_survived() {
    let text = "
        duration_s = 20
        warmup_s = 5
        down = { rate = { steps = [[0, 8], [8, 0], [11, 8]] }, delay_ms = 20, queue = { packets = 2000 } }
        up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
        run = [{ name = 'linux' }]
        workload = [{ name = 'stream', does = { sprout = {} } }]";
    let run = run(text);
    let stream = flow(&run, "stream");
    // Sprout sends no more into the outage than its forecast: a tenth of a second's worth and the next ticks'.
    assert!(run.link.queue_delay_ms.max < 3_300.0, "{run:#?}");
    assert!(stream.goodput_bps > 0.4 * 8e6 * 12.0 / 15.0, "{stream:?}");
}

/// Losses do not make it send less, but lost packets do not count as seen.
#[test]
fn losses_cost_more_than_themselves_and_no_collapse() {
    let lossy = |loss: f64| {
        let text = format!(
            "duration_s = 30
             warmup_s = 5
             down = {{ rate = {{ constant_mbps = 10 }}, delay_ms = 20, loss = {{ random = {loss} }} }}
             up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20 }}
             run = [{{ name = 'linux' }}]
             workload = [{SPROUT}]"
        );
        flow(&run(&text), "stream").goodput_bps
    };
    let (without, with) = (lossy(0.0), lossy(0.1));
    assert!(
        with > 0.3 * without && with < 0.95 * without,
        "{with}, {without}"
    );
}

#[test]
fn an_upload_goes_the_other_way() {
    let up = "{ name = 'stream', does = { sprout = { direction = 'up' } } }";
    let run = run(&scenario(10.0, 10.0, 2000, up));
    assert!(run.uplink.utilisation > 0.4, "{}", run.uplink.utilisation);
    assert!(flow(&run, "stream").goodput_bps > 0.35 * 5e6);
}
