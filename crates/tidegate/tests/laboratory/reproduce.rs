//! `tidegate reproduce --lab`: figures of the papers over the kernel's TCP.

use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_testing::has_tun;

fn reproduce(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.arg("reproduce").args(args);
    command
}

/// Fig. 8 is one download over the model of a radio link with the agent attached.
#[test]
fn with_the_laboratory_the_kernels_numbers_stand_beside_the_simulators() {
    if !has_tun() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let rows = folder.path().join("rows.csv");
    let rows = rows.to_str().unwrap();
    let output = reproduce(&["drwa", "8", "--lab", "--json", "--out", rows]).output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let quantities = report["figures"][0]["quantities"].as_array().unwrap();
    assert_eq!(quantities.len(), 2);
    for quantity in quantities {
        let kernel = &quantity["kernel"];
        let verdict = kernel["verdict"].as_str().unwrap();
        assert!(["holds", "direction", "fails", "unclear"].contains(&verdict));
        assert!(kernel["value"].is_f64(), "{kernel}");
    }
    // The receiver's RTT divided by the sender's, each in two implementations. Bounds are wide, since other processes
    // use the machine.
    let [simulator, kernel] = ["/ours", "/kernel/value"].map(|at| {
        let number = quantities[1].pointer(at).and_then(Value::as_f64);
        number.unwrap_or_else(|| panic!("no {at} in {report}"))
    });
    assert!((simulator - kernel).abs() < 0.15, "{simulator}, {kernel}");

    let rows = std::fs::read_to_string(rows).unwrap();
    let worlds: Vec<_> = rows
        .lines()
        .map(|row| (row.contains(",1,simulator,"), row.contains(",1,kernel,")))
        .collect();
    assert_eq!(worlds, [(false, false), (true, false), (false, true)]);
}

#[test]
fn an_interrupted_laboratory_ends_soon_and_says_how_far_it_came() {
    if !has_tun() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let rows = folder.path().join("rows.csv");
    let child = reproduce(&["drwa", "8", "--lab", "--out"])
        .arg(&rows)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = || std::fs::read_to_string(&rows).unwrap_or_default();
    while !written().contains("simulator") {
        std::thread::sleep(Duration::from_millis(100));
    }
    // By now the laboratory is running.
    std::thread::sleep(Duration::from_secs(3));
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: two numbers; the process is ours, and not waited for yet.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
    let asked = Instant::now();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("interrupted after 0 of 1 runs, kernel"),
        "{text}"
    );
    assert!(asked.elapsed() < Duration::from_secs(10));
}
