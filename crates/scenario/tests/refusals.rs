//! What makes no sense is refused: a line for each thing that is wrong, which says where, what and what was expected.

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
            "rate.constant_mbps is 0, expected 0.001 to 100000 Mbit/s",
        ),
        (
            "rate = { generate = { kind = \"lte\", mean_mbps = -1 } }",
            "rate.generate.mean_mbps is -1, expected 0.001 to 100000 Mbit/s",
        ),
        (
            "rate = { scheduled = { series = \"ride.csv\", burst_ms = 0 } }",
            "rate.scheduled.burst_ms is 0, expected 0.1 to 100 ms",
        ),
        (
            "rate = { constant_mbps = 20 }\nloss = { random = 1 }",
            "loss.random is 1, expected 0 to 0.999",
        ),
        (
            "rate = { constant_mbps = 20 }\nloss = { bursty = { probability = 0.1, mean_length = nan } }",
            "loss.bursty.mean_length is NaN, expected 1 to 1000000 packets",
        ),
        (
            "rate = { constant_mbps = 20 }\nloss = { bursty = { probability = 0.6, mean_length = 1 } }",
            "loss.bursty, a probability of 0.6 cannot be had in runs of mean_length = 1, expected at most \
             mean_length / (mean_length + 1)",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { codel_interval_ms = 1e300 }",
            "queue.codel_interval_ms is 1e300, expected 0.001 to 60000 ms",
        ),
        (
            "rate = { constant_mbps = 20 }\ndelay_steps = [{ at_s = nan, ms = 1 }]",
            "delay_steps[0].at_s is NaN, expected 0 to 1000000 s",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { red_min_packets = 9, red_max_packets = 9 }",
            "red_min_packets = 9 and red_max_packets = 9, expected min < max",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { red_weight = 0 }",
            "queue.red_weight is 0, expected 0.000001 to 1",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { pie_target_ms = 0 }",
            "queue.pie_target_ms is 0, expected 0.001 to 60000 ms",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { ecn = true }",
            "ecn is for queues that mark if told to, expected policy = codel, fq-codel, pie or red",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { abc_drain_ms = 0 }",
            "queue.abc_drain_ms is 0, expected 0.001 to 60000 ms",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { abc_threshold_ms = -1 }",
            "queue.abc_threshold_ms is -1, expected 0 to 60000 ms",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { policy = 'abc' }\ncell = { users = 2, load_mbps = 4 }",
            "ABC's router knows the link's rate: no other users, or another policy",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { dualpi2_coupling = 0 }",
            "queue.dualpi2_coupling is 0, expected 1 to 255",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { policy = 'pie', ce_threshold_ms = 1 }",
            "ce_threshold_ms is for queues that have such a step, expected policy = codel or fq-codel",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { policy = 'codel', ce_threshold_ms = 0 }",
            "queue.ce_threshold_ms is 0, expected 0.001 to 60000 ms",
        ),
        (
            "rate = { constant_mbps = 20 }\nqueue = { fq_flows = 0 }",
            "queue.fq_flows is 0, expected 1 to 65536 queues",
        ),
        (
            "rate = { constant_mbps = 20 }\nshaper = { mbps = 5, burst_bytes = 1499 }",
            "shaper.burst_bytes is 1499, expected 1500 to 1000000000 bytes",
        ),
        (
            "rate = { constant_mbps = 20 }\ncell = { users = 0, load_mbps = 5 }",
            "cell.users is 0, expected 1 to 1000 users",
        ),
        (
            "rate = { constant_mbps = 20 }\ncell = { users = 2, load_mbps = 5, on_s = 0.5, tti_ms = 600 }",
            "cell.tti_ms is 600, expected no more than on_s, off_s and time_constant_s",
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
            "arq.error is 1.5, expected 0 to 1",
        ),
        (
            "rate = { constant_mbps = 20 }\ndisorder = { reorder = 2 }",
            "disorder.reorder is 2, expected 0 to 1",
        ),
        (
            "rate = { constant_mbps = 20 }\nmiddlebox = { patience_ms = 0 }",
            "middlebox.patience_ms is 0, expected 0.001 to 60000 ms",
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
            "rate.steps[0][1] is -1, expected 0 to 100000 Mbit/s",
        ),
        (
            "rate = { steps = [[0, 20], [nan, 2]] }",
            "rate.steps[1][0] is NaN, expected 0 to 86400 s",
        ),
        (
            "rate = { steps = [[0, 2e6]] }",
            "rate.steps[0][1] is 2000000, expected 0 to 100000 Mbit/s",
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
            "rate.walk.points[1][0] is -1, expected 0 to 86400 s",
        ),
    ] {
        // The last line of the downlink, which begins in the sixth.
        let line = 6 + down.matches('\n').count();
        let expected = format!("test.toml:{line}: down: {complaint}");
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
            "does.reader.reads.slots.mbps[1] is -1, expected 0 to 100000 Mbit/s",
        ),
        (
            "does = { bulk = {} }",
            "weight = 0\ndoes = { bulk = {} }",
            "workload \"download\": weight is 0, expected 1 to 100 parts",
        ),
    ] {
        assert!(sound.contains(from));
        let refusal = Scenario::parse(&sound.replace(from, to), Path::new("test.toml"));
        let refusal = refusal.expect_err(to).to_string();
        assert!(refusal.contains(complaint), "{refusal}");
    }
}

/// A scenario in which something is wrong on most lines, and what is said of it.
const WRONG: &str = r#"name = "wrong"
duration_s = 0
warmup = 1
[down]
rate = { generate = { kind = "5g" } }
delay_ms = 20
queue = { packets = 0 }
[up]
rate = { constant_mbps = -5 }
arq = { error = 2, tries = 0 }
[[workload]]
name = "download"
does = { bulk = { flows = 0 } }
[[workload]]
name = "page"
weight = 1000
does = { page = { object_bytes = 5 } }
[[run]]
law = "tide"
[[run]]
name = "drwa"
law = "drwa"
lambda = 0
window = 0
"#;

#[test]
fn all_that_is_wrong_is_told_at_once_each_at_its_line() {
    let refusal = Scenario::parse(WRONG, Path::new("wrong.toml")).unwrap_err();
    let said = refusal.to_string();
    let expected = [
        "2: duration_s is 0, expected 0.001 to 1000000 s",
        "3: unknown field `warmup` (did you mean `warmup_s`?), expected one of `name`, ",
        "5: unknown variant `5g`, expected one of `lte`, `hspa`, `evdo`",
        "7: down: queue.packets is 0, expected 1 to 1000000 packets",
        "8: missing field `delay_ms`",
        "9: up: rate.constant_mbps is -5, expected 0.001 to 100000 Mbit/s",
        "10: up: arq.error is 2, expected 0 to 1",
        "10: up: arq.tries is 0, expected 1 to 1000 transmissions",
        "13: workload \"download\": does.bulk.flows is 0, expected 1 to 100000 connections",
        "16: workload \"page\": weight is 1000, expected 1 to 100 parts",
        "17: invalid type: integer `5`, expected a sequence",
        "18: missing field `name`",
        "23: run \"drwa\": lambda is 0, expected 0.01 to 1000",
        "24: run \"drwa\": window is 0, expected 1 to 1073741824 bytes",
    ];
    let lines: Vec<&str> = said.lines().collect();
    for (line, expected) in lines.iter().zip(expected) {
        let expected = format!("wrong.toml:{expected}");
        assert!(line.starts_with(&expected), "{line}\nexpected {expected}");
    }
    assert_eq!(lines.len(), expected.len(), "{said}");
    // When that is put right, the rest is told: what parts say together.
    let right = WRONG
        .replace("duration_s = 0", "duration_s = 10\nwarmup_s = 10")
        .replace("warmup = 1\n", "")
        .replace("5g", "lte")
        .replace("[up]", "[up]\ndelay_ms = 1")
        .replace("object_bytes = 5", "object_bytes = [5]")
        .replace("law = \"tide\"", "name = \"drwa\"");
    let refusal = Scenario::parse(&right, Path::new("wrong.toml")).unwrap_err();
    let expected = "\
wrong.toml:3: warmup_s is 10, expected 0 to less than duration_s = 10
wrong.toml:7: down: queue.packets is 0, expected 1 to 1000000 packets
wrong.toml:10: up: rate.constant_mbps is -5, expected 0.001 to 100000 Mbit/s
wrong.toml:11: up: arq.error is 2, expected 0 to 1
wrong.toml:11: up: arq.tries is 0, expected 1 to 1000 transmissions
wrong.toml:14: workload \"download\": does.bulk.flows is 0, expected 1 to 100000 connections
wrong.toml:17: workload \"page\": weight is 1000, expected 1 to 100 parts
wrong.toml:19: two runs are named \"drwa\", expected different names
wrong.toml:24: run \"drwa\": lambda is 0, expected 0.01 to 1000
wrong.toml:25: run \"drwa\": window is 0, expected 1 to 1073741824 bytes";
    assert_eq!(refusal.to_string(), expected);
}

#[test]
fn each_line_that_is_no_toml_is_told() {
    let text = "name = wrong\nduration_s = 10\nwarmup_s = \n[down\n";
    let refusal = Scenario::parse(text, Path::new("wrong.toml")).unwrap_err();
    let said = refusal.to_string();
    for line in [1, 3, 4] {
        assert!(said.contains(&format!("wrong.toml:{line}: ")), "{said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn all_files_that_are_missing_are_told_with_the_lines_that_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ride.toml");
    let text = scenario("rate = { trace = \"a.down\" }\ndelay_trace = \"a.delay\"").replace(
        "rate = { constant_mbps = 5 }",
        "rate = { series = \"b.csv\" }",
    );
    std::fs::write(&path, &text).unwrap();
    let sound = Scenario::load(&path).unwrap();
    let said = sound.link_inputs(&path).unwrap_err().to_string();
    let path = path.display();
    for expected in [
        format!("{path}:6: cannot read a.down: No such file"),
        format!("{path}:9: cannot read b.csv: No such file"),
    ] {
        assert!(
            said.lines().any(|line| line.starts_with(&expected)),
            "{said}"
        );
    }
    // They are told beside what else is wrong, too.
    let wrong = text.replace("duration_s = 10", "duration_s = 0");
    std::fs::write(folder.path().join("ride.toml"), wrong).unwrap();
    let said = Scenario::load(&folder.path().join("ride.toml")).unwrap_err();
    let said = said.to_string();
    assert!(
        said.starts_with(&format!("{path}:3: duration_s is 0")),
        "{said}"
    );
    for file in ["a.down", "a.delay", "b.csv"] {
        assert!(said.contains(&format!("cannot read {file}: ")), "{said}");
    }
    assert_eq!(said.lines().count(), 4, "{said}");
}

#[test]
fn what_the_command_line_put_there_has_no_line() {
    let text = scenario("rate = { constant_mbps = 20 }");
    let key = ["duration_s".to_owned()];
    let value = toml::Value::Integer(-1);
    let setting = tidegate_scenario::Setting {
        key: &key,
        value: &value,
        name: None,
    };
    let refusal = Scenario::parse_with(&text, Path::new("test.toml"), &[setting]);
    let refusal = refusal.unwrap_err().to_string();
    assert!(
        refusal.starts_with("test.toml: duration_s is -1, expected 0.001 to 1000000 s"),
        "{refusal}"
    );
}
