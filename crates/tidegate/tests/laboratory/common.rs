//! Runs scenarios through the command.

use serde_json::Value;
use std::fs;
use std::process::Command;
use tempfile::TempDir;
use tidegate_testing::has_tun;

/// The laboratory's results of a scenario; none without root, which is printed.
pub fn laboratory(text: &str, more: &[&str]) -> Option<Value> {
    has_tun().then(|| results("lab", text, more))
}

/// The simulator's results of a scenario.
pub fn simulator(text: &str) -> Value {
    results("sim", text, &[])
}

fn results(command: &str, text: &str, more: &[&str]) -> Value {
    let folder = TempDir::new().unwrap();
    let scenario = folder.path().join("short.toml");
    fs::write(&scenario, text).unwrap();
    let mut tidegate = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    let output = tidegate
        .arg(command)
        .arg(&scenario)
        .arg("--json")
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A number of a run.
pub fn number(run: &Value, path: &str) -> f64 {
    run.pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no {path} in {run}"))
}
