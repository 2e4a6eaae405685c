//! The scenarios of a folder.

use super::reasons;
use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::path::{Path, PathBuf};
use tidegate_command::exit::BadInput;
use tidegate_scenario::{LinkInputs, LoadError, Scenario};

/// How much later a repetition's workloads start than those of the one before.
const SHIFT_S: f64 = 0.05;

/// By how much another history may delay the start of a workload, at most.
const APART_S: f64 = 0.003;

/// One scenario, to be run once or more.
#[derive(Debug)]
pub struct Case {
    path: PathBuf,
    /// As in its file.
    pub scenario: Scenario,
}

/// The scenario and its links for one repetition.
pub struct Setup {
    /// With the repetition's seed.
    pub scenario: Scenario,
    /// Its links.
    pub inputs: LinkInputs,
}

impl Case {
    /// Reads and checks every scenario of the folder, in the order of their files' names.
    ///
    /// # Errors
    /// If one is malformed, there is none, or two have the same name.
    pub fn load_all(folder: &Path) -> Result<Vec<Self>> {
        let mut paths = Vec::new();
        let entries = std::fs::read_dir(folder)
            .map_err(|e| BadInput(format!("cannot read the folder {}: {e}", folder.display())))?;
        for entry in entries {
            let path = entry
                .with_context(|| format!("cannot read {}", folder.display()))?
                .path();
            let is_toml = path.extension().is_some_and(|e| e == "toml");
            if is_toml && path.file_name() != Some(reasons::FILE.as_ref()) {
                paths.push(path);
            }
        }
        paths.sort();
        let cases: Vec<Self> = paths
            .into_iter()
            .map(Self::load)
            .collect::<Result<_, LoadError>>()?;
        check_names(&cases, folder)?;
        Ok(cases)
    }

    /// Reads and checks the scenario in a file.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn load(path: PathBuf) -> Result<Self, LoadError> {
        let scenario = Scenario::load(&path)?;
        // Check the traces now: an error must not come after the scenarios before this one have run.
        scenario.link_inputs(&path)?;
        Ok(Self { path, scenario })
    }

    /// Refuses a scenario that only laboratory or simulator can run; a command runs in neither, since the simulator has
    /// none.
    ///
    /// # Errors
    /// The feature that one of them lacks.
    pub fn check(&self) -> Result<(), BadInput> {
        let named = |error: String| BadInput(format!("{}: {error}", self.path.display()));
        tidegate_sim::check(&self.scenario).map_err(|error| named(error.to_string()))?;
        tidegate_lab::check(&self.scenario).map_err(|error| named(format!("{error:#}")))
    }

    /// The n-th repetition, from 0. Each has its own seed, the first that of the file, and begins [`SHIFT_S`] later
    /// than the one before: on a link without randomness, that gives another history.
    ///
    /// # Errors
    /// If a trace can no longer be read.
    pub fn repetition(&self, n: u32) -> Result<Setup, LoadError> {
        self.delayed(n, || SHIFT_S * f64::from(n))
    }

    /// Another history: with the n-th repetition's seed, and each workload delayed by up to [`APART_S`] at random.
    ///
    /// # Errors
    /// As [`Self::repetition`].
    pub fn history(&self, n: u32) -> Result<Setup, LoadError> {
        let mut rng = Pcg64Mcg::seed_from_u64(self.seed(n));
        self.delayed(n, || APART_S * rng.random::<f64>())
    }

    /// With the n-th repetition's seed, and each workload delayed.
    fn delayed(&self, n: u32, mut later_s: impl FnMut() -> f64) -> Result<Setup, LoadError> {
        let mut scenario = self.scenario.clone();
        scenario.seed = self.seed(n);
        for workload in &mut scenario.workloads {
            workload.start_s += later_s();
        }
        let inputs = scenario.link_inputs(&self.path)?;
        Ok(Setup { scenario, inputs })
    }

    /// Seed of the n-th repetition, from 0.
    pub fn seed(&self, n: u32) -> u64 {
        self.scenario.seed.wrapping_add(n.into())
    }

    /// The runs' names in the table.
    pub fn labels(&self) -> Vec<String> {
        let name = &self.scenario.name;
        match self.scenario.runs.as_slice() {
            [_] => vec![name.clone()],
            runs => runs.iter().map(|r| format!("{name}: {}", r.name)).collect(),
        }
    }

    /// Seconds of real time that the laboratory needs for one repetition.
    pub fn seconds(&self) -> f64 {
        self.scenario.duration_s * self.scenario.runs.len() as f64
    }
}

fn check_names(cases: &[Case], folder: &Path) -> Result<(), BadInput> {
    if cases.is_empty() {
        return Err(BadInput(format!("{} has no scenario", folder.display())));
    }
    for (index, case) in cases.iter().enumerate() {
        let name = &case.scenario.name;
        if cases[..index].iter().any(|c| c.scenario.name == *name) {
            let path = case.path.display();
            return Err(BadInput(format!("{path}: there is another \"{name}\"")));
        }
    }
    Ok(())
}

/// Keeps only the named cases, in order.
///
/// # Errors
/// If no case has one of the names.
pub fn select(cases: &mut Vec<Case>, names: &[String]) -> Result<(), BadInput> {
    let known: Vec<_> = cases.iter().map(|c| c.scenario.name.clone()).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(n)) {
        let known = known.join(", ");
        return Err(BadInput(format!(
            "no scenario is named \"{name}\"; there are {known}"
        )));
    }
    if !names.is_empty() {
        cases.retain(|c| names.contains(&c.scenario.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
