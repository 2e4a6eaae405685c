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
        "rate = { constant_mbps = 20 }\nqueue = { policy = \"fq-codel\" }\nshaper = { mbps = 10 }",
        "rate = { scheduled = { series = \"ride.csv\", burst_ms = 4 } }",
        "rate = { constant_mbps = 20 }\ncell = { users = 3, load_mbps = 5, scheduler = \"round-robin\" }",
        "rate = { steps = [[0, 20], [5, 0], [5.3, 2]] }",
        "rate = { constant_mbps = 20 }\narq = { error = 0.1 }\nmiddlebox = { patience_ms = 500 }",
        "rate = { walk = { peak_mbps = 50, points = [[0, 20], [9, -3]], fading_db = 3 } }\n\
         arq = { error_by_db = [[-5, 0.5], [20, 0.01]] }",
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
            "rate = { scheduled = { series = \"ride.csv\", burst_ms = 0 } }",
            "scheduled.burst_ms is 0, expected 0.1 to 100",
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
        (
            "rate = { constant_mbps = 20 }\nqueue = { red_min_packets = 9, red_max_packets = 9 }",
            "red_min_packets = 9 and red_max_packets = 9, expected 0 <= min < max",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { red_weight = 0 }",
            "red_weight is 0, expected more than 0 and at most 1",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { pie_target_ms = 0 }",
            "pie_target_ms is 0, expected more than 0 and at most 60000",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { fq_flows = 0 }",
            "fq_quantum_bytes and fq_flows, expected at least 1, flows at most 65536",
        ),
        (
            "rate = { constant_mbps = 20 }\nshaper = { mbps = 5, burst_bytes = 1499 }",
            "shaper.burst_bytes and shaper.queue_packets, expected at least 1500 and 1, or nothing passes",
        ),
        (
            "rate = { constant_mbps = 20 }\ncell = { users = 0, load_mbps = 5 }",
            "cell.users is 0, expected 1 to 1000",
        ),
        (
            "rate = { constant_mbps = 20 }\ncell = { users = 2, load_mbps = 5, tti_ms = 5000 }",
            "cell.tti_ms is 5000, expected 0.1 to 1000 and no more than on_s, off_s and time_constant_s",
        ),
        (
            "rate = { constant_mbps = 20 }\narq = {}",
            "arq, expected either error or error_by_db",
        ),
        (
            "rate = { constant_mbps = 20 }\narq = { error_by_db = [[0, 0.1]] }",
            "arq.error_by_db, expected a rate that is a walk",
        ),
        (
            "rate = { constant_mbps = 20 }\narq = { error = 1.5 }",
            "arq, an error probability of 1.5, expected 0 to 1",
        ),
        (
            "rate = { constant_mbps = 20 }\ndisorder = { reorder = 2 }",
            "disorder.reorder is 2, expected 0 to 1",
        ),
        (
            "rate = { constant_mbps = 20 }\nmiddlebox = { patience_ms = 0 }",
            "middlebox.patience_ms is 0, expected more than 0 and at most 60000",
        ),
        (
            "rate = { steps = [] }",
            "rate.steps: expected at least one step, the first at 0 s, in order of time",
        ),
        (
            "rate = { steps = [[0, 20], [5, 2], [5, 3]] }",
            "rate.steps: expected at least one step, the first at 0 s, in order of time",
        ),
        (
            "rate = { steps = [[0, 20], [5, 0]] }",
            "rate.steps: expected rates of at least 0, the last above 0: it holds for ever",
        ),
        (
            "rate = { steps = [[0, -1], [5, 2]] }",
            "rate.steps: expected rates of at least 0, the last above 0: it holds for ever",
        ),
        (
            "rate = { steps = [[0, 20], [nan, 2]] }",
            "rate.steps, a step at NaN s, expected 0 to 86400",
        ),
        (
            "rate = { steps = [[0, 2e6]] }",
            "rate.steps, a rate of 2000000 Mbit/s, expected at most 1000000",
        ),
        (
            "rate = { walk = { peak_mbps = 50, points = [[0, -20], [9, -10]] } }",
            "walk.points: no point of the walk has a signal, expected -6.9 dB or more for some \
             milliseconds",
        ),
        (
            "rate = { walk = { peak_mbps = 50, points = [[1, 20]] } }",
            "walk.points: expected at least one point, the first at 0 s, in order of time, finite dB",
        ),
        (
            "rate = { walk = { peak_mbps = 50, points = [[0, 20], [-1, 10]] } }",
            "walk.points, a point at -1 s, expected 0 to 86400",
        ),
    ] {
        let expected = format!("test.toml: down: {complaint}");
        assert_eq!(parse(down).expect_err(down), expected);
    }
}

#[test]
fn a_scheduled_series_says_how_it_is_handed_out() {
    for (rate, complaint) in [
        ("{ series = \"ride.csv\" }", "missing field `burst_ms`"),
        (
            "{ series = \"ride.csv\", burst_ms = 4, tti = 1 }",
            "unknown field `tti`",
        ),
    ] {
        let refusal = parse(&format!("rate = {{ scheduled = {rate} }}")).expect_err(rate);
        assert!(
            refusal.starts_with(&format!("test.toml:6: {complaint}")),
            "{refusal}"
        );
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

#[test]
fn what_a_law_or_a_host_cannot_do_is_refused() {
    let sound = scenario("rate = { constant_mbps = 20 }");
    for (from, to, complaint) in [
        (
            "name = \"linux\"",
            "name = \"drwa\"\nlaw = \"drwa\"\nuploads = true",
            "run \"drwa\": uploads = true, but drwa cannot steer them, expected tide or rsfc",
        ),
        (
            "name = \"linux\"",
            "name = \"afc\"\nflow_control = \"adaptive\"",
            "run \"afc\" has no window, expected one in bytes",
        ),
        (
            "does = { bulk = {} }",
            "flow_control = \"classic\"\ndoes = { bulk = {} }",
            "run \"linux\" has no window, expected one in bytes",
        ),
        (
            "does = { bulk = {} }",
            "does = { reader = { reads = { slots = { mbps = [0, 0], slot_s = 1 } } } }",
            "reader.reads.slots.mbps is [0.0, 0.0], expected a rate of more than 0",
        ),
        (
            "does = { bulk = {} }",
            "does = { reader = { reads = { slots = { mbps = [1, -1], slot_s = 1 } } } }",
            "reader.reads.slots.mbps holds -1, expected 0 to 1000000",
        ),
        (
            "does = { bulk = {} }",
            "weight = 0\ndoes = { bulk = {} }",
            "workload \"download\": weight is 0, expected 1 to 100",
        ),
    ] {
        assert!(sound.contains(from));
        let refusal = Scenario::parse(&sound.replace(from, to), Path::new("test.toml"));
        let refusal = refusal.expect_err(to).to_string();
        assert!(refusal.contains(complaint), "{refusal}");
    }
}
