//! `tidegate reproduce`: the papers' figures, done again and laid beside what the papers print.

use crate::args::ReproduceArgs;
use crate::exit::BadInput;
use crate::rows::Rows;
use crate::{signals, sweep};
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use tidegate_reproduce::{Extent, Figure, Paper, Results, Study, page, table};
use tidegate_sim::Options;

/// Runs what was asked for, and shows it.
pub fn run(args: &ReproduceArgs) -> Result<()> {
    let extent = Extent {
        quick: args.quick,
        traces: args.traces.clone(),
    };
    let (paper, figures) = select(&args.what, &extent)?;
    let seeds = args.seeds.unwrap_or(paper.seeds.of(&extent));
    let study = Study::new(figures, seeds.into());
    if let Some(folder) = &args.scenarios {
        return write_scenarios(folder, &study);
    }
    let results = perform(args, &study)?;
    let report = study.report(&results);
    if let Some(path) = &args.html {
        let page = page(paper.title, paper.introduction, &study, &results);
        std::fs::write(path, page).with_context(|| format!("write {}", path.display()))?;
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", table(&report))?;
    }
    Ok(())
}

/// The paper asked for, and those of its figures that were; all if none was.
fn select(words: &[String], extent: &Extent) -> Result<(Paper, Vec<Figure>)> {
    let mut papers = tidegate_reproductions::papers();
    let first = words.first();
    let named = papers
        .iter()
        .position(|p| first.is_some_and(|word| p.id == word));
    let words = &words[usize::from(named.is_some())..];
    let paper = papers.swap_remove(named.unwrap_or(0));
    // All that can go wrong with them is the folder of recordings.
    let bad_recordings = |error: anyhow::Error| BadInput(format!("--traces: {error:#}"));
    let mut figures = (paper.figures)(extent).map_err(bad_recordings)?;
    let known: Vec<&str> = figures.iter().map(|figure| figure.id).collect();
    let wanted: Vec<String> = words.iter().map(|word| figure_id(word)).collect();
    if let Some(word) = wanted.iter().find(|word| !known.contains(&word.as_str())) {
        let known = known.join(", ");
        return Err(BadInput(format!(
            "{} has no figure \"{word}\"; it has {known}",
            paper.id
        ))
        .into());
    }
    if !wanted.is_empty() {
        figures.retain(|figure| wanted.iter().any(|word| word == figure.id));
    }
    Ok((paper, figures))
}

/// `15` is `fig-15`.
fn figure_id(word: &str) -> String {
    match word.parse::<u32>() {
        Ok(number) => format!("fig-{number}"),
        Err(_) => word.into(),
    }
}

/// Each case as a file, named after it.
fn write_scenarios(folder: &Path, study: &Study) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    for case in study.cases() {
        let keep = |c: char| {
            if c.is_alphanumeric() || ".-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let name: String = case.name.chars().map(keep).collect();
        let path = folder.join(format!("{name}.toml"));
        std::fs::write(&path, toml::to_string(&case.scenario)?)
            .with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn perform(args: &ReproduceArgs, study: &Study) -> Result<Results> {
    let jobs = study.jobs();
    let stop = signals::stop_flag()?;
    let seconds: f64 = jobs.iter().map(|&job| study.duration_s(job)).sum();
    let bar = bar((seconds * 1e3) as u64);
    let options = Options {
        stop,
        progress: &|further| bar.inc(further.as_millis() as u64),
        series: false,
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut results = Results::default();
    let keys = ["case", "seed"].map(String::from);
    let open = |path| Rows::open(path, &keys, false);
    let mut rows = args.out.as_deref().map(open).transpose()?;
    let done = sweep::in_order(
        jobs.len(),
        args.jobs.map_or(cores, usize::from),
        |number| study.perform(jobs[number], &options),
        |number, result| {
            if let Some(rows) = &mut rows {
                let (case, seed) = study.identity(jobs[number]);
                rows.append(&[case.into(), seed.to_string()], &result)?;
            }
            study.note(jobs[number], result, &mut results);
            Ok(())
        },
        || bar.tick(),
    );
    bar.finish_and_clear();
    let done = done?;
    if done < jobs.len() {
        bail!("interrupted after {done} of {} runs", jobs.len());
    }
    Ok(results)
}

/// A bar over milliseconds of virtual time.
fn bar(length: u64) -> ProgressBar {
    let template = "{wide_bar} {percent}%  {elapsed} of {duration}, {eta} to go";
    let style = ProgressStyle::with_template(template).expect("a template of known keys");
    // Drawn to standard error, and not at all where that is no terminal.
    ProgressBar::new(length).with_style(style)
}
