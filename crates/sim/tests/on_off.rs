//! Sources that send for a while and fall silent for a while.

mod common;

use common::{assert_near, flow, run, scenario};
use proptest::prelude::*;

fn source(keys: &str) -> String {
    format!("{{ name = 'source', does = {{ on_off = {{ {keys} }} }} }}")
}

#[test]
fn constant_periods_send_half_of_the_time() {
    for (transport, share) in [("tcp", 1.0), ("udp", 1172.0 / 1200.0)] {
        for direction in ["down", "up"] {
            let keys = format!(
                "mbps = 4, on = {{ constant = {{ s = 0.5 }} }}, off = {{ constant = {{ s = 0.5 }} }}, transport = '{transport}', \
                 direction = '{direction}'"
            );
            let run = run(&scenario(20.0, 60.0, 1000, &source(&keys)));
            let source = flow(&run, "source");
            assert_eq!(source.direction.name(), direction);
            assert_near(source.goodput_bps, 2e6 * share, 0.01);
            assert_eq!(source.retransmits, 0);
        }
    }
}

/// Through a link that carries half of what it sends, UDP loses and TCP makes up for it in the silence.
#[test]
fn what_does_not_fit_is_lost_or_late() {
    let of = |transport: &str| {
        let keys = format!(
            "mbps = 8, on = {{ constant = {{ s = 1 }} }}, off = {{ constant = {{ s = 2 }} }}, transport = '{transport}'"
        );
        run(&scenario(4.0, 60.0, 20, &source(&keys)))
    };
    let (tcp, udp) = (of("tcp"), of("udp"));
    assert_near(flow(&tcp, "source").goodput_bps, 8e6 / 3.0, 0.05);
    assert_near(
        flow(&udp, "source").goodput_bps,
        4e6 / 3.0 * 1172.0 / 1200.0,
        0.1,
    );
    assert!(udp.link.drops > 1000, "{}", udp.link.drops);
}

#[test]
fn a_source_over_udp_needs_its_own_direction_alone() {
    let keys = "mbps = 1, on = { exponential = { mean_s = 1 } }, off = { exponential = { mean_s = 1 } }, transport = 'udp'";
    let down =
        format!("{{ name = 'source', links = ['down'], does = {{ on_off = {{ {keys} }} }} }}");
    assert!(flow(&run(&scenario(20.0, 10.0, 100, &down)), "source").goodput_bps > 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// On average it sends for its share of the time.
    #[test]
    fn it_sends_for_its_share_of_the_time(seed in 1..1_000_000_u64, on in 0.05..0.3_f64, off in 0.05..0.3_f64) {
        for (on_kind, off_kind, transport) in [
            ("exponential = { mean_s", "exponential = { mean_s", "udp"),
            ("pareto = { shape = 3, mean_s", "exponential = { mean_s", "tcp"),
        ] {
            let keys = format!(
                "mbps = 4, on = {{ {on_kind} = {on} }} }}, off = {{ {off_kind} = {off} }} }}, transport = '{transport}'"
            );
            let run = run(&(scenario(20.0, 300.0, 1000, &source(&keys)) + &format!("seed = {seed}\n")));
            let share = match transport {
                "udp" => 1172.0 / 1200.0,
                _ => 1.0,
            };
            let expected = 4e6 * share * on / (on + off);
            let goodput = flow(&run, "source").goodput_bps;
            // 500 cycles at least, each with a deviation of its mean: five standard errors.
            prop_assert!(
                (goodput - expected).abs() < 0.25 * expected,
                "seed {}: {}, expected {}", seed, goodput, expected
            );
        }
    }
}
