use super::Rows;
use std::fs;
use tempfile::TempDir;
use tidegate_scenario::{FlowDirection, FlowResult, RunResult};

fn keys() -> Vec<String> {
    ["seed", "run"].map(str::to_owned).into()
}

fn identity(seed: u64) -> Vec<String> {
    vec![seed.to_string(), "a, \"quoted\" run".into()]
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
    let mut rows = Rows::open(&path, &keys(), false).unwrap();
    rows.append(&identity(1), &result(1.5e6)).unwrap();
    drop(rows);
    let mut rows = Rows::open(&path, &keys(), true).unwrap();
    assert!(rows.has(&identity(1)) && !rows.has(&identity(2)));
    rows.append(&identity(2), &result(2.5e6)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("seed,run,goodput_bps,"));
    assert!(lines[2].starts_with("2,\"a, \"\"quoted\"\" run\",2500000,"));
    let columns = lines[0].matches(',').count();
    assert_eq!(lines[2].matches(',').count(), columns + 1);
}

#[test]
fn a_torn_last_line_is_healed_wherever_it_was_torn() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.csv");
    let mut rows = Rows::open(&path, &keys(), false).unwrap();
    rows.append(&identity(1), &result(1.0)).unwrap();
    rows.append(&identity(2), &result(2.0)).unwrap();
    drop(rows);
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let mut rows = Rows::open(&path, &keys(), true).unwrap();
        for seed in [1, 2] {
            if !rows.has(&identity(seed)) {
                rows.append(&identity(seed), &result(seed as f64)).unwrap();
            }
        }
        assert_eq!(fs::read(&path).unwrap(), whole, "torn after {length} bytes");
    }
}

#[test]
fn what_is_not_to_be_gone_on_with_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.csv");
    drop(Rows::open(&path, &keys(), false).unwrap());
    let before = fs::read(&path).unwrap();
    let refused = |keys: &[String], resume| {
        let error = Rows::open(&path, keys, resume).err().unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
        error.to_string()
    };
    assert!(refused(&keys(), false).contains("--resume"));
    assert!(refused(&["run".to_owned()], true).contains("another sweep"));
}
