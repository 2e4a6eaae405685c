use super::Rows;
use crate::samples::{identifiers, identity};
use anyhow::Result;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tidegate_scenario::{FlowDirection, FlowResult, RunResult};

fn create(path: &Path) -> Rows {
    Rows::create(path, &identifiers()).unwrap()
}

fn resume(path: &Path) -> Rows {
    Rows::resume(path, &identifiers(), &[1, 2].map(identity)).unwrap()
}

fn result(goodput_bps: f64) -> RunResult {
    RunResult {
        flows: vec![FlowResult {
            direction: FlowDirection::Down,
            goodput_bps,
            ..FlowResult::default()
        }],
        ..RunResult::default()
    }
}

#[test]
fn rows_are_there_when_the_file_is_opened_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.csv");
    let mut rows = create(&path);
    rows.append(&identity(1), &result(1.5e6)).unwrap();
    drop(rows);
    let mut rows = resume(&path);
    assert!(rows.has(&identity(1)) && !rows.has(&identity(2)));
    rows.append(&identity(2), &result(2.5e6)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("seed,run,key,goodput_bps,"));
    assert!(lines[2].starts_with("2,\"a, \"\"quoted\"\" run\",1-abc2,2500000,"));
    let columns = lines[0].matches(',').count();
    assert_eq!(lines[2].matches(',').count(), columns + 1);
}

#[test]
fn a_torn_last_line_is_healed_wherever_it_was_torn() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.csv");
    let mut rows = create(&path);
    rows.append(&identity(1), &result(1.0)).unwrap();
    rows.append(&identity(2), &result(2.0)).unwrap();
    drop(rows);
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let mut rows = resume(&path);
        for seed in [1, 2] {
            if !rows.has(&identity(seed)) {
                rows.append(&identity(seed), &result(seed as f64)).unwrap();
            }
        }
        assert_eq!(fs::read(&path).unwrap(), whole, "torn after {length} bytes");
    }
}

/// A file with seed 1 and a torn line of seed 2, which `open` refuses and leaves alone.
fn refused(open: impl Fn(&Path) -> Result<Rows>) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.csv");
    let mut rows = create(&path);
    rows.append(&identity(1), &result(1.0)).unwrap();
    drop(rows);
    let torn = fs::read_to_string(&path).unwrap() + "2,torn";
    fs::write(&path, &torn).unwrap();
    let error = open(&path).err().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), torn);
    error.to_string()
}

#[test]
fn what_is_not_to_be_gone_on_with_is_left_alone() {
    let exists = refused(|path| Rows::create(path, &identifiers()));
    assert!(exists.contains("rows.csv exists: write to another"));
    let fewer = ["run", "key"].map(str::to_owned);
    let another = refused(|path| Rows::resume(path, &fewer, &[identity(1)]));
    assert!(another.contains("rows.csv:1: written by another sweep"));
}

/// Other rows are not mixed with those of this sweep, neither under the same names nor beside them.
#[test]
fn rows_of_what_is_run_otherwise_are_refused() {
    let refused_by = |own: Vec<String>| {
        refused(|path| Rows::resume(path, &identifiers(), std::slice::from_ref(&own)))
    };
    let with_key = |key: &str| {
        let mut own = identity(1);
        own[2] = key.into();
        refused_by(own)
    };
    let row = "rows.csv:2: seed=1 run=a, \"quoted\" run ";
    for (said, words) in [
        (with_key("1-def"), "has the key 1-abc1, expected 1-def"),
        (
            with_key("2-abc1"),
            "was run by a simulator of behaviour version 1, this one's is 2",
        ),
        (refused_by(identity(2)), "is not of this sweep"),
    ] {
        assert!(said.contains(&format!("{row}{words}")), "{said}");
    }
}
