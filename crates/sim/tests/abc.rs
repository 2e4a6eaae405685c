//! ABC's sender and router over links.

mod common;

use common::{flow, run};
use tidegate_scenario::RunResult;

/// 24 Mbit/s and 100 ms with that queue, and these workloads, all sent by ABC.
fn over(queue: &str, workloads: &str) -> RunResult {
    run(&format!(
        "duration_s = 40\nwarmup_s = 20
         down = {{ rate = {{ constant_mbps = 24 }}, delay_ms = 50, queue = {{ {queue} }} }}
         up = {{ rate = {{ constant_mbps = 10 }}, delay_ms = 50 }}
         run = [{{ name = 'r', congestion_control = 'abc' }}]
         workload = [{workloads}]\n"
    ))
}

const ONE: &str = "{ name = 'one', does = { bulk = {} } }";

/// η and the additive packet a round trip: 98.5 % of the link, and no lasting queue.
#[test]
fn alone_it_uses_eta_of_the_link_and_lets_nothing_wait() {
    let run = over("policy = 'abc'", ONE);
    let used = run.link.utilisation;
    assert!((0.96..0.995).contains(&used), "{used}");
    assert!(run.link.queue_delay_ms.p95 < 10.0, "{:?}", run.link);
    assert_eq!(run.link.drops, 0);
    // Half of all packets brake.
    let packets = run.link.delivered_bps * 20.0 / 12_000.0;
    let share = run.link.marks as f64 / packets;
    assert!((0.3..1.1).contains(&share), "{share}");
}

/// Equations 1 to 3: with many flows the additive increase builds a queue, until the target makes room for it.
#[test]
fn many_hold_the_queue_of_their_additive_increase() {
    let many = "{ name = 'many', does = { bulk = { flows = 32 } } }";
    let run = over("policy = 'abc'", many);
    let delay = run.link.queue_delay_ms.p50;
    // x = 50 ms + 133 ms (32/(2000/s (100 ms + x)) − 0.02)
    assert!((50.0..75.0).contains(&delay), "{delay}");
    assert!(run.link.utilisation > 0.98, "{}", run.link.utilisation);
}

/// Equation 3's 1/w.
#[test]
fn two_share_alike() {
    let other = "{ name = 'other', start_s = 5, does = { bulk = {} } }";
    let run = over("policy = 'abc'", &format!("{ONE}, {other}"));
    let [one, other] = ["one", "other"].map(|name| flow(&run, name).goodput_bps);
    assert!((0.8..1.25).contains(&(one / other)), "{one}, {other}");
}

/// §4.1: without a router that brakes it is CUBIC, which fills the buffer and loses packets.
#[test]
fn where_nobody_brakes_it_is_cubic() {
    let cubic = "{ name = 'cubic', congestion_control = 'cubic', does = { bulk = {} } }";
    let run = over("packets = 250", &format!("{ONE}, {cubic}"));
    let [abc, cubic] = ["one", "cubic"].map(|name| flow(&run, name).goodput_bps);
    assert!((0.5..2.0).contains(&(abc / cubic)), "{abc}, {cubic}");
    assert!(run.link.drops > 0);
    assert!(run.link.utilisation > 0.95);
}
