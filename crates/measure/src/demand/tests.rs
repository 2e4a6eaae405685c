use super::*;
use std::path::Path;
use tidegate_link::Rate;

const SCENARIO: &str = r#"
name = "demand"
duration_s = 10
warmup_s = 2
down = { rate = { constant_mbps = 8 }, delay_ms = 0 }
up = { rate = { constant_mbps = 8 }, delay_ms = 0 }
run = [{ name = "linux" }]
"#;

fn demand_of(workloads: &str, direction: Direction) -> Vec<[u64; 2]> {
    let text = format!("{SCENARIO}workload = [{workloads}]\n");
    let scenario = Scenario::parse(&text, Path::new("demand.toml")).unwrap();
    let window = Window {
        warmup: Instant::from_millis(2_000),
        end: Instant::from_millis(10_000),
    };
    let ms = |t: Instant| t.as_nanos() / 1_000_000;
    demand(&scenario, direction, &window)
        .intervals
        .iter()
        .map(|i| i.map(ms))
        .collect()
}

#[test]
fn demand_is_the_union_of_what_bulk_workloads_want_after_the_warmup() {
    let workloads = r#"
        { name = "a", stop_s = 4, does = { bulk = {} } },
        { name = "b", start_s = 3, stop_s = 5.05, does = { bulk = {} } },
        { name = "c", start_s = 8, does = { bulk = {} } },
        { name = "d", stop_s = 1, does = { bulk = {} } },
        { name = "up", start_s = 6, does = { bulk = { direction = "up" } } },
        { name = "rate", does = { constant_rate = { mbps = 1 } } }"#;
    assert_eq!(
        demand_of(workloads, Direction::Down),
        [[2_000, 5_000], [8_000, 10_000]]
    );
    assert_eq!(demand_of(workloads, Direction::Up), [[6_000, 10_000]]);
}

#[test]
fn a_link_that_idles_under_demand_is_not_used() {
    let link = Config {
        rate: Rate::constant(8e6),
        delay: Duration::from_millis(50).into(),
        ..Config::default()
    };
    let utilisation = |seconds: &[u64]| {
        let mut demand = Demand {
            intervals: seconds
                .iter()
                .map(|&s| [s, s + 1].map(|s| Instant::from_millis(1_000 * s)))
                .collect(),
            passed: 0,
            bytes: 0,
        };
        // 1000 bytes each ms is all that 8 Mbit/s carry; from the third second on, half of it.
        for ms in (2_000..3_000).chain((3_000..4_000).step_by(2)) {
            demand.delivered(Instant::from_millis(ms), 1000);
        }
        demand.utilisation(&link)
    };
    assert_eq!(utilisation(&[2]), 1.0);
    assert_eq!(utilisation(&[2, 3]), 0.75);
    assert_eq!(utilisation(&[3]), 0.5);
    assert_eq!(utilisation(&[4]), 0.0);
    assert!(utilisation(&[]).is_nan());
}
