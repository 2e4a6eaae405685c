//! One run of one scenario, to be repeated with several seeds.

use anyhow::{Context, Result};
use std::path::Path;
use tidegate_scenario::{LinkInputs, RunResult, Scenario};
use tidegate_sim::{Options, run_one};

/// A scenario with a single run. Cases with the same name are the same case and are run once, however many figures
/// want them.
#[derive(Clone, Debug)]
pub struct Case {
    /// Identifies it among all cases.
    pub name: String,
    /// The scenario; its seed is set by the study.
    pub scenario: Scenario,
    /// The curves over time that are wanted.
    pub curves: Vec<&'static str>,
    /// Whether one seed is enough, because there are many cases of its kind.
    pub once: bool,
}

impl Case {
    /// A scenario under its own name, with all seeds and without curves.
    pub fn new(scenario: Scenario) -> Self {
        Self {
            name: scenario.name.clone(),
            scenario,
            curves: Vec::new(),
            once: false,
        }
    }

    /// The same case with `what` added to its name.
    pub fn named(mut self, what: &str) -> Self {
        self.name.push_str(", ");
        self.name.push_str(what);
        self.scenario.name.clone_from(&self.name);
        self
    }

    /// With these curves over time.
    pub fn curves(mut self, quantities: &[&'static str]) -> Self {
        self.curves = quantities.to_vec();
        self
    }

    /// Runs it in the simulator, with the curves that are wanted; none if it was stopped.
    ///
    /// # Errors
    /// When the scenario makes no sense, which is a mistake in a figure.
    pub fn run(&self, seed: u64, options: &Options) -> Result<Option<RunResult>> {
        self.run_by(seed, |scenario, inputs, series| {
            let options = Options {
                series,
                ..options.clone()
            };
            run_one(scenario, inputs, &scenario.runs[0], &options)
        })
    }

    /// Lets `run` run it, and tells it whether curves are wanted; none if `run` returns none.
    ///
    /// # Errors
    /// When the scenario makes no sense, and those of `run`.
    pub fn run_by(
        &self,
        seed: u64,
        run: impl FnOnce(&Scenario, &LinkInputs, bool) -> Result<Option<RunResult>>,
    ) -> Result<Option<RunResult>> {
        let scenario = Scenario {
            seed,
            ..self.scenario.clone()
        };
        let named = || format!("case \"{}\"", self.name);
        // No figure names a file, so nothing is relative to this path.
        let inputs: LinkInputs = scenario.link_inputs(Path::new(".")).with_context(named)?;
        let result = run(&scenario, &inputs, !self.curves.is_empty()).with_context(named)?;
        Ok(result.map(|mut run| {
            run.series
                .retain(|s| self.curves.contains(&s.quantity.as_str()));
            run
        }))
    }
}
