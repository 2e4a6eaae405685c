//! What the privileged tests share.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tidegate_lab::{Options, run_scenario};
use tidegate_scenario::{FlowResult, ResultSet, RunResult, Scenario};

/// One laboratory at a time: two would be in each other's way. None without root, which is said
/// aloud.
pub fn laboratory() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: the laboratory needs root");
        return None;
    }
    Some(TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A scenario on a link of 20 Mbit/s down, 5 up, 40 ms and 2000 packets.
pub fn lte(rest: &str) -> String {
    format!(
        "{rest}
         down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 20, queue = {{ packets = 2000 }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20, queue = {{ packets = 2000 }} }}"
    )
}

/// Runs a scenario that has to succeed.
pub fn run(text: &str, options: &Options) -> ResultSet {
    try_run(text, options).unwrap()
}

/// Runs a scenario.
pub fn try_run(text: &str, options: &Options) -> anyhow::Result<ResultSet> {
    let text = format!("name = \"test\"\n{text}");
    let path = Path::new("test.toml");
    let scenario = Scenario::parse(&text, path)?;
    let inputs = scenario.link_inputs(path)?;
    run_scenario(&scenario, &inputs, options)
}

/// The only run's flow of that name.
pub fn flow<'a>(run: &'a RunResult, name: &str) -> &'a FlowResult {
    let found = run.flows.iter().find(|f| f.name == name);
    found.unwrap_or_else(|| panic!("no flow {name} in {run:#?}"))
}
