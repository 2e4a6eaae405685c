//! Takes the measurements of `docs/measurements.md` again and writes them into the page (`./dev measurements`).
//!
//! The page is prose around tables. Each table stands between two marks, with the command that prints its numbers and
//! the date; a table that is not taken now stays as it is, with its date.

mod page;
mod rows;
mod tables;
mod take;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use page::Page;
use rows::{ROWS, Row};
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use take::{Setting, Taker};

/// Take the measurements of docs/measurements.md again, and write them into it.
#[derive(Debug, Parser)]
struct Args {
    /// Tables to take; without names all that do not take long
    rows: Vec<String>,
    /// Take the tables that take long, too
    #[arg(long)]
    long: bool,
    /// Take none, but list the tables, how long they take and when they were taken
    #[arg(long)]
    list: bool,
    /// Write tables even if the laboratory says that the machine was too busy in some of their runs; the page says so
    #[arg(long)]
    doubtful: bool,
    /// A folder with recordings for the table of recorded links: Mahimahi's traces (*.down), and rate series (*.csv)
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
    /// The page
    #[arg(long, value_name = "FILE", default_value = "docs/measurements.md")]
    page: PathBuf,
    /// The program whose commands print the numbers
    #[arg(long, value_name = "FILE", default_value = "target/release/tidegate")]
    program: PathBuf,
    /// The date, for the page
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: Option<String>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("measurements: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let read = || std::fs::read_to_string(&args.page);
    let text = read().with_context(|| format!("read {}", args.page.display()))?;
    let page = Page::parse(&text).with_context(|| args.page.display().to_string())?;
    if args.list {
        // A reader that has read enough has closed the pipe.
        let _ = std::io::stdout().write_all(list(&page).as_bytes());
        return Ok(());
    }
    let date = args
        .date
        .as_deref()
        .context("expected --date, for the page")?;
    let wanted = select(args)?;
    for row in &wanted {
        ensure!(
            page.has(row.id),
            "{}: no table \"{}\"",
            args.page.display(),
            row.id
        );
        ensure!(
            !row.needs_traces || args.traces.is_some(),
            "{}: expected --traces with the folder of recordings",
            row.id
        );
    }
    let setting = Setting {
        program: args.program.clone(),
        traces: args.traces.clone(),
    };
    let mut taker = Taker::new(setting)?;
    let mut failed = Vec::new();
    for (nth, row) in wanted.iter().enumerate() {
        eprintln!(
            "{} of {}: {}, about {}",
            nth + 1,
            wanted.len(),
            row.id,
            minutes(row.minutes)
        );
        match taker.take(row) {
            Ok(taken) if taken.doubted() > 0 && !args.doubtful => {
                eprintln!(
                    "{}: the machine was too busy in {} runs; its numbers stay as they were (--doubtful writes them)",
                    row.id,
                    taken.doubted()
                );
                failed.push(row.id);
            }
            Ok(taken) => {
                // After each table, so that an interrupt loses only the current one. The page may have been edited
                // meanwhile.
                let text = read()?;
                let written = Page::parse(&text)?.with(row.id, &taken.block(date));
                std::fs::write(&args.page, written)
                    .with_context(|| format!("write {}", args.page.display()))?;
            }
            Err(error) if taker.is_interrupted() => {
                return Err(error.context(format!("interrupted in {}", row.id)));
            }
            Err(error) => {
                eprintln!("{}: {error:#}; its numbers stay as they were", row.id);
                failed.push(row.id);
            }
        }
    }
    if !failed.is_empty() {
        bail!("not taken: {}", failed.join(", "));
    }
    Ok(())
}

/// The tables that were asked for, in the page's order.
fn select(args: &Args) -> Result<Vec<&'static Row>> {
    let known = || ROWS.iter().map(|row| row.id);
    if let Some(unknown) = args.rows.iter().find(|id| !known().any(|k| k == *id)) {
        let known = known().collect::<Vec<_>>().join(", ");
        bail!("there is no table \"{unknown}\", expected {known}");
    }
    let wanted = |row: &&Row| match args.rows.is_empty() {
        true => {
            let is_short = !row.is_long() || row.is_of_others();
            (args.long || is_short) && (!row.needs_traces || args.traces.is_some())
        }
        false => args.rows.iter().any(|id| id == row.id),
    };
    Ok(ROWS.iter().filter(wanted).collect())
}

fn list(page: &Page) -> String {
    let mut text = String::new();
    for row in ROWS {
        let long = if row.is_long() { ", --long" } else { "" };
        let traces = if row.needs_traces { ", --traces" } else { "" };
        let _ = writeln!(
            text,
            "{:16} {}{long}{traces}; {}",
            row.id,
            minutes(row.minutes),
            page.taken(row.id).unwrap_or("not on the page")
        );
        for command in row.commands {
            let _ = writeln!(text, "    {command}");
        }
    }
    text
}

fn minutes(minutes: f64) -> String {
    match minutes {
        m if m < 1.0 => format!("{:.0} s", m * 60.0),
        m => format!("{m:.0} min"),
    }
}
