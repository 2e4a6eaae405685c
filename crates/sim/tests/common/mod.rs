//! Helpers that the tests share.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;
use std::time::Duration;
use tidegate_scenario::{FlowResult, ResultSet, RunResult, Scenario};
use tidegate_sim::{Options, Session, run_scenario};

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

/// A scenario of `seconds` seconds with these workloads, on a link of `mbps` down, 5 up, and 20 ms each way, with a
/// queue of `packets` packets.
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

/// A scenario of one run in the caller's hands.
pub fn session(text: &str) -> Session {
    let path = Path::new("test.toml");
    let scenario = Scenario::parse(&format!("name = \"test\"\n{text}"), path).expect("a scenario");
    let inputs = scenario.link_inputs(path).expect("links");
    let session = Session::new(&scenario, &inputs, &scenario.runs[0], &Options::default());
    session.expect("the simulator has it")
}

/// Mean, and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, libm::sqrt(squares / (n - 1.0) / n))
}

/// The only run of a scenario, with curves in bins of `bin`.
pub fn curves(text: &str, bin: Duration) -> RunResult {
    let path = Path::new("test.toml");
    let scenario = Scenario::parse(&format!("name = \"test\"\n{text}"), path).expect("a scenario");
    let inputs = scenario.link_inputs(path).expect("links");
    let options = Options {
        series: true,
        bin,
        ..Options::default()
    };
    let set = run_scenario(&scenario, &inputs, &options).expect("it runs");
    set.runs.into_iter().next().expect("one run")
}
