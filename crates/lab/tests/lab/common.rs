//! Helpers that the privileged tests share.

use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tidegate_lab::{Commands, Options, Rights, run_scenario};
use tidegate_scenario::{FlowResult, ResultSet, RunResult, Scenario};
use tidegate_testing::has_tun;

/// Most tests share the machine: a link of 20 Mbit/s takes a small part of a processor.
static MACHINE: RwLock<()> = RwLock::new(());

/// The right to run a laboratory beside others. None without root, with a message.
pub fn laboratory() -> Option<RwLockReadGuard<'static, ()>> {
    has_tun().then(|| MACHINE.read().unwrap_or_else(PoisonError::into_inner))
}

/// The right to run a laboratory alone. None without root, with a message.
pub fn whole_machine() -> Option<RwLockWriteGuard<'static, ()>> {
    has_tun().then(|| MACHINE.write().unwrap_or_else(PoisonError::into_inner))
}

/// A scenario on a link of 20 Mbit/s down, 5 up, 40 ms and 2000 packets.
pub fn lte(rest: &str) -> String {
    format!(
        "{rest}
         down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 20, queue = {{ packets = 2000 }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20, queue = {{ packets = 2000 }} }}"
    )
}

/// Allows the tests' own commands, with the rights of the user who runs the tests.
pub fn allowed() -> Commands {
    Commands::Allowed(Rights::Caller(None))
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

/// How many points the run's curve of a quantity has.
pub fn points(run: &RunResult, quantity: &str) -> usize {
    let curve = run.series.iter().find(|s| s.quantity == quantity);
    curve.map_or(0, |curve| curve.t_s.len())
}

/// Checks the rates of a "video" of 50 kB every half second, and a "call" of 1 Mbit/s.
pub fn assert_on_schedule(run: &RunResult) {
    let call = flow(run, "call").goodput_bps;
    assert!((0.9e6..1.01e6).contains(&call), "{call}");
    let video = flow(run, "video").goodput_bps;
    assert!((0.7e6..0.9e6).contains(&video), "{video}");
}
