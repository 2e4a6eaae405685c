//! Does the same runs on the real kernel, in the laboratory with the live agent.

use crate::steer::LiveAgent;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tidegate_command::exit::BadInput;
use tidegate_lab::{Options, run_scenario};
use tidegate_scenario::RunResult;
use tidegate_study::{Figure, Job, LeftOut, Study};
use tidegate_terminal::{Bar, warn};

/// The `figures` that the laboratory can run, unless named by the user only those that the paper selects for it; and
/// the reasons why others are left out.
///
/// # Errors
/// If no figure remains.
pub fn narrow(
    figures: Vec<Figure>,
    selection: &[&str],
    named: bool,
) -> Result<(Vec<Figure>, Vec<LeftOut>)> {
    let mut left_out = Vec::new();
    let mut kept = Vec::new();
    for figure in figures {
        let asked = named || selection.contains(&figure.id);
        match refusal(&figure).or_else(|| (!asked).then(|| length(&figure))) {
            Some(reason) => left_out.push(LeftOut {
                figure: figure.id.into(),
                reason,
            }),
            None => kept.push(figure),
        }
    }
    if let (true, Some(first)) = (kept.is_empty(), left_out.first()) {
        let LeftOut { figure, reason } = first;
        return Err(BadInput(format!("{figure} cannot be run on the kernel: {reason}")).into());
    }
    Ok((kept, left_out))
}

/// Why the laboratory cannot run a figure, if it cannot.
fn refusal(figure: &Figure) -> Option<String> {
    let mut cases = figure.cases.iter();
    let refused = cases.find_map(|case| tidegate_lab::check(&case.scenario).err());
    refused.map(|error| error.to_string())
}

/// How long the figure would take.
fn length(figure: &Figure) -> String {
    let seconds = figure.cases.iter().map(|case| case.scenario.duration_s);
    format!(
        "{} runs, {:.0} min in real time; it is run if it is named",
        figure.cases.len(),
        seconds.sum::<f64>() / 60.0
    )
}

/// How often we try a run: a connection that its stack gives up must not waste the hour before it. quinn closes a
/// connection whose receiver has too many gaps; a thousand losses in slow start over an over-buffered link can cause
/// that.
const TRIES: u32 = 3;

/// Does a job; none if it was stopped. A run that fails is repeated with a message.
///
/// # Errors
/// The laboratory's error of the last try.
pub fn perform(
    study: &Study,
    job: Job,
    stop: &Arc<AtomicBool>,
    bar: &Bar,
) -> Result<Option<RunResult>> {
    for _ in 1..TRIES {
        match perform_once(study, job, stop, bar) {
            Err(error) if !stop.load(Ordering::Relaxed) => {
                bar.suspend(|| warn(format_args!("begun again: {error:#}")));
            }
            done => return done,
        }
    }
    perform_once(study, job, stop, bar)
}

fn perform_once(
    study: &Study,
    job: Job,
    stop: &Arc<AtomicBool>,
    bar: &Bar,
) -> Result<Option<RunResult>> {
    let shown = AtomicU64::new(0);
    study.perform_by(job, |scenario, inputs, series| {
        let options = Options {
            steer: Some(&LiveAgent),
            stop: Arc::clone(stop),
            progress: &|p| {
                let elapsed = p.elapsed.as_millis() as u64;
                bar.further(elapsed - shown.swap(elapsed, Ordering::Relaxed));
            },
            series,
            ..Options::default()
        };
        Ok(run_scenario(scenario, inputs, &options)?.runs.pop())
    })
}
