//! Scenarios that chance draws, on the kernel and in the simulator: side by side, and nothing else beside them.

use serde_json::Value;
use std::process::Command;
use tempfile::TempDir;
use tidegate_testing::has_tun;

/// Eight, slow enough to run side by side. How well the two agree is looked at in `tests/chance.rs`, and each night
/// (`./dev soak`).
#[test]
fn what_chance_draws_is_held_against_the_kernel_and_kept() {
    if !has_tun() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let kept = folder.path().to_str().unwrap();
    let validate = |args: &[&str]| -> Value {
        let mut tidegate = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        let output = tidegate.arg("validate").args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // 1 if the goal is missed: of eight scenarios it is often, by chance.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
        assert!(!said.contains("tidegate:"), "{said}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let args = ["--random", "8", "--seed", "1015", "--small", "0"];
    let more = ["--confirm", "0", "--json", "--out", kept];
    let drawn = validate(&[&args[..], &more].concat());
    let held = drawn["scenarios"].as_u64().unwrap();
    let share = drawn["share"].as_f64().unwrap();
    assert!(held >= 6, "{held} scenarios: {drawn:#}");
    assert!(share > 0.75, "{share}: {drawn:#}");

    // The same once more, over what the kernel has made of it.
    let again = validate(&["--again", kept, "--json"]);
    assert_eq!(again["scenarios"], drawn["scenarios"]);
    // JSON keeps not each number's last bit.
    let again = again["share"].as_f64().unwrap();
    assert!((again - share).abs() < 0.005, "{again} and {share}");
}
