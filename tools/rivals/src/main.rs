//! Compares the simulator's model of cake-autorate with the script itself, which runs in a virtual machine with the
//! kernel's CAKE (`./dev rivals`, `packaging/rivals`).
//!
//! One scenario describes both: `plan` tells the machine its link and the runs to take, `compare` reads the recordings,
//! simulates the same scenario, and prints both side by side.

mod compare;
mod plan;
mod seen;

use anyhow::{Context, Result};
use clap::Parser;
use compare::Comparison;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tidegate_scenario::Scenario;

/// Compare the model of cake-autorate with the script.
#[derive(Debug, Parser)]
enum Args {
    /// Print what the virtual machine is to do for a scenario, for its shell
    Plan {
        /// The scenario
        scenario: PathBuf,
    },
    /// Simulate scenarios, and print the machine's recordings of each beside the results
    Compare(Compare),
}

#[derive(Debug, clap::Args)]
struct Compare {
    /// The scenarios, each with a folder of its name below FOLDER
    #[arg(required = true)]
    scenarios: Vec<PathBuf>,
    /// The folder with the machine's recordings
    #[arg(long, value_name = "FOLDER")]
    seen: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let done = match Args::parse() {
        Args::Plan { scenario } => load(&scenario).and_then(|loaded| {
            let plan = plan::plan(&loaded).with_context(|| scenario.display().to_string())?;
            print!("{plan}");
            Ok(())
        }),
        Args::Compare(args) => compare(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rivals: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn load(path: &Path) -> Result<Scenario> {
    Ok(Scenario::load(path)?)
}

fn compare(args: &Compare) -> Result<()> {
    let mut all = Vec::new();
    for path in &args.scenarios {
        let scenario = load(path)?;
        let folder = args.seen.join(path.file_stem().unwrap_or_default());
        all.extend(Comparison::of(&scenario, path, &folder)?);
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        println!("{}", compare::table(&all));
    }
    Ok(())
}
