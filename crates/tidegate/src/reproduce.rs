//! `tidegate reproduce`: repeats the papers' figures and compares them with what the papers print.

mod args;
mod kernel;
mod perform;

use crate::privilege::require_root;
use crate::provenance::{Made, print_json, provenance};
use anyhow::{Context, Result};
pub use args::ReproduceArgs;
use perform::perform;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use tidegate_command::exit::BadInput;
use tidegate_command::json;
use tidegate_study::{Extent, Figure, Paper, Study, page, table};
use tidegate_terminal as terminal;

/// Runs the requested figures and shows the results.
pub fn run(args: &ReproduceArgs) -> Result<()> {
    let extent = Extent {
        quick: args.quick,
        traces: traces(args)?,
        lab: args.lab,
    };
    if args.what.is_empty() {
        return list(args.json);
    }
    let (paper, figures, named) = select(&args.what, &extent)?;
    let (figures, left_out) = match args.lab {
        true => kernel::narrow(figures, paper.lab.figures, named)?,
        false => (figures, Vec::new()),
    };
    let seeds = args.seeds.unwrap_or(paper.seeds.of(&extent));
    let study = Study::new(figures, seeds.into())
        .without(left_out)
        .measured(paper.measure);
    if let Some(folder) = &args.scenarios {
        return write_scenarios(folder, &study);
    }
    if args.lab {
        require_root("the laboratory")?;
    }
    let (results, kernel) = perform(args, &study)?;
    let report = study.report(&results, kernel.as_ref());
    let made = match args.lab {
        true => Made::OnKernel,
        false => Made::InVirtualTime,
    };
    let seeds = study.jobs().into_iter().map(|job| study.identity(job).1);
    let from = provenance(made, seeds);
    if let Some(path) = &args.html {
        let introduction = match &kernel {
            Some(_) => format!("{} {}", paper.introduction, paper.lab.method),
            None => paper.introduction.into(),
        };
        let page = page(
            paper.title,
            &introduction,
            &study,
            &results,
            kernel.as_ref(),
            &from,
        );
        std::fs::write(path, page).with_context(|| format!("write {}", path.display()))?;
    }
    if args.json {
        return print_json(&report, from);
    }
    let mut out = terminal::out();
    out.text(&table(&report))?;
    if kernel.is_some() {
        writeln!(out, "{}", paper.lab.method)?;
    }
    Ok(())
}

/// A paper's figures, for JSON.
#[derive(Serialize)]
struct Contents {
    id: &'static str,
    title: &'static str,
    figures: Vec<Heading>,
}

/// A figure's heading, for JSON.
#[derive(Serialize)]
struct Heading {
    id: &'static str,
    title: &'static str,
}

/// Lists the papers and figures.
fn list(json: bool) -> Result<()> {
    let extent = Extent {
        quick: true,
        ..Extent::default()
    };
    let contents = |paper: Paper| -> Result<Contents> {
        let figures = (paper.figures)(&extent)?.into_iter();
        Ok(Contents {
            id: paper.id,
            title: paper.title,
            figures: figures
                .map(|Figure { id, title, .. }| Heading { id, title })
                .collect(),
        })
    };
    let papers = tidegate_reproductions::papers().into_iter().map(contents);
    let papers = papers.collect::<Result<Vec<_>>>()?;
    if json {
        return json::print(&papers);
    }
    let mut out = terminal::out();
    for paper in papers {
        writeln!(out, "tidegate reproduce {}: {}", paper.id, paper.title)?;
        for figure in paper.figures {
            writeln!(out, "  {:18} {}", figure.id, figure.title)?;
        }
    }
    Ok(())
}

/// The folder of recordings. Scenarios that we write are run from other folders, so they need its absolute path.
fn traces(args: &ReproduceArgs) -> Result<Option<PathBuf>> {
    match (&args.traces, &args.scenarios) {
        (Some(folder), Some(_)) => Ok(Some(std::path::absolute(folder)?)),
        (folder, _) => Ok(folder.clone()),
    }
}

/// The requested paper with its requested figures, or all its figures if none was named. Whether any was.
fn select(words: &[String], extent: &Extent) -> Result<(Paper, Vec<Figure>, bool)> {
    let mut papers = tidegate_reproductions::papers();
    let first = words.first();
    let named = papers
        .iter()
        .position(|p| first.is_some_and(|word| p.id == word));
    let words = &words[usize::from(named.is_some())..];
    let others = papers.iter().map(|p| p.id).collect::<Vec<_>>().join(", ");
    let paper = papers.swap_remove(named.unwrap_or(0));
    // Only the folder of recordings can make this fail.
    let bad_recordings = |error: anyhow::Error| BadInput(format!("--traces: {error:#}"));
    let mut figures = (paper.figures)(extent).map_err(bad_recordings)?;
    let known: Vec<&str> = figures.iter().map(|figure| figure.id).collect();
    let wanted: Vec<String> = words.iter().map(|word| figure_id(word)).collect();
    if let Some(word) = wanted.iter().find(|word| !known.contains(&word.as_str())) {
        let known = known.join(", ");
        let complaint = match named {
            Some(_) => format!(
                "{} has no figure \"{word}\", expected one of {known}",
                paper.id
            ),
            None => format!(
                "there is no paper or law \"{word}\", expected one of {others}, or a figure of {}: {known}",
                paper.id
            ),
        };
        return Err(BadInput(complaint).into());
    }
    if !wanted.is_empty() {
        figures.retain(|figure| wanted.iter().any(|word| word == figure.id));
    }
    Ok((paper, figures, !wanted.is_empty()))
}

/// The id of a figure: `15` is `fig-15`, and `5.4` is `fig-5.4`.
fn figure_id(word: &str) -> String {
    let is_number = word.split('.').all(|part| part.parse::<u32>().is_ok());
    match is_number {
        true => format!("fig-{word}"),
        false => word.into(),
    }
}

/// Writes each case as a scenario file with its name.
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
