//! Copa over links, beside itself and beside CUBIC.

mod common;

use common::{flow, run, scenario};

const COPA: &str = "{ name = 'one', congestion_control = 'copa', does = { bulk = {} } }";

#[test]
fn alone_it_fills_the_link_and_lets_a_few_packets_wait() {
    let run = run(&(scenario(50.0, 40.0, 2000, COPA) + "warmup_s = 10\n"));
    assert!(run.link.utilisation > 0.95, "{}", run.link.utilisation);
    // Five packets of 0.24 ms are 1.2 ms.
    assert!(run.link.queue_delay_ms.mean < 3.0, "{:?}", run.link);
}

#[test]
fn two_share_alike() {
    let other =
        "{ name = 'other', congestion_control = 'copa', start_s = 5, does = { bulk = {} } }";
    let text = scenario(50.0, 60.0, 2000, &format!("{COPA}, {other}")) + "warmup_s = 20\n";
    let run = run(&text);
    let [one, other] = ["one", "other"].map(|name| flow(&run, name).goodput_bps);
    assert!((0.8..1.25).contains(&(one / other)), "{one}, {other}");
    assert!(run.link.utilisation > 0.95);
}

/// §2.2: beside a sender that fills the buffer, Copa leaves its default mode and claims more than its own δ gives it.
#[test]
fn beside_cubic_it_gets_its_part() {
    let cubic = "{ name = 'cubic', does = { bulk = {} } }";
    let text = scenario(50.0, 80.0, 170, &format!("{COPA}, {cubic}")) + "warmup_s = 20\n";
    let run = run(&text);
    let [copa, cubic] = ["one", "cubic"].map(|name| flow(&run, name).goodput_bps);
    assert!(copa > 0.35 * cubic, "{copa}, {cubic}");
}
