//! Does the runs of a study, and shows the progress.

use super::ReproduceArgs;
use super::kernel;
use anyhow::{Result, bail};
use std::num::NonZero;
use std::sync::Arc;
use tidegate_command::signals;
use tidegate_scenario::RunResult;
use tidegate_sim::{Options, in_order};
use tidegate_study::{Job, Results, Study};
use tidegate_sweep::Rows;
use tidegate_terminal::Bar;

/// The simulator's results of all runs and, if requested, the kernel's.
pub fn perform(args: &ReproduceArgs, study: &Study) -> Result<(Results, Option<Results>)> {
    let stop = signals::stop_flag()?;
    let keys = ["case", "seed", "tcp"].map(String::from);
    // With only one TCP, the rows need not name it.
    let keys = &keys[..if args.lab { 3 } else { 2 }];
    let open = |path| Rows::create(path, keys);
    let mut sweep = Sweep {
        study,
        columns: keys.len(),
        rows: args.out.as_deref().map(open).transpose()?,
        threads: threads(args),
    };
    let simulator = sweep.run("simulator", |job, bar| {
        let options = Options {
            stop: Arc::clone(&stop),
            progress: &|further| bar.further(further.as_millis() as u64),
            ..Options::default()
        };
        study.perform(job, &options)
    })?;
    if !args.lab {
        return Ok((simulator, None));
    }
    let kernel = sweep.run("kernel", |job, bar| kernel::perform(study, job, &stop, bar))?;
    Ok((simulator, Some(kernel)))
}

fn threads(args: &ReproduceArgs) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    args.jobs.map_or(cores, usize::from)
}

/// The settings shared by all jobs of a study.
struct Sweep<'a> {
    study: &'a Study,
    /// How many columns identify a row.
    columns: usize,
    rows: Option<Rows>,
    threads: usize,
}

impl Sweep<'_> {
    /// Runs `work` for every job over that TCP, and returns the results.
    fn run(
        &mut self,
        tcp: &str,
        work: impl Fn(Job, &Bar) -> Result<Option<RunResult>> + Sync,
    ) -> Result<Results> {
        let study = self.study;
        let jobs = study.jobs();
        let seconds: f64 = jobs.iter().map(|&job| study.duration_s(job)).sum();
        let bar = bar((seconds * 1e3) as u64, tcp);
        let mut results = Results::default();
        let done = in_order(
            jobs.len(),
            self.threads,
            |number| work(jobs[number], &bar),
            |number, result| {
                if let Some(rows) = &mut self.rows {
                    let (case, seed) = study.identity(jobs[number]);
                    let identity = [case.into(), seed.to_string(), tcp.into()];
                    rows.append(&identity[..self.columns], &result)?;
                }
                study.note(jobs[number], result, &mut results);
                Ok(())
            },
            || bar.tick(),
        );
        bar.end();
        let done = done?;
        if done < jobs.len() {
            bail!("interrupted after {done} of {} runs, {tcp}", jobs.len());
        }
        Ok(results)
    }
}

/// A progress bar over milliseconds of the scenarios' time.
fn bar(length: u64, tcp: &str) -> Bar {
    let template = "{msg:9} {wide_bar} {percent}%  {elapsed} of {duration}, {eta} to go";
    // On standard error; hidden if that is no terminal.
    let bar = Bar::new(length, template);
    bar.message(tcp);
    bar
}
