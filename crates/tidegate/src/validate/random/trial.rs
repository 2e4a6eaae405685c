//! A random scenario in its own folder.

use super::super::cases::Case;
use super::draw::draw;
use anyhow::{Context, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tidegate_command::exit::BadInput;
use tidegate_scenario::{ResultSet, RunResult};
use toml::Table;

/// File names: the scenario, and the kernel's results.
const SCENARIO: &str = "scenario.toml";
const KERNEL: &str = "kernel.json";

/// The kernel's results.
#[derive(Debug)]
pub enum Kernel {
    /// The result with curves, followed by those of further runs, if there were any.
    Counts(Vec<RunResult>),
    /// Why the laboratory's run does not count.
    Doubtful(String),
    /// It was stopped before.
    NotRun,
}

impl Kernel {
    /// The runs that count.
    pub fn runs(&self) -> &[RunResult] {
        match self {
            Self::Counts(runs) => runs,
            Self::Doubtful(_) | Self::NotRun => &[],
        }
    }
}

/// A scenario with the kernel's results.
#[derive(Debug)]
pub struct Trial {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The scenario.
    pub case: Case,
    /// The result.
    pub kernel: Kernel,
}

impl Trial {
    /// Writes the scenario of this seed, with its recordings, into its own folder in `folder`.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn draw(seed: u64, folder: &Path) -> Result<Self> {
        let drawn = draw(seed);
        let name = format!("random-{seed}");
        let folder = folder.join(&name);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            // Remove the result of an earlier scenario with this name.
            match fs::remove_file(folder.join(KERNEL)) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            for (name, trace) in &drawn.traces {
                fs::write(folder.join(name), trace)?;
            }
            Ok(())
        };
        write().map_err(|e| BadInput(format!("cannot write into {}: {e}", folder.display())))?;
        let case = write_case(&folder.join(SCENARIO), &drawn.table)?;
        Ok(Self {
            name,
            folder,
            case,
            kernel: Kernel::NotRun,
        })
    }

    /// The scenarios of a folder that have kernel results, ordered by name.
    ///
    /// # Errors
    /// If there are none, or one is malformed.
    pub fn load_all(folder: &Path) -> Result<Vec<Self>> {
        let unreadable = |e| BadInput(format!("cannot read the folder {}: {e}", folder.display()));
        let entries = fs::read_dir(folder).map_err(unreadable)?;
        let mut folders = entries
            .map(|entry| Ok(entry.map_err(unreadable)?.path()))
            .collect::<Result<Vec<_>>>()?;
        folders.retain(|path| path.join(KERNEL).exists());
        folders.sort();
        if folders.is_empty() {
            let message = format!(
                "{} has no results of the kernel's, expected folders with {SCENARIO} and {KERNEL}, as `validate --random` \
                 keeps them with --out",
                folder.display()
            );
            return Err(BadInput(message).into());
        }
        folders.into_iter().map(Self::load).collect()
    }

    fn load(folder: PathBuf) -> Result<Self> {
        let path = folder.join(KERNEL);
        let malformed = |e: String| BadInput(format!("{}: {e}", path.display()));
        let text = fs::read_to_string(&path).map_err(|e| malformed(e.to_string()))?;
        let set: ResultSet = serde_json::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        if set.runs.is_empty() {
            return Err(malformed("it has no run, expected one".into()).into());
        }
        let name = folder.file_name().unwrap_or_default();
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            case: Case::load(folder.join(SCENARIO))?,
            folder,
            kernel: Kernel::Counts(set.runs),
        })
    }

    /// Writes the kernel's results, if they count.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn keep(&self) -> Result<()> {
        let Kernel::Counts(runs) = &self.kernel else {
            return Ok(());
        };
        let set = ResultSet {
            scenario: self.case.scenario.name.clone(),
            description: self.case.scenario.description.clone(),
            seed: self.case.scenario.seed,
            runs: runs.clone(),
        };
        let path = self.folder.join(KERNEL);
        let text = serde_json::to_string(&set).context("a result as JSON")?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The scenario file's keys and values.
    ///
    /// # Errors
    /// If the file can no longer be read.
    pub fn table(&self) -> Result<Table> {
        Ok(toml::from_str(&fs::read_to_string(
            self.folder.join(SCENARIO),
        )?)?)
    }
}

/// Writes a scenario, and reads it back as other commands would.
///
/// # Errors
/// If one of the sides cannot run it, or the file cannot be written.
pub fn write_case(path: &Path, table: &Table) -> Result<Case> {
    fs::write(path, toml::to_string(table)?)
        .map_err(|e| BadInput(format!("cannot write {}: {e}", path.display())))?;
    let case = Case::load(path.to_owned())?;
    case.check()?;
    Ok(case)
}
