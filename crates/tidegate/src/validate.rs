//! `tidegate validate`: compares the simulator with the kernel.
//!
//! Every scenario of a folder runs over the kernel's TCP in the laboratory and over the simulator's in virtual time,
//! with the same file and seeds. The results are compared number by number.

mod args;
mod cases;
mod compare;
mod measure;
mod progress;
mod random;
mod reasons;

use crate::privilege::require_root;
use crate::provenance::{Made, print_json, provenance};
use anyhow::{Context, Result, bail};
pub use args::ValidateArgs;
use cases::Case;
use compare::{compare, is_failure};
use measure::{Measured, measure};
use progress::Shown;
use reasons::Reasons;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_scenario::{Comparison, Provenance, ResultSet, RunResult};
use tidegate_terminal as terminal;

/// Compares and prints; fails if a number differs without a known reason.
pub fn run(args: &ValidateArgs) -> Result<ExitCode> {
    if args.small.is_some() && args.out.is_none() && args.again.is_none() {
        let message = "--small makes scenarios small that are kept, expected --out FOLDER or --again FOLDER beside it";
        return Err(BadInput(message.into()).into());
    }
    if args.confirm.is_some() && args.random.is_none() && args.again.is_none() {
        let message = "--confirm runs random scenarios again, expected --random N or --again FOLDER beside it";
        return Err(BadInput(message.into()).into());
    }
    if let Some(count) = args.random {
        return random::run(args, count);
    }
    if let Some(folder) = &args.again {
        return random::again(args, folder);
    }
    let mut cases = Case::load_all(&args.scenarios)?;
    let labels: Vec<String> = cases.iter().flat_map(Case::labels).collect();
    let reasons = Reasons::load(&args.scenarios, &labels)?;
    cases::select(&mut cases, &args.only)?;
    cases.iter().try_for_each(Case::check)?;
    require_root("the laboratory")?;
    let report = validate(args, &cases, &reasons)?;
    report.show(args, from(args, &cases))?;
    if report.unfinished > 0 {
        bail!("interrupted, {} scenarios were not run", report.unfinished);
    }
    Ok(ExitCode::from(u8::from(report.rows.iter().any(is_failure))))
}

/// The provenance, with the seeds of all repetitions.
fn from(args: &ValidateArgs, cases: &[Case]) -> Provenance {
    let seeds = |case: &Case| (0..args.repeat).map(|n| case.seed(n)).collect::<Vec<_>>();
    provenance(Made::OnKernel, cases.iter().flat_map(seeds))
}

/// Runs one case after the other until all are done, or the user interrupts.
fn validate(args: &ValidateArgs, cases: &[Case], reasons: &Reasons) -> Result<Report> {
    let stop = signals::stop_flag()?;
    let seconds: f64 = cases.iter().map(Case::seconds).sum();
    let shown = Shown::new(seconds * f64::from(args.repeat));
    let mut report = Report::default();
    for (index, case) in cases.iter().enumerate() {
        let measured = measure(case, args.repeat, args.html.is_some(), &stop, &shown)
            .with_context(|| format!("scenario \"{}\"", case.scenario.name))?;
        let Some(measured) = measured else {
            report.unfinished = cases.len() - index;
            break;
        };
        report.add(case, measured, reasons);
    }
    shown.clear();
    Ok(report)
}

/// The results of all cases.
#[derive(Default)]
struct Report {
    rows: Vec<Comparison>,
    /// A set for each run of a scenario, with two runs: the kernel's and the simulator's.
    pairs: Vec<ResultSet>,
    unfinished: usize,
}

/// The rows as `--json` prints them.
#[derive(Serialize)]
struct Rows<'a> {
    rows: &'a [Comparison],
}

impl Report {
    fn add(&mut self, case: &Case, measured: Measured, reasons: &Reasons) {
        let runs = measured.kernel.into_iter().zip(measured.sim);
        for (label, (kernel, sim)) in case.labels().into_iter().zip(runs) {
            warn(&label, &kernel);
            self.rows.extend(compare(&label, &kernel, &sim, reasons));
            let first = |runs: Vec<RunResult>, name: &str| {
                let named = |run| RunResult {
                    name: name.to_owned(),
                    ..run
                };
                runs.into_iter().next().map(named)
            };
            self.pairs.push(ResultSet {
                scenario: label,
                description: case.scenario.description.clone(),
                seed: case.scenario.seed,
                runs: [first(kernel, "kernel"), first(sim, "sim")]
                    .into_iter()
                    .flatten()
                    .collect(),
            });
        }
    }

    fn show(&self, args: &ValidateArgs, from: Provenance) -> Result<()> {
        if let Some(path) = &args.html {
            std::fs::write(
                path,
                tidegate_report::agreement_page(&self.rows, &self.pairs, &from),
            )
            .with_context(|| format!("write {}", path.display()))?;
        }
        if args.json {
            return print_json(&Rows { rows: &self.rows }, from);
        }
        let table = tidegate_report::agreement_table(&self.rows);
        terminal::out().text(&table)?;
        Ok(writeln!(terminal::out())?)
    }
}

/// Prints the laboratory's warnings about its own runs.
fn warn(label: &str, kernel: &[RunResult]) {
    for warning in kernel.iter().flat_map(|run| &run.health.warnings) {
        terminal::warn(format_args!(
            "tidegate: {label}: the laboratory's run should not be counted: {warning}"
        ));
    }
}
