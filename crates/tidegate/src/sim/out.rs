//! Where the rows of a sweep go: nowhere, to a file, or to a folder of shards.

use super::SimArgs;
use super::{Identities, Job, identifiers};
use crate::scenarios::Variant;
use anyhow::Result;
use std::collections::VecDeque;
use std::path::Path;
use tidegate_scenario::{RunResult, Variation};
use tidegate_sweep::{Rows, Shards, batches, cells};

/// Writes the rows.
pub struct Out<'a> {
    identities: Identities<'a>,
    columns: Vec<String>,
    to: To,
}

enum To {
    Nowhere,
    File(Box<Rows>),
    Folder(Folder),
}

/// Shards, and the rows of the next ones.
struct Folder {
    shards: Shards,
    /// The first run of each shard to come, and how many runs it holds.
    to_come: VecDeque<(usize, usize)>,
    /// Rows of the next shard, with their identities.
    rows: Vec<(Vec<String>, Vec<String>)>,
}

impl<'a> Out<'a> {
    /// The output that the arguments ask for, and the runs still to do for it, in order.
    pub fn new(
        args: &SimArgs,
        variants: &'a [Variant],
        variations: &[Variation],
    ) -> Result<(Self, Vec<Job>)> {
        let mut new = Self {
            identities: Identities(variants),
            columns: identifiers(variations),
            to: To::Nowhere,
        };
        let mut jobs: Vec<Job> = variants
            .iter()
            .enumerate()
            .flat_map(|(variant, v)| {
                (0..v.scenario.runs.len()).map(move |run| Job { variant, run })
            })
            .collect();
        if let Some(path) = &args.out {
            new.to = match is_folder(path) {
                true => To::Folder(new.folder(path, args.resume, variants, &jobs)?),
                false => To::File(Box::new(new.file(path, args.resume)?)),
            };
            jobs.retain(|job| !new.has(job));
        }
        Ok((new, jobs))
    }

    fn file(&self, path: &Path, resume: bool) -> Result<Rows> {
        match resume {
            true => Rows::resume(path, &self.columns, &self.identities.of_all()),
            false => Rows::create(path, &self.columns),
        }
    }

    fn folder(
        &self,
        path: &Path,
        resume: bool,
        variants: &[Variant],
        jobs: &[Job],
    ) -> Result<Folder> {
        let shards = match resume {
            true => Shards::resume(path, &self.columns, &self.identities.of_all())?,
            false => Shards::create(path)?,
        };
        let size = |variant: &Variant| {
            let runs = variant.scenario.runs.len();
            (runs, runs as f64 * variant.scenario.duration_s)
        };
        let sizes: Vec<_> = variants.iter().map(size).collect();
        let done = |run: usize| shards.row(&self.identities.of(&jobs[run])).is_some();
        let batches = batches(&sizes, done);
        let to_come = batches
            .iter()
            .map(|batch| (batch.runs[0], batch.runs.len()));
        Ok(Folder {
            to_come: to_come.collect(),
            shards,
            rows: Vec::new(),
        })
    }

    fn has(&self, job: &Job) -> bool {
        let identity = self.identities.of(job);
        match &self.to {
            To::Nowhere => false,
            To::File(rows) => rows.has(&identity),
            To::Folder(folder) => folder.shards.row(&identity).is_some(),
        }
    }

    /// Whether rows are written anywhere.
    pub fn is_kept(&self) -> bool {
        !matches!(self.to, To::Nowhere)
    }

    /// Takes the result of the next job.
    pub fn take(&mut self, job: &Job, result: &RunResult) -> Result<()> {
        let identity = self.identities.of(job);
        match &mut self.to {
            To::Nowhere => Ok(()),
            To::File(rows) => rows.append(&identity, result),
            To::Folder(folder) => {
                let row = cells(&identity, result).collect();
                folder.take(&self.columns, identity, row)
            }
        }
    }
}

impl Folder {
    fn take(&mut self, columns: &[String], identity: Vec<String>, row: Vec<String>) -> Result<()> {
        self.rows.push((identity, row));
        match self.to_come.front() {
            Some(&(first, runs)) if runs == self.rows.len() => {
                self.to_come.pop_front();
                let rows = std::mem::take(&mut self.rows);
                self.shards.write(first, columns, rows).map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// Whether the path is a folder, or its name ends in "/".
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}
