//! Runs the agent in its own process beside a run of the laboratory, as users do, and measures its resources.

use super::agent_process::AgentProcess;
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tidegate_lab::{Options, Steer, SteeredFlow, Steering, run_scenario};
use tidegate_scenario::{Run, RunResult, Scenario, Side};

/// Time at the start that does not count: flows are new, and the senders' windows still grow.
const SETTLE: Duration = Duration::from_secs(6);

/// Runs a scenario with a single run beside an agent with these arguments. Returns the run's result, and what `look`
/// saw of the agent when flows had settled and at the end.
pub fn run<U: Send + 'static>(
    arguments: &'static [&'static str],
    look: fn(&AgentProcess) -> Result<U>,
    scenario: &str,
    stop: &Arc<AtomicBool>,
) -> Result<(RunResult, [U; 2])> {
    let path = Path::new("bench.toml");
    let scenario = Scenario::parse(scenario, path)?;
    let aside = Aside {
        arguments,
        look,
        seen: Arc::default(),
    };
    let options = Options {
        steer: Some(&aside),
        stop: stop.clone(),
        ..Options::default()
    };
    let results = run_scenario(&scenario, &scenario.link_inputs(path)?, &options)?;
    let run = results.runs.into_iter().next().context("stopped")?;
    let mut seen = aside.seen.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((run, seen.take().context("the run was too short")?))
}

type Seen<U> = Arc<Mutex<Option<[U; 2]>>>;

struct Aside<U> {
    arguments: &'static [&'static str],
    look: fn(&AgentProcess) -> Result<U>,
    seen: Seen<U>,
}

impl<U: Send + 'static> Steer for Aside<U> {
    fn attach(&self, _run: &Run, _side: Side, _interface: &str) -> Result<Box<dyn Steering>> {
        Ok(Box::new(AgentAside {
            agent: AgentProcess::start_here(self.arguments)?,
            began: Instant::now(),
            look: self.look,
            settled: None,
            seen: self.seen.clone(),
        }))
    }
}

struct AgentAside<U> {
    agent: AgentProcess,
    began: Instant,
    look: fn(&AgentProcess) -> Result<U>,
    settled: Option<U>,
    seen: Seen<U>,
}

impl<U: Send> Steering for AgentAside<U> {
    fn sample(&mut self) -> Vec<SteeredFlow> {
        if self.settled.is_none() && self.began.elapsed() > SETTLE {
            self.settled = (self.look)(&self.agent).ok();
        }
        Vec::new()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let end = (self.look)(&self.agent)?;
        let both = self.settled.take().map(|settled| [settled, end]);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = both;
        self.agent.stop()?;
        Ok(())
    }
}
