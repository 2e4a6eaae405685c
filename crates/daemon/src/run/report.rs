//! What the agent prints while it runs: a line on a terminal, what a dry run would do, or JSON.

use super::RunArgs;
use super::dry_run::DryRun;
use crate::service::Shared;
use crate::top::model::Model;
use crate::top::report::print_json;
use anyhow::Result;
use tidegate_terminal::Bar;

/// The output, and what it has shown so far.
pub struct Report {
    json: bool,
    /// On standard error; hidden if that is no terminal.
    pub line: Bar,
    /// What a dry run has seen so far.
    pub dry_run: DryRun,
    model: Model,
}

impl Report {
    /// The output that the arguments ask for.
    pub fn new(args: &RunArgs) -> Self {
        let line = if args.json {
            Bar::hidden()
        } else {
            Bar::line()
        };
        Self {
            json: args.json,
            line,
            dry_run: DryRun::default(),
            model: Model::default(),
        }
    }

    /// Whether anything is printed: otherwise the kernel's tables need not be read.
    pub fn is_wanted(&self, dry_run: bool) -> bool {
        self.json || dry_run || !self.line.is_hidden()
    }

    /// Prints the present state.
    pub fn show(&mut self, shared: &Shared, dry_run: bool) -> Result<()> {
        if !self.is_wanted(dry_run) {
            return Ok(());
        }
        let Some(snapshot) = shared.with(|watched| watched.snapshot()).transpose()? else {
            return Ok(());
        };
        if dry_run && !self.json {
            let Self { line, dry_run, .. } = self;
            return Ok(line.suspend(|| dry_run.look(&snapshot))?);
        }
        self.model.update(snapshot);
        if self.json {
            return print_json(&self.model);
        }
        self.line.message(self.model.status());
        self.line.tick();
        Ok(())
    }
}
