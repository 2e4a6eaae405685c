//! What the tests share.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;
use tidegate_scenario::{FlowResult, ResultSet, RunResult, Scenario};
use tidegate_sim::{Options, run_scenario};

/// Runs a scenario.
pub fn try_run(text: &str, series: bool) -> anyhow::Result<ResultSet> {
    let path = Path::new("test.toml");
    let scenario = Scenario::parse(&format!("name = \"test\"\n{text}"), path)?;
    let inputs = scenario.link_inputs(path)?;
    let options = Options {
        series,
        ..Options::default()
    };
    run_scenario(&scenario, &inputs, &options)
}

/// The only run of a scenario that has to succeed.
pub fn run(text: &str) -> RunResult {
    let mut set = try_run(text, false).unwrap_or_else(|e| panic!("{e:#}"));
    assert_eq!(set.runs.len(), 1);
    set.runs.remove(0)
}

/// A scenario of so many seconds with these workloads, on a link of `mbps` down, 5 up, and 20 ms each
/// way, with a queue of so many packets.
pub fn scenario(mbps: f64, seconds: f64, packets: usize, workloads: &str) -> String {
    format!(
        "duration_s = {seconds}
         down = {{ rate = {{ constant_mbps = {mbps} }}, delay_ms = 20, queue = {{ packets = {packets} }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20, queue = {{ packets = 1000 }} }}
         run = [{{ name = \"linux\" }}]
         workload = [{workloads}]\n"
    )
}

/// The flow of that name.
pub fn flow<'a>(run: &'a RunResult, name: &str) -> &'a FlowResult {
    let found = run.flows.iter().find(|f| f.name == name);
    found.unwrap_or_else(|| panic!("no flow {name} in {run:#?}"))
}

/// Whether two numbers differ by at most that share of the second.
pub fn assert_near(ours: f64, expected: f64, share: f64) {
    assert!(
        (ours - expected).abs() <= share * expected.abs(),
        "{ours}, expected {expected} within {share}"
    );
}
