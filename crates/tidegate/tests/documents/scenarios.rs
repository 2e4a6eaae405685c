//! Checks that every scenario in the documents is valid and runs.

use crate::markdown::{Block, Document, documents, root};
use std::path::{Path, PathBuf};
use tidegate_scenario::Scenario;
use tidegate_sim::{Options, check, run_scenario};

/// What the fence may say of a block of TOML; each kind has a test.
const KINDS: [&str; 6] = ["scenario", "link", "workloads", "config", "cargo", "editor"];
/// Virtual seconds: long enough for all workloads to begin.
const SECONDS: f64 = 3.0;

#[test]
fn every_block_of_toml_says_what_it_is() {
    let mut count = 0;
    for (document, block) in blocks() {
        let words = block.words();
        if words.first() == Some(&"toml") {
            let at = format!("{}:{}", document.path.display(), block.line);
            assert!(
                words.len() == 2 && KINDS.contains(&words[1]),
                "{at}: expected toml and one of {KINDS:?}"
            );
            count += 1;
        }
    }
    assert!(count > 5, "{count} blocks");
}

fn blocks() -> Vec<(Document, Block)> {
    let documents = documents().into_iter();
    documents
        .flat_map(|document| {
            let blocks = document.blocks().into_iter();
            let again = move |block| {
                let (path, text) = (document.path.clone(), document.text.clone());
                (Document { path, text }, block)
            };
            blocks.map(again).collect::<Vec<_>>()
        })
        .collect()
}

const LINK: &str = "down = { rate = { constant_mbps = 20 }, delay_ms = 20 }\n";
const BACK: &str = "up = { rate = { constant_mbps = 5 }, delay_ms = 20 }\n";
const HEAD: &str = "name = \"example\"\nduration_s = 10\n";
const RUN: &str = "run = [{ name = \"tide\", law = \"tide\" }]\n";

/// The whole scenario that a block is, or is part of.
fn whole(kind: &str, text: &str) -> Option<String> {
    let download = "workload = [{ name = \"download\", does = { bulk = {} } }]\n";
    let core = "[[hop]]\nname = \"core\"\nlink = { rate = { constant_mbps = 5 }, delay_ms = 5 }\n\
                [[hop]]\nname = \"detour\"\nlink = { rate = { constant_mbps = 5 }, delay_ms = 5 }\n";
    Some(match kind {
        "scenario" => text.to_owned(),
        "link" => format!("{HEAD}{BACK}{download}{RUN}{text}"),
        "workloads" => format!("{HEAD}{LINK}{BACK}{RUN}{text}\n{core}"),
        _ => return None,
    })
}

#[test]
fn every_scenario_in_the_documents_runs() {
    let mut count = 0;
    for (document, block) in blocks() {
        let words = block.words();
        let Some(text) = words
            .get(1)
            .filter(|_| words[0] == "toml")
            .and_then(|kind| whole(kind, &block.text))
        else {
            continue;
        };
        let at = format!("{}:{}", document.path.display(), block.line);
        // Files that it names are searched for beside the shipped scenarios.
        run(&text, &root().join("scenarios/example.toml"), &at);
        count += 1;
    }
    assert!(count >= 4, "{count} scenarios");
}

/// Runs the shipped scenarios if the simulator supports them; those for the laboratory are only parsed.
#[test]
fn every_shipped_scenario_runs() {
    for folder in [
        "scenarios",
        "scenarios/reference",
        "scenarios/script",
        "scenarios/validate",
    ] {
        let entries = std::fs::read_dir(root().join(folder)).expect("readable");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("readable").path())
            .collect();
        paths.retain(|path| {
            path.extension().is_some_and(|e| e == "toml") && !path.ends_with("reasons.toml")
        });
        assert!(!paths.is_empty(), "{folder}");
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("readable");
            run(&text, &path, &path.display().to_string());
        }
    }
}

fn run(text: &str, path: &Path, at: &str) {
    let mut scenario = Scenario::parse(text, path).unwrap_or_else(|e| panic!("{at}: {e}"));
    let inputs = scenario
        .link_inputs(path)
        .unwrap_or_else(|e| panic!("{at}: {e}"));
    if let Err(refusal) = check(&scenario) {
        let refusal = refusal.to_string();
        assert!(
            refusal.contains("only the laboratory can run"),
            "{at}: {refusal}"
        );
        return;
    }
    shorten(&mut scenario);
    let results = run_scenario(&scenario, &inputs, &Options::default());
    let results = results.unwrap_or_else(|e| panic!("{at}: {e:#}"));
    assert_eq!(results.runs.len(), scenario.runs.len(), "{at}");
    for run in &results.runs {
        let moved = run.link.delivered_bps + run.uplink.delivered_bps;
        assert!(moved > 0.0, "{at}, {}: nothing moved", run.name);
    }
}

/// Shortens a scenario to its first seconds. Workloads that would begin later begin at once.
fn shorten(scenario: &mut Scenario) {
    scenario.duration_s = scenario.duration_s.min(SECONDS);
    scenario.warmup_s = 0.0;
    for workload in &mut scenario.workloads {
        workload.start_s = workload.start_s.min(SECONDS / 3.0);
        workload.stop_s = workload
            .stop_s
            .filter(|stop| *stop <= SECONDS && *stop > workload.start_s);
    }
}
