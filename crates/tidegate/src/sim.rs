//! `tidegate sim`: a scenario in virtual time, its variants and seeds over all cores.

mod args;
mod out;

use crate::provenance::Made;
use crate::scenarios::{Variant, print_json, print_table, text, variants, write_page};
use anyhow::{Result, bail};
pub use args::SimArgs;
use out::Out;
use std::io::Write;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_scenario::{ResultSet, Run, RunResult, Scenario, Variation};
use tidegate_sim::{Options, check, in_order, run_one};
use tidegate_terminal::Bar;

/// Does the runs that the output file does not hold yet, and shows each variant as soon as it is complete.
pub fn run(args: &SimArgs) -> Result<()> {
    let asked = &args.scenario;
    let text = text(asked)?;
    let variations = with_seeds(args, &text)?;
    let variants = variants(asked, &text, &variations)?;
    for variant in &variants {
        check(&variant.scenario)?;
    }
    let (mut out, jobs) = Out::new(args, &variants, &variations)?;
    let mut results = Results::new(&variants);
    let stop = signals::stop_flag()?;
    let bar = bar(&jobs, &variants);
    let done = perform(args, &variants, &jobs, &stop, &bar, |job, result| {
        out.take(&job, &result)?;
        if results.add(job, result) && !out.is_kept() {
            bar.suspend(|| show(args, &variants, &results.sets))?;
        }
        Ok(())
    });
    bar.end();
    let done = done?;
    write_page(asked, &results.sets, Made::InVirtualTime)?;
    if done < jobs.len() {
        let advice = if out.is_kept() {
            "; --resume goes on"
        } else {
            ""
        };
        bail!("interrupted after {done} of {} runs{advice}", jobs.len());
    }
    print_json(asked, results.sets, Made::InVirtualTime)
}

/// Shows the last of the sets; with several seeds, their means once all are known.
fn show(args: &SimArgs, variants: &[Variant], sets: &[ResultSet]) -> Result<()> {
    let asked = &args.scenario;
    let seeds = args.seeds as usize;
    let are_all = sets.len().is_multiple_of(seeds);
    match &sets[sets.len() - seeds.min(sets.len())..] {
        [set] if seeds == 1 => print_table(asked, set),
        of_seeds if are_all && !asked.json => Ok(writeln!(
            tidegate_terminal::out(),
            "{}",
            tidegate_study::means(
                of_seeds,
                variants[sets.len() - 1].scenario.plays_one_piece()
            )
        )?),
        _ => Ok(()),
    }
}

/// One run of one variant.
#[derive(Clone, Copy)]
struct Job {
    variant: usize,
    run: usize,
}

/// Names of the columns that identify a row.
fn identifiers(variations: &[Variation]) -> Vec<String> {
    let keys = variations.iter().flat_map(|v| &v.keys);
    let varied = keys.map(|key| key.join("."));
    varied.chain(["run", "key"].map(str::to_owned)).collect()
}

/// The values that identify a row, in the columns' order.
struct Identities<'a>(&'a [Variant]);

impl Identities<'_> {
    fn of(&self, job: &Job) -> Vec<String> {
        let variant = &self.0[job.variant];
        identity(variant, &variant.scenario.runs[job.run])
    }

    /// Identities of every run of every variant, also of those that were not asked for.
    fn of_all(&self) -> Vec<Vec<String>> {
        let of_variant = |variant: &Variant| {
            let runs = variant.scenario.runs.iter().chain(&variant.left_out);
            runs.map(|run| identity(variant, run)).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_variant).collect()
    }
}

fn identity(variant: &Variant, run: &Run) -> Vec<String> {
    let own = [run.name.clone(), variant.keys.of(run).to_string()];
    variant.values.iter().cloned().chain(own).collect()
}

/// The variations asked for, and that of the seed, which varies fastest.
fn with_seeds(args: &SimArgs, text: &str) -> Result<Vec<Variation>> {
    let asked = &args.scenario;
    let mut variations = asked.variations()?;
    if args.seeds > 1 {
        if variations
            .iter()
            .any(|v| v.keys.iter().any(|key| key == &["seed"]))
        {
            return Err(
                BadInput("both --seeds and --vary seed, expected one of them".into()).into(),
            );
        }
        let path = &asked.scenario;
        let scenario =
            Scenario::parse(text, path).map_err(|error| error.with_missing_files(text, path))?;
        let first = scenario.seed as i64;
        let Some(end) = first.checked_add(args.seeds.into()) else {
            return Err(BadInput(format!(
                "--seeds {} after seed = {first}, expected none beyond {}",
                args.seeds,
                i64::MAX
            ))
            .into());
        };
        let seeds = (first..end).map(toml::Value::Integer);
        variations.push(Variation::of(vec!["seed".into()], seeds));
    }
    Ok(variations)
}

/// Runs the jobs; returns how many were done.
fn perform(
    args: &SimArgs,
    variants: &[Variant],
    jobs: &[Job],
    stop: &Arc<AtomicBool>,
    bar: &Bar,
    mut take: impl FnMut(Job, RunResult) -> Result<()>,
) -> Result<usize> {
    let options = Options {
        stop: Arc::clone(stop),
        progress: &|further| bar.further(further.as_millis() as u64),
        series: args.scenario.html.is_some() || args.scenario.series,
        ..Options::default()
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = args.jobs.map_or(cores, usize::from);
    let work = |number: usize| {
        let job = jobs[number];
        let Variant {
            scenario, inputs, ..
        } = &variants[job.variant];
        run_one(scenario, inputs, &scenario.runs[job.run], &options)
    };
    in_order(
        jobs.len(),
        threads,
        work,
        |number, result| take(jobs[number], result),
        || bar.tick(),
    )
}

/// The results so far, one set per variant.
struct Results<'a> {
    variants: &'a [Variant],
    sets: Vec<ResultSet>,
    /// The variant of the last set.
    variant: Option<usize>,
}

impl<'a> Results<'a> {
    fn new(variants: &'a [Variant]) -> Self {
        Self {
            variants,
            sets: Vec::new(),
            variant: None,
        }
    }

    /// Adds the next result in order; returns whether its set is complete now.
    fn add(&mut self, job: Job, result: RunResult) -> bool {
        let scenario = &self.variants[job.variant].scenario;
        if self.variant != Some(job.variant) {
            self.variant = Some(job.variant);
            self.sets.push(ResultSet {
                scenario: scenario.name.clone(),
                description: scenario.description.clone(),
                seed: scenario.seed,
                runs: Vec::new(),
            });
        }
        if let Some(set) = self.sets.last_mut() {
            set.runs.push(result);
        }
        job.run + 1 == scenario.runs.len()
    }
}

/// A progress bar over milliseconds of virtual time.
fn bar(jobs: &[Job], variants: &[Variant]) -> Bar {
    let ms = |job: &Job| {
        let scenario = &variants[job.variant].scenario;
        Duration::from_secs_f64(scenario.duration_s).as_millis() as u64
    };
    let template = "{wide_bar} {percent}%  {elapsed} of {duration}, {eta} to go";
    // On standard error; hidden if that is no terminal.
    Bar::new(jobs.iter().map(ms).sum(), template)
}
