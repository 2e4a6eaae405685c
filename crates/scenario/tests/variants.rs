//! One scenario, many variants.

use std::path::Path;
use tidegate_scenario::{Point, RateSpec, Scenario, Variation, Written, combinations};

const SCENARIO: &str = r#"
name = "base"
duration_s = 1
down = { rate = { constant_mbps = 20 }, delay_ms = 10 }
up = { rate = { constant_mbps = 5 }, delay_ms = 10 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }]
"#;

fn variants(written: &[&str]) -> Result<Vec<Scenario>, String> {
    let variations = written
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<Written>, _>>()?;
    combinations(&Written::joined(&variations)?)
        .iter()
        .map(|settings| Scenario::parse_with(SCENARIO, Path::new("base.toml"), settings))
        .collect::<Result<_, _>>()
        .map_err(|e| e.to_string())
}

#[test]
fn without_variations_there_is_one_scenario_as_it_stands() {
    let scenarios = variants(&[]).unwrap();
    assert_eq!(scenarios.len(), 1);
    assert_eq!(scenarios[0].name, "base");
}

#[test]
fn every_combination_is_made_and_named_the_last_turning_fastest() {
    let scenarios = variants(&["down.delay_ms=40,140", "up.rate.constant_mbps=1,2"]).unwrap();
    let names: Vec<_> = scenarios.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "base down.delay_ms=40 up.rate.constant_mbps=1",
            "base down.delay_ms=40 up.rate.constant_mbps=2",
            "base down.delay_ms=140 up.rate.constant_mbps=1",
            "base down.delay_ms=140 up.rate.constant_mbps=2",
        ]
    );
    assert_eq!(scenarios[3].down.delay_ms, 140.0);
    assert!(matches!(scenarios[3].up.rate, RateSpec::ConstantMbps(rate) if rate == 2.0));
}

#[test]
fn words_are_strings_and_tables_replace_tables() {
    let scenarios = variants(&[
        "hosts={ congestion_control = \"bbr\" }",
        "description=short",
    ])
    .unwrap();
    assert_eq!(scenarios[0].hosts.congestion_control, "bbr");
    assert_eq!(scenarios[0].description, "short");
    let scenarios = variants(&["down.rate={ trace = \"folder/link.down\" }"]).unwrap();
    assert!(matches!(&scenarios[0].down.rate, RateSpec::Trace(file) if file == "folder/link.down"));
    assert_eq!(scenarios[0].name, "base down.rate=trace=link.down");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (written, word) in [
        ("down.delay_ms", "KEY=VALUE"),
        ("down..delay_ms=1", "single dots"),
        ("sideways.delay_ms=1", "sideways"),
        ("down.delay=1", "delay_ms"),
        ("down.delay_ms=-1", "expected 0 to 60000"),
        ("down.delay_ms=soon", "soon"),
    ] {
        let message = variants(&[written]).unwrap_err();
        assert!(message.contains(word), "{written}: {message}");
    }
}

#[test]
fn lists_of_tables_are_reached_by_name_by_number_and_as_a_whole() {
    let lambda = |written: &str| variants(&[written]).map(|all| all[0].runs[0].lambda);
    assert_eq!(lambda("run.linux.lambda=2"), Ok(2.0));
    assert_eq!(lambda("run.0.lambda=4"), Ok(4.0));
    assert_eq!(lambda("run.*.lambda=5"), Ok(5.0));
    let scenarios = variants(&["workload.download.start_s=0.25,0.5"]).unwrap();
    assert_eq!(scenarios[1].workloads[0].start_s, 0.5);
    assert_eq!(scenarios[1].name, "base workload.download.start_s=0.5");
    for (written, word) in [
        ("run.tide.lambda=2", "expected one of linux"),
        ("run.1.lambda=2", "there is no run \"1\""),
        ("run.linux.lambada=2", "lambada"),
        ("workload.download.weight=0", "expected 1 to 100"),
    ] {
        let message = variants(&[written]).unwrap_err();
        assert!(message.contains(word), "{written}: {message}");
    }
}

#[test]
fn settings_with_a_plus_change_together() {
    let scenarios = variants(&[
        "down.delay_ms=40,140",
        "+up.delay_ms=20,70",
        "+up.rate.constant_mbps=1,2",
        "seed=1,2",
    ])
    .unwrap();
    let names: Vec<_> = scenarios.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "base down.delay_ms=40 up.delay_ms=20 up.rate.constant_mbps=1 seed=1",
            "base down.delay_ms=40 up.delay_ms=20 up.rate.constant_mbps=1 seed=2",
            "base down.delay_ms=140 up.delay_ms=70 up.rate.constant_mbps=2 seed=1",
            "base down.delay_ms=140 up.delay_ms=70 up.rate.constant_mbps=2 seed=2",
        ]
    );
    assert_eq!(scenarios[2].up.delay_ms, 70.0);
}

#[test]
fn a_plus_needs_one_before_it_with_as_many_values() {
    let error = |written: &[&str]| variants(written).unwrap_err();
    assert_eq!(
        error(&["+up.delay_ms=20,70"]),
        "+up.delay_ms is to change together with the variation before it, but it is the first"
    );
    assert_eq!(
        error(&["down.delay_ms=40,140", "+up.delay_ms=20"]),
        "+up.delay_ms has 1 value, expected 2, as many as down.delay_ms has, with which it changes"
    );
}

#[test]
fn a_point_with_a_name_is_called_by_it() {
    let variation = Variation {
        keys: vec![vec!["down".into(), "delay_ms".into()], vec!["seed".into()]],
        points: vec![Point {
            values: vec![40.into(), 7.into()],
            name: Some("far".into()),
        }],
    };
    let variations = [variation];
    let all = combinations(&variations);
    let scenario = Scenario::parse_with(SCENARIO, Path::new("base.toml"), &all[0]).unwrap();
    assert_eq!(scenario.name, "base down.delay_ms=far seed=far");
    assert_eq!((scenario.down.delay_ms, scenario.seed), (40.0, 7));
}

#[test]
fn commas_inside_tables_lists_and_strings_divide_nothing() {
    let scenarios = variants(&[
        "down={ rate = { constant_mbps = 10 }, delay_ms = 1 },{ rate = { constant_mbps = 20 }, delay_ms = 2 }",
        "down.queue={packets=100,bytes=100000}",
        "description=\"one, two\",three",
    ])
    .unwrap();
    assert_eq!(scenarios.len(), 4);
    assert_eq!(
        (scenarios[0].down.delay_ms, scenarios[2].down.delay_ms),
        (1.0, 2.0)
    );
    assert_eq!(scenarios[0].description, "one, two");
    assert_eq!(scenarios[1].description, "three");
    let written = r#"description=it's,that's,"a \", b""#;
    let all = variants(&[written]).unwrap();
    let words: Vec<_> = all.iter().map(|s| s.description.as_str()).collect();
    assert_eq!(words, ["it's", "that's", "a \", b"]);
}
