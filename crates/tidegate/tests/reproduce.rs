//! `tidegate reproduce`: the same numbers however it is run, and the schema that was promised.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_scenario::Scenario;

fn reproduce(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.arg("reproduce").args(args).output().unwrap()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = |jobs| {
        let output = reproduce(&["drwa", "9", "--seeds", "2", "--json", "--jobs", jobs]);
        assert!(output.status.success());
        output.stdout
    };
    let one = run("1");
    assert_eq!(one, run("2"));

    let report: Value = serde_json::from_slice(&one).unwrap();
    let [figure] = report["figures"].as_array().unwrap().as_slice() else {
        panic!("one figure was asked for");
    };
    assert_eq!(figure["id"], "fig-9");
    let quantities = figure["quantities"].as_array().unwrap();
    assert!(!quantities.is_empty());
    for quantity in quantities {
        for key in ["paper", "ours", "low", "high"] {
            assert!(quantity[key].is_f64(), "{key}: {quantity}");
        }
        let verdict = quantity["verdict"].as_str().unwrap();
        assert!(["holds", "direction", "fails"].contains(&verdict));
        let explained = !quantity["reason"].as_str().unwrap().is_empty();
        assert_eq!(explained, verdict != "holds", "{quantity}");
    }
}

#[test]
fn the_page_is_well_formed_and_holds_pictures_and_verdicts() {
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let output = reproduce(&["fig-9", "--seeds", "1", "--html", page.to_str().unwrap()]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("fig-9") && text.contains("one seed"),
        "{text}"
    );

    let html = std::fs::read_to_string(page).unwrap();
    let document = roxmltree::Document::parse_with_options(
        &html,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        },
    )
    .unwrap();
    let within = |name: &str| {
        let space = ("http://www.w3.org/1999/xhtml", name);
        document
            .descendants()
            .filter(|n| n.has_tag_name(space))
            .count()
    };
    assert_eq!(within("section"), 1);
    // One for the window, one for the RTT.
    assert_eq!(within("figure"), 2);
}

#[test]
fn every_run_is_a_scenario_that_can_be_loaded() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    assert!(reproduce(&["--scenarios", path]).status.success());
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(files.len() > 100, "{}", files.len());
    for file in files {
        let path = file.unwrap().path();
        let scenario = Scenario::load(&path).unwrap_or_else(|e| panic!("{e}"));
        scenario.link_inputs(Path::new(".")).unwrap();
    }
}

#[test]
fn figures_of_a_chapter_are_asked_for_by_number() {
    let output = reproduce(&["rsfc", "5.10", "--quick", "--json"]);
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["figures"][0]["id"], "fig-5.10");
}

#[test]
fn an_unknown_figure_is_refused() {
    let output = reproduce(&["drwa", "fig-99"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("fig-99") && text.contains("fig-15"), "{text}");
}

fn is_root() -> bool {
    // SAFETY: no arguments, cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        eprintln!("SKIPPED: needs root");
    }
    root
}

/// Fig. 8 is one download over the model of a radio link with the agent attached.
#[test]
fn with_the_laboratory_the_kernels_numbers_stand_beside_the_simulators() {
    if !is_root() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let rows = folder.path().join("rows.csv");
    let rows = rows.to_str().unwrap();
    let output = reproduce(&["drwa", "8", "--lab", "--json", "--out", rows]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let quantities = report["figures"][0]["quantities"].as_array().unwrap();
    assert_eq!(quantities.len(), 2);
    for quantity in quantities {
        let kernel = &quantity["kernel"];
        let verdict = kernel["verdict"].as_str().unwrap();
        assert!(["holds", "direction", "fails"].contains(&verdict));
        assert!(kernel["value"].is_f64(), "{kernel}");
    }
    // The receiver's RTT over the sender's, of two implementations of both: wide, since other
    // processes share the machine.
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
fn what_only_the_simulator_can_run_is_refused_in_the_laboratory() {
    let output = reproduce(&["mpath", "equation-3.7", "--lab"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("equation-3.7") && text.contains("datagrams"),
        "{text}"
    );
}

#[test]
fn an_interrupted_laboratory_ends_soon_and_says_how_far_it_came() {
    if !is_root() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let rows = folder.path().join("rows.csv");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    let child = command
        .args(["reproduce", "drwa", "8", "--lab", "--out"])
        .arg(&rows)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = || std::fs::read_to_string(&rows).unwrap_or_default();
    while !written().contains("simulator") {
        std::thread::sleep(Duration::from_millis(100));
    }
    // Well into the laboratory's part.
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
