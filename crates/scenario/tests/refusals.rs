//! What makes no sense is refused in one sentence that says where, what and what was expected.

use std::path::Path;
use tidegate_scenario::Scenario;

/// A scenario whose downlink is `down` and whose other parts are in order.
fn scenario(down: &str) -> String {
    format!(
        r#"
name = "test"
duration_s = 10
[down]
delay_ms = 20
{down}
[up]
rate = {{ constant_mbps = 5 }}
delay_ms = 20
[[workload]]
name = "download"
does = {{ bulk = {{}} }}
[[run]]
name = "linux"
"#
    )
}

fn parse(down: &str) -> Result<Scenario, String> {
    Scenario::parse(&scenario(down), Path::new("test.toml")).map_err(|e| e.to_string())
}

#[test]
fn a_sound_downlink_is_taken() {
    for down in [
        "rate = { constant_mbps = 20 }",
        "rate = { generate = { kind = \"lte\", mean_mbps = 5 } }\nloss = { random = 0.01 }",
        "rate = { constant_mbps = 20 }\nloss = { bursty = { probability = 0.5, mean_length = 1 } }",
    ] {
        parse(down).expect(down);
    }
}

#[test]
fn a_downlink_that_cannot_be_is_refused() {
    for (down, complaint) in [
        (
            "rate = { constant_mbps = 0 }",
            "constant_mbps is 0, expected more than 0",
        ),
        (
            "rate = { generate = { kind = \"lte\", mean_mbps = -1 } }",
            "mean_mbps is -1, expected more than 0",
        ),
        (
            "rate = { constant_mbps = 20 }\nloss = { random = 1 }",
            "loss.random is 1, expected 0 to less than 1",
        ),
        (
            "rate = { constant_mbps = 20 }\nloss = { bursty = { probability = 0.1, mean_length = nan } }",
            "loss.bursty, expected probability 0 to less than 1 and mean_length >= 1",
        ),
        (
            "rate = { constant_mbps = 20 }\nloss = { bursty = { probability = 0.6, mean_length = 1 } }",
            "loss.bursty, a probability of 0.6 cannot be had in runs of mean_length = 1, expected at most \
             mean_length / (mean_length + 1)",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { codel_interval_ms = 1e300 }",
            "codel_target_ms and codel_interval_ms, expected more than 0, at most 60000",
        ),
        (
            "rate = { constant_mbps = 20 }\ndelay_steps = [{ at_s = nan, ms = 1 }]",
            "delay step { at_s = NaN, ms = 1 }, expected at_s >= 0 and ms 0 to 60000",
        ),
    ] {
        let expected = format!("test.toml: down: {complaint}");
        assert_eq!(parse(down).expect_err(down), expected);
    }
}

#[test]
fn an_unknown_key_is_named_with_its_line() {
    let refusal = parse("rate = { constant_mbps = 20 }\nspeed = 3").expect_err("an unknown key");
    assert!(
        refusal.starts_with("test.toml:7: unknown field `speed`"),
        "{refusal}"
    );
}
