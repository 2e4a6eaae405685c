//! Shapers at the client's router: with fixed rates, and with cake-autorate.

mod common;

use common::{assert_near, flow, run};
use tidegate_scenario::RunResult;

/// A download with a ping beside it, over 20 and 5 Mbit/s with a buffer of 2000 packets and a round trip of 40 ms.
fn download(down: &str, cake: &str) -> RunResult {
    run(&format!(
        "duration_s = 60
         warmup_s = 20
         down = {{ rate = {down}, delay_ms = 20, queue = {{ packets = 2000 }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20 }}
         workload = [{{ name = 'download', does = {{ bulk = {{}} }} }}, {{ name = 'ping', does = {{ ping = {{ interval_ms = 50 }} }} }}]
         run = [{{ name = 'r' {cake} }}]\n"
    ))
}

const STEADY: &str = "{ constant_mbps = 20 }";

fn autorate(least: f64, base: f64, most: f64) -> String {
    format!(
        ", cake = {{ down = {{ mbps = {base}, min_mbps = {least}, max_mbps = {most} }}, up = {{ mbps = 4.5 }} }}"
    )
}

#[test]
fn a_fixed_shaper_has_the_queue_and_its_rate() {
    let result = download(
        STEADY,
        ", cake = { down = { mbps = 16 }, up = { mbps = 4 } }",
    );
    let cake = result.cake.unwrap();
    assert_near(
        flow(&result, "download").goodput_bps,
        16e6 * 1448.0 / 1500.0,
        0.06,
    );
    assert_near(cake.down.rate_bps, 16e6, 1e-9);
    // The link's own queue stays empty, a ping passes the shaper's flow queues, and CoDel keeps the download's queue
    // there short.
    assert!(result.link.queue_delay_ms.p95 < 1.0, "{:?}", result.link);
    assert!(cake.down.queue_delay_ms.p95 < 25.0, "{cake:?}");
    assert!(cake.down.drops > 0 && result.link.drops == 0);
    assert!(flow(&result, "ping").rtt_ms.p95 < 43.0);
}

/// CAKE marks without being told to.
#[test]
fn a_shaper_marks_what_is_ecn_capable() {
    let result = download(
        STEADY,
        ", ecn = 'classic', cake = { down = { mbps = 16 }, up = { mbps = 4 } }",
    );
    let down = result.cake.unwrap().down;
    assert!(down.marks > 0 && down.drops == 0, "{down:?}");
    assert_eq!(flow(&result, "download").retransmits, 0);
}

#[test]
fn a_shaper_above_the_links_rate_does_nothing() {
    let result = download(
        STEADY,
        ", cake = { down = { mbps = 30 }, up = { mbps = 4 } }",
    );
    let without = download(STEADY, "");
    assert!(without.cake.is_none());
    assert_near(
        result.link.queue_delay_ms.p50,
        without.link.queue_delay_ms.p50,
        0.05,
    );
}

/// It oscillates around the link's rate: up by 4 % a look, down as soon as echoes are 30 ms late each way.
#[test]
fn autorate_finds_the_rate_of_a_link() {
    for base in [10.0, 40.0] {
        let result = download(STEADY, &autorate(5.0, base, 80.0));
        let cake = result.cake.unwrap();
        // The rate rises until the link's rate is three quarters of it, where the load is no longer high.
        let rate = cake.down.rate_bps / 20e6;
        assert!((0.9..1.0 / 0.75).contains(&rate), "{rate}");
        let goodput = flow(&result, "download").goodput_bps;
        assert!((0.75..1.0).contains(&(goodput / 20e6)), "{goodput}");
        let ping = flow(&result, "ping").rtt_ms;
        assert!(ping.p50 < 100.0 && ping.p95 < 250.0, "{ping:?}");
        assert!(result.link.queue_delay_ms.p50 < 100.0);
    }
}

#[test]
fn autorate_follows_a_rate_that_varies() {
    let result = run(
        "duration_s = 60
         down = { rate = { generate = { kind = 'lte' } }, delay_ms = 20, queue = { packets = 2000 } }
         up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
         workload = [{ name = 'download', does = { bulk = {} } }]
         run = [{ name = 'r', cake = { down = { mbps = 10, min_mbps = 1, max_mbps = 50 }, up = { mbps = 4.5 } } }]\n",
    );
    let cake = result.cake.unwrap();
    assert!(
        cake.down.rate_bps < 15e6 && cake.down.rate_bps > 4e6,
        "{cake:?}"
    );
    assert!(result.link.queue_delay_ms.p50 < 200.0, "{:?}", result.link);
}

#[test]
fn its_echoes_pass_and_are_no_users_traffic() {
    let with = |cake: &str| {
        run(&format!(
            "duration_s = 20
             down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 20 }}
             up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20 }}
             workload = [{{ name = 'ping', does = {{ ping = {{ interval_ms = 1000 }} }} }}]
             run = [{{ name = 'r' {cake} }}]\n"
        ))
    };
    let [steered, fixed] = [
        with(&autorate(5.0, 10.0, 80.0)),
        with(", cake = { down = { mbps = 10 }, up = { mbps = 4.5 } }"),
    ];
    // Twenty of 84 bytes a second.
    let further = steered.link.delivered_bps - fixed.link.delivered_bps;
    assert_near(further, 20.0 * 84.0 * 8.0, 0.02);
    assert_near(steered.cake.unwrap().down.rate_bps, 10e6, 1e-9);
}
