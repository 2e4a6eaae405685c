//! `tidegate reproduce`: the numbers do not depend on how it is run, and the output matches its schema.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
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
    let command = "tidegate reproduce drwa 9 --seeds 2";
    assert_eq!(report["provenance"]["command"], command);
    assert_eq!(report["provenance"]["seed"], serde_json::json!([1, 2]));
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
        assert!(["holds", "direction", "fails", "unclear"].contains(&verdict));
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
    assert!(reproduce(&["drwa", "--scenarios", path]).status.success());
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
fn what_there_is_is_listed() {
    let output = reproduce(&[]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "tidegate reproduce rsfc: ",
        "  table-3 ",
        "  windowless-uploads ",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let output = reproduce(&["--json"]);
    let papers: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(papers[0]["id"], "drwa");
    assert_eq!(papers[0]["figures"][0]["id"], "fig-2");
}

#[test]
fn options_without_a_paper_are_refused() {
    for option in [&["--quick"][..], &["--scenarios", "folder"], &["--lab"]] {
        let output = reproduce(option);
        assert_eq!(output.status.code(), Some(2), "{option:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("PAPER|FIGURE"), "{text}");
    }
}

#[test]
fn an_unknown_paper_is_refused_with_those_that_there_are() {
    let output = reproduce(&["bbr"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("\"bbr\"") && text.contains("tide"), "{text}");
}

#[test]
fn an_unknown_figure_is_refused() {
    let output = reproduce(&["drwa", "fig-99"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("fig-99") && text.contains("fig-15"), "{text}");
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
