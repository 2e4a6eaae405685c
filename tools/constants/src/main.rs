//! Sweeps the constants of `tide`, and of mPath's evidence, that rest only on a sweep (`./dev constants`).
//!
//! The laws and mPath are built with the feature `tunable`, in which such a constant is a variable of the process. One
//! after another is set to half of its value, three quarters, four thirds and twice as much. Runs in the simulator
//! judge what the constant is for, beside the same runs with the value in use.

mod sweep;
mod table;
mod variable;

use anyhow::{Result, bail};
use clap::Parser;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use sweep::Sweep;
use tidegate_reproductions::judge::{Judge, Set};
use tidegate_reproductions::{mpath, tide};
use tidegate_terminal::Bar;
use variable::Variable;

/// Sweep constants that rest on sweeps.
#[derive(Debug, Parser)]
struct Args {
    /// Only constants whose names contain one of these words
    names: Vec<String>,
    /// Turn mechanisms off, one after another, instead of sweeping constants; every judge judges each
    #[arg(long)]
    ablate: bool,
    /// List them, with their judges, and run nothing
    #[arg(long)]
    list: bool,
    /// Only half and twice of each
    #[arg(long)]
    coarse: bool,
    /// Use other links, round trips and mixes, by which no value was chosen
    #[arg(long)]
    check: bool,
    /// Recordings beside the generated cells
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
    /// How often every run is repeated
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Only these judges
    #[arg(long, value_name = "JUDGE")]
    judge: Vec<String>,
    /// Runs at the same time; as many as there are processors
    #[arg(long)]
    jobs: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("constants: {error:#}");
            // An unknown name, or recordings that cannot be read.
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let chosen = |name: &str| {
        args.names.is_empty() || args.names.iter().any(|word| name.contains(word.as_str()))
    };
    let all = match args.ablate {
        true => Variable::mechanisms(),
        false => Variable::all(),
    };
    let variables: Vec<Variable> = all
        .into_iter()
        .filter(|variable| chosen(variable.name))
        .collect();
    if variables.is_empty() {
        let kind = if args.ablate {
            "mechanism"
        } else {
            "constant that is swept"
        };
        bail!(
            "no {kind} has {} in its name; --list says which there are",
            args.names.join(" or ")
        );
    }
    if args.list {
        println!("{}", table::listed(&variables));
        return Ok(());
    }
    let judges = judges(args)?;
    let sweep = Sweep {
        judges: &judges,
        seeds: args.seeds,
        threads: args.jobs.unwrap_or_else(processors),
        coarse: args.coarse,
    };
    let bar = bar(sweep.milliseconds(&variables));
    let swept = sweep.run(&variables, &bar)?;
    bar.end();
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&swept)?),
        false if args.ablate => print!(
            "{}{}{}",
            table::table(&swept),
            table::worth(&swept),
            table::unseen(&swept)
        ),
        false => print!("{}{}", table::table(&swept), table::unseen(&swept)),
    }
    Ok(())
}

fn judges(args: &Args) -> Result<Vec<Judge>> {
    let set = if args.check { Set::Check } else { Set::Choice };
    let mut judges = tide::judges::all(set, args.traces.as_deref())?;
    judges.extend(mpath::judges::all());
    if let Some(unknown) = args
        .judge
        .iter()
        .find(|id| !judges.iter().any(|j| j.id == **id))
    {
        let known: Vec<_> = judges.iter().map(|judge| judge.id).collect();
        bail!(
            "no judge \"{unknown}\", expected one of {}",
            known.join(", ")
        );
    }
    judges.retain(|judge| args.judge.is_empty() || args.judge.iter().any(|id| id == judge.id));
    Ok(judges)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// A progress bar over milliseconds of the scenarios' time.
fn bar(length: u64) -> Bar {
    Bar::new(
        length,
        "{wide_bar} {percent}%  {elapsed}, {eta} to go  {msg}",
    )
}
