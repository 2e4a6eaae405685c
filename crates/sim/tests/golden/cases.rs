//! The scenarios: shipped ones, shortened, and small ones of `cases/`.

use std::path::{Path, PathBuf};
use tidegate_scenario::{LinkInputs, Scenario};
use toml::Table;

/// The shipped scenarios that still do something when shortened.
const SHIPPED: [&str; 7] = [
    "both-directions",
    "lte-download-bbr",
    "slow-uplink",
    "stalling-reader",
    "static-limit",
    "trace-download",
    "web-beside-download",
];

/// Length of a shortened scenario in seconds, and of its warm-up.
const CUT_S: f64 = 6.0;
const WARMUP_S: f64 = 1.0;

const SMALL: [&str; 11] = [
    "applications",
    "dualpi2",
    "ecn",
    "hold",
    "hosts",
    "laws",
    "paths",
    "readers",
    "rivals",
    "senders",
    "traffic",
];

/// A scenario to run.
pub struct Case {
    pub name: String,
    pub scenario: Scenario,
    pub inputs: LinkInputs,
}

impl Case {
    fn new(name: String, scenario: Scenario, path: &Path) -> Self {
        let inputs = scenario.link_inputs(path);
        Self {
            inputs: inputs.unwrap_or_else(|e| panic!("{e}")),
            name,
            scenario,
        }
    }
}

pub fn cases() -> Vec<Case> {
    let small = SMALL.iter().map(|name| {
        let path = folder("tests/golden/cases").join(format!("{name}.toml"));
        Case::new((*name).to_owned(), load(&path), &path)
    });
    let shipped = SHIPPED.iter().map(|name| shipped(name));
    small.chain(shipped).chain(links()).collect()
}

/// A shipped scenario, cut off after a few seconds.
fn shipped(name: &str) -> Case {
    let path = folder("../../scenarios").join(format!("{name}.toml"));
    let mut scenario = load(&path);
    scenario.duration_s = CUT_S;
    scenario.warmup_s = WARMUP_S;
    scenario.workloads.retain(|w| w.start_s < CUT_S);
    Case::new(format!("shipped/{name}"), scenario, &path)
}

/// A case for each table of `links.toml`: `base.toml` with its keys in place of the downlink's.
fn links() -> Vec<Case> {
    let path = folder("tests/golden/cases").join("base.toml");
    let base = table(&path);
    let case = |(name, keys): (String, toml::Value)| {
        let mut text = base.clone();
        let down = text["down"].as_table_mut().expect("down is a table");
        down.extend(keys.as_table().expect("a table of keys").clone());
        let scenario = Scenario::parse(&text.to_string(), &path);
        let scenario = scenario.unwrap_or_else(|e| panic!("{name}: {e}"));
        Case::new(format!("link/{name}"), scenario, &path)
    };
    let links = table(&path.with_file_name("links.toml"));
    links.into_iter().map(case).collect()
}

fn folder(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn load(path: &Path) -> Scenario {
    Scenario::load(path).unwrap_or_else(|e| panic!("{e}"))
}

fn table(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse()
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
