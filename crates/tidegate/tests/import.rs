//! `tidegate trace import`, from a recording to a trace that a scenario plays.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const SERIES: &str = "time,throughput_mbps\n0,8\n0.5,16\n1,-\n1.5,4\n";

fn import(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.args(["trace", "import"]).args(arguments);
    command.current_dir(folder).output().unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Standard error of a command that ended with this status.
fn said(output: &Output, status: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(output.stdout.is_empty());
    said
}

/// Names in a folder, hidden ones included.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().display().to_string());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn a_recording_becomes_what_a_scenario_plays() {
    let folder = folder(&[("run.csv", SERIES)]);
    let said = said(&import(folder.path(), &["run.csv", "-o", "series.csv"]), 0);
    let lines: Vec<_> = said.lines().collect();
    assert!(
        lines[0].starts_with("run.csv: of kind nuwins: throughput_mbps"),
        "{said}"
    );
    assert!(lines[0].contains("no capacity"), "{said}");
    assert!(lines[1].contains("measured: 1, of 0.5 s in all"), "{said}");
    let last = "series.csv: 4 lines, 2 s, 1750000 bytes, 7.000 Mbit/s in the mean; in a scenario: rate = { series = \"series.csv\" }";
    assert_eq!(lines[2], last);
    let text = fs::read_to_string(folder.path().join("series.csv")).unwrap();
    let rows = "0,8000000\n0.5,16000000\n1,0\n1.5,4000000\n";
    assert_eq!(text, format!("seconds,bits_per_second\n{rows}"));
    let scenario = r#"
name = "imported"
duration_s = 4
down = { rate = { series = "series.csv" }, delay_ms = 10 }
up = { rate = { constant_mbps = 5 }, delay_ms = 10 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }]
"#;
    fs::write(folder.path().join("imported.toml"), scenario).unwrap();
    let mut sim = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    let ran = sim
        .args(["sim", "imported.toml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn what_is_refused_leaves_what_was_there() {
    let folder = folder(&[
        ("run.csv", SERIES),
        ("bad.csv", "time,throughput_mbps\n0,8\n1,x\n"),
        ("old.csv", "old\n"),
    ]);
    fs::create_dir(folder.path().join("there")).unwrap();
    let before = names(folder.path());
    let refused = |arguments: &[&str], words: &[&str]| {
        let said = said(&import(folder.path(), arguments), 2);
        assert_eq!(said.lines().count(), 1, "{said}");
        for word in words {
            assert!(said.contains(word), "no \"{word}\" in: {said}");
        }
    };
    refused(
        &["bad.csv", "-o", "old.csv"],
        &["bad.csv:3: ", "found \"x\""],
    );
    refused(
        &["none.csv", "-o", "old.csv"],
        &["none.csv: cannot be read"],
    );
    refused(&[".", "-o", "old.csv"], &["is a folder"]);
    refused(&["run.csv", "-o", "run.csv"], &["is the recording itself"]);
    refused(&["run.csv", "-o", "/dev/null"], &["/dev/null: is no file"]);
    refused(&["run.csv", "bad.csv", "-o", "new"], &["bad.csv:3: "]);
    refused(
        &["run.csv", "old.csv", "--from", "nuwins", "-o", "new"],
        &["old.csv:1: no column time"],
    );
    refused(
        &["run.csv", "./run.csv", "-o", "new"],
        &["2 recordings need a folder"],
    );
    refused(
        &["run.csv", "./run.csv", "-o", "there"],
        &["two recordings would go there"],
    );
    refused(
        &["run.csv", "-o", "new", "--longest-gap=-1"],
        &["--longest-gap"],
    );
    refused(
        &["run.csv", "-o", "new", "--bin-ms", "0"],
        &["--bin-ms 0, expected 1"],
    );
    assert_eq!(names(folder.path()), before);
    assert_eq!(
        fs::read_to_string(folder.path().join("old.csv")).unwrap(),
        "old\n"
    );
}

#[test]
fn several_go_into_a_folder() {
    let folder = folder(&[("one.csv", SERIES), ("two.csv", SERIES)]);
    let traces = folder.path().join("traces");
    fs::create_dir(&traces).unwrap();
    let arguments = ["one.csv", "two.csv", "--as", "mahimahi", "-o", "traces"];
    let said = said(&import(folder.path(), &arguments), 0);
    assert!(said.contains("rate = { trace = \"one.down\" }"), "{said}");
    assert_eq!(names(&traces), ["one.down", "two.down"]);
    let lines = fs::read_to_string(traces.join("one.down")).unwrap();
    // 1,750,000 bytes in 2 s.
    assert_eq!(lines.lines().count(), 1166);
    assert_eq!(lines.lines().last(), Some("2000"));
}

#[test]
fn help_says_what_each_kind_is() {
    let output = import(Path::new("/"), &["--help"]);
    let help = String::from_utf8_lossy(&output.stdout);
    for word in [
        "lumos5g",
        "iperf3 --json: bits_per_second",
        "A recording of goodput is no capacity",
    ] {
        assert!(help.contains(word), "no \"{word}\" in: {help}");
    }
}
