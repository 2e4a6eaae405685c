//! `tidegate lab`: run a scenario, show what came of it.

use crate::args::examples::{Example, examples};
use crate::exit::{BadInput, require_root};
use crate::provenance::Made;
use crate::scenarios::{
    ScenarioArgs, Variant, print_json, print_table, text, variants, write_page,
};
use crate::signals;
use crate::steer::LiveAgent;
use anyhow::{Result, bail};
use clap::Args;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_lab::{IpVersion, Options, Progress, Refused, run_scenario};
use tidegate_scenario::{LoadError, ResultSet, Scenario};
use tidegate_terminal::Bar;

/// How `lab` is used.
const EXAMPLES: &[Example] = &[
    (
        "sudo tidegate lab scenarios/lte-download.toml",
        "the kernel's TCP over an emulated LTE link",
    ),
    (
        "sudo tidegate lab scenarios/lte-download.toml --run tide --html lte.html",
        "one of its runs, with pictures",
    ),
];

/// Arguments of `lab`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct LabArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Use IPv6
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

/// Runs every variant, shows each as soon as it is known, and writes the page of all at the end.
pub fn run(args: &LabArgs) -> Result<()> {
    let asked = &args.scenario;
    let variants = variants(asked, &text(asked)?, &asked.vary)?;
    // Nor must what cannot be done cost the time of what was before it.
    variants
        .iter()
        .try_for_each(|variant| check(&variant.scenario, &asked.scenario))?;
    require_root("the laboratory")?;
    let stop = signals::stop_flag()?;
    let mut sets = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        let set = measure(args, variant, &stop)?;
        print_table(asked, &set)?;
        let done = set.runs.len();
        sets.push(set);
        let runs = variant.scenario.runs.len();
        if done < runs {
            write_page(asked, &sets, Made::OnKernel)?;
            bail!(
                "interrupted after {done} of {runs} runs of variant {} of {}",
                number + 1,
                variants.len()
            );
        }
    }
    write_page(asked, &sets, Made::OnKernel)?;
    print_json(asked, sets, Made::OnKernel)
}

/// Refuses what the laboratory cannot do, with the line where it stands if it is one value.
fn check(scenario: &Scenario, path: &Path) -> Result<()> {
    tidegate_lab::check(scenario).map_err(|error| match error.downcast::<Refused>() {
        Ok(refused) => {
            LoadError::of_value(&refused.place, &refused.value, refused.message, path).into()
        }
        Err(error) => BadInput(format!("{}: {error:#}", path.display())).into(),
    })
}

fn measure(args: &LabArgs, variant: &Variant, stop: &Arc<AtomicBool>) -> Result<ResultSet> {
    let bar = bar();
    let options = Options {
        steer: Some(&LiveAgent),
        stop: Arc::clone(stop),
        progress: &|p| show(&bar, p),
        series: args.scenario.html.is_some() || args.scenario.series,
        ip: if args.ipv6 {
            IpVersion::V6
        } else {
            IpVersion::V4
        },
        ..Options::default()
    };
    let set = run_scenario(&variant.scenario, &variant.inputs, &options);
    bar.end();
    set
}

fn bar() -> Bar {
    Bar::new(0, "{msg:12} {wide_bar} {pos}/{len} s")
}

fn show(bar: &Bar, p: &Progress) {
    let each = p.duration.as_secs();
    bar.length(each * p.runs as u64);
    bar.position(each * p.index as u64 + p.elapsed.as_secs());
    bar.message(&p.run);
}
