use super::{Case, select};
use crate::validate::reasons::Reasons;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tidegate_scenario::Udp;

const SCENARIO: &str = r#"
name = "NAME"
duration_s = 10
seed = 7
down = { rate = { generate = { kind = "lte" } }, delay_ms = 25, loss = { random = 0.01 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 25 }
workload = [{ name = "bulk", does = { bulk = {} } }]
run = [{ name = "a" }, { name = "b", law = "tide" }]
"#;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, name) in files {
        let text = SCENARIO.replace("NAME", name);
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/validate")
}

#[test]
fn scenarios_come_in_the_order_of_their_files() {
    let folder = folder(&[
        ("2.toml", "second"),
        ("1.toml", "first"),
        ("note.txt", "no"),
    ]);
    std::fs::write(folder.path().join("reasons.toml"), "").unwrap();
    let cases = Case::load_all(folder.path()).unwrap();
    let labels: Vec<String> = cases.iter().flat_map(Case::labels).collect();
    assert_eq!(labels, ["first: a", "first: b", "second: a", "second: b"]);
    assert_eq!(cases[0].seconds(), 20.0);
}

#[test]
fn a_folder_that_cannot_be_meant_is_refused() {
    let empty = folder(&[]);
    let twice = folder(&[("1.toml", "same"), ("2.toml", "same")]);
    for (path, complaint) in [
        (empty.path(), "no scenario"),
        (twice.path(), "another \"same\""),
        (Path::new("/nowhere"), "cannot read"),
    ] {
        let error = Case::load_all(path).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn a_command_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let command = "command = { run = ['touch', '/nonesuch'] }";
    let text = SCENARIO.replace("bulk = {}", command);
    std::fs::write(folder.path().join("1.toml"), text).unwrap();
    let cases = Case::load_all(folder.path()).unwrap();
    let error = cases[0].check().unwrap_err().to_string();
    assert!(
        error
            .ends_with("1.toml: workload \"bulk\" is a command, which only the laboratory can run"),
        "{error}"
    );
}

#[test]
fn each_repetition_has_a_seed_and_a_start_of_its_own() {
    let folder = folder(&[("1.toml", "one")]);
    let cases = Case::load_all(folder.path()).unwrap();
    let seed = |n| cases[0].repetition(n).unwrap().scenario.seed;
    assert_eq!([seed(0), seed(1), seed(2)], [7, 8, 9]);
    let start = |n| cases[0].repetition(n).unwrap().scenario.workloads[0].start_s;
    assert_eq!([start(0), start(2)], [0.0, 0.1]);
    let rate = |n| format!("{:?}", cases[0].repetition(n).unwrap().inputs.down.rate);
    assert_eq!(rate(1), rate(1));
    assert_ne!(rate(0), rate(1), "the generated link follows the seed");
}

#[test]
fn only_what_was_asked_for_is_kept() {
    let folder = folder(&[("1.toml", "one"), ("2.toml", "two")]);
    let mut cases = Case::load_all(folder.path()).unwrap();
    let error = select(&mut cases, &["three".into()]).unwrap_err();
    assert!(error.to_string().contains("one, two"), "{error}");
    select(&mut cases, &["two".into()]).unwrap();
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0].scenario.name, "two");
}

#[test]
fn the_shipped_scenarios_cover_what_they_promise() {
    let cases = Case::load_all(&shipped()).unwrap();
    assert!(cases.len() >= 12);
    let labels: Vec<String> = cases.iter().flat_map(Case::labels).collect();
    Reasons::load(&shipped(), &labels).unwrap();
    let senders: Vec<_> = cases
        .iter()
        .map(|c| c.scenario.hosts.congestion_control.as_str())
        .collect();
    let laws: Vec<_> = cases
        .iter()
        .flat_map(|c| c.scenario.runs.iter().map(|r| r.law.name()))
        .collect();
    for sender in ["cubic", "reno", "bbr"] {
        assert!(senders.contains(&sender), "{sender}");
    }
    for law in ["none", "drs", "drwa", "tide"] {
        assert!(laws.contains(&law), "{law}");
    }
    let has = |udp| {
        cases
            .iter()
            .any(|c| c.scenario.runs.iter().any(|r| r.udp == udp))
    };
    assert!(has(Udp::Hold));
    for case in &cases {
        let seconds = case.seconds();
        // Flows without a window take half a minute to settle.
        let held = case.scenario.runs.iter().any(|r| r.udp == Udp::Hold);
        let most = if held { 70.0 } else { 30.0 };
        assert!((15.0..=most).contains(&seconds), "{}", case.scenario.name);
        assert!(case.scenario.warmup_s > 0.0, "{}", case.scenario.name);
    }
}
