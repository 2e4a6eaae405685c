//! Downloads over other projects' QUIC stacks, and over a tunnel, through the laboratory's links: untouched and held,
//! in turn.

mod case;
mod inside;
mod measure;
mod table;

use anyhow::{Result, ensure};
use case::{Beside, Case, Kind, STACKS, TUNNEL};
use clap::Parser;
use clap::builder::PossibleValuesParser;
use laboratory::Link;
use measure::{Machine, Measured};
use serde::Serialize;
use std::path::PathBuf;

/// Downloads over QUIC stacks and a tunnel, untouched and held.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stacks, or the tunnel; all if none is named
    #[arg(value_parser = names())]
    what: Vec<String>,
    /// The `tidegate` program
    #[arg(long, value_name = "FILE", default_value = "target/release/tidegate")]
    tidegate: PathBuf,
    /// Folder of the stacks' programs
    #[arg(long, value_name = "FOLDER", default_value = "target/stacks")]
    programs: PathBuf,
    /// Length of each download
    #[arg(long, default_value_t = 36)]
    seconds: u32,
    /// Only this congestion control
    #[arg(long, value_name = "NAME")]
    control: Option<String>,
    /// Only this link: cell or constant
    #[arg(long)]
    link: Option<Link>,
    /// Only with this beside the download: nothing or tcp
    #[arg(long, value_name = "WHAT")]
    beside: Option<Beside>,
    /// The cell's seed
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// A case and its results.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    case: Case,
    untouched: Measured,
    held: Measured,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let cases = cases(&arguments);
    ensure!(
        !cases.is_empty(),
        "no case matches these options, expected at least one"
    );
    let machine = Machine::new(&arguments)?;
    let mut rows = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        eprintln!("{} of {}: {case}", number + 1, cases.len());
        rows.push(Row {
            case: case.clone(),
            untouched: machine.measure(case, false)?,
            held: machine.measure(case, true)?,
        });
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        println!("{}", table::table(&rows));
    }
    Ok(())
}

/// The names that may be given.
fn names() -> PossibleValuesParser {
    STACKS.iter().map(|stack| stack.name).chain([TUNNEL]).into()
}

/// The cases that match the arguments.
fn cases(arguments: &Arguments) -> Vec<Case> {
    let wanted = |name: &str| arguments.what.is_empty() || arguments.what.iter().any(|w| w == name);
    let stacks = STACKS.iter().filter(|stack| wanted(stack.name));
    let mut kinds: Vec<Kind> = stacks
        .flat_map(|stack| {
            let kind = |control: &&'static str| Kind::Quic {
                stack: stack.name,
                control,
            };
            stack.controls.iter().map(kind)
        })
        .collect();
    if wanted(TUNNEL) {
        kinds.push(Kind::Tunnel);
    }
    kinds.retain(|kind| match kind {
        Kind::Quic { control, .. } => arguments.control.as_ref().is_none_or(|c| c == control),
        Kind::Tunnel => arguments.control.is_none(),
    });
    let mut cases = Vec::new();
    for link in Link::ALL {
        for beside in [Beside::Nothing, Beside::Tcp] {
            for kind in &kinds {
                cases.push(Case {
                    kind: kind.clone(),
                    link,
                    beside,
                });
            }
        }
    }
    cases.retain(|case| {
        arguments.link.is_none_or(|link| link == case.link)
            && arguments.beside.is_none_or(|beside| beside == case.beside)
            && (case.beside == Beside::Nothing || !matches!(case.kind, Kind::Tunnel))
    });
    cases
}
