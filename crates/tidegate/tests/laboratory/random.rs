//! Scenarios that chance has drawn, on the kernel and in the simulator.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;
use tidegate_testing::has_tun;

fn validate(more: &[&str]) -> Output {
    let mut tidegate = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    let output = tidegate.arg("validate").args(more).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // 1 if the goal is missed: of twenty scenarios it is more often than not, by chance.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    assert!(!said.contains("tidegate:"), "{said}");
    output
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Twenty whose links are mostly slow, so that most run side by side. `./dev soak` draws others each night.
#[test]
fn what_chance_draws_agrees_with_the_kernel() {
    if !has_tun() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let kept = folder.path().to_str().unwrap();
    let args = ["--random", "20", "--seed", "2097", "--small", "0", "--json"];
    let drawn = json(&validate(&[&args[..], &["--out", kept]].concat()));
    let held = drawn["scenarios"].as_u64().unwrap();
    let share = drawn["share"].as_f64().unwrap();
    // Other tests share the machine: some runs do not count, and busy hosts are late.
    assert!(held >= 8, "{held} scenarios: {drawn:#}");
    assert!(share > 0.9, "{share}: {drawn:#}");
    // What a simulator has that is the kernel: else chance is nothing, or everything.
    let own = drawn["own_share"].as_f64().unwrap();
    assert!((0.95..=1.0).contains(&own), "{own}");

    // The same once more, over what the kernel has made of it.
    let again = json(&validate(&["--again", kept, "--json"]));
    assert_eq!(again["scenarios"], drawn["scenarios"]);
    // JSON keeps not each number's last bit.
    let again = again["share"].as_f64().unwrap();
    assert!((again - share).abs() < 0.005, "{again} and {share}");
}

#[test]
fn what_was_not_kept_is_not_held() {
    let folder = TempDir::new().unwrap();
    let refused = |folder: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["validate", "--again"])
            .arg(folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let error = refused(folder.path());
    assert!(
        error.contains("kernel.json") && error.contains("--out"),
        "{error}"
    );
    let error = refused(&folder.path().join("nonesuch"));
    assert!(error.contains("nonesuch"), "{error}");

    let trial = folder.path().join("random-1");
    fs::create_dir(&trial).unwrap();
    for text in [
        "{",
        "{}",
        r#"{"scenario": "x", "description": "", "runs": []}"#,
    ] {
        fs::write(trial.join("kernel.json"), text).unwrap();
        let error = refused(folder.path());
        assert!(error.contains("random-1/kernel.json"), "{error}");
    }
}
