//! `tidegate lab`: runs a scenario over kernel TCP and shows the results.

use crate::privilege::require_root;
use crate::provenance::Made;
use crate::scenarios::{
    ScenarioArgs, Variant, print_json, print_table, text, variants, write_page,
};
use crate::steer::LiveAgent;
use anyhow::{Result, bail};
use clap::Args;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_lab::{Caller, Commands, IpVersion, Options, Progress, Refused, Rights, run_scenario};
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
    (
        "sudo tidegate lab scenarios/responsiveness-probe.toml --allow-commands",
        "a scenario that brings commands, which run as you",
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
    /// Run the commands that the scenario brings: as the caller of sudo, doas or pkexec, without capabilities
    #[arg(long)]
    pub allow_commands: bool,
    /// Run them as root, with every capability
    #[arg(long, requires = "allow_commands")]
    pub root: bool,
}

/// Runs every variant, shows each as soon as it is known, and writes a page of all at the end.
pub fn run(args: &LabArgs) -> Result<()> {
    let asked = &args.scenario;
    let variants = variants(asked, &text(asked)?, &asked.variations()?)?;
    // Check all variants first, so that an unsupported one costs no time.
    variants
        .iter()
        .try_for_each(|variant| check(&variant.scenario, &asked.scenario))?;
    let commands = commands(args, &variants)?;
    require_root("the laboratory")?;
    let stop = signals::stop_flag()?;
    let mut sets = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        let set = measure(args, variant, &commands, &stop)?;
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

/// Whether the scenario's commands run, and as which user. The scenario's author has chosen them, so without
/// `--allow-commands` we show them all and run none.
fn commands(args: &LabArgs, variants: &[Variant]) -> Result<Commands> {
    let scenarios = variants.iter().map(|variant| &variant.scenario);
    let found: Vec<_> = scenarios.flat_map(tidegate_lab::commands_of).collect();
    if !args.allow_commands {
        let path = &args.scenario.scenario;
        let refused = found.into_iter().map(|command| refusal(command, path));
        return match LoadError::all(refused) {
            Some(error) => Err(error.into()),
            None => Ok(Commands::Refused),
        };
    }
    let caller = || {
        let caller = Caller::find(|name| std::env::var_os(name));
        caller.map_err(|error| BadInput(format!("{error:#}; --root runs commands as root")))
    };
    Ok(Commands::Allowed(match args.root {
        true => Rights::Root,
        false => Rights::Caller(caller()?),
    }))
}

/// An error with the line of the value.
fn refusal(refused: Refused, path: &Path) -> LoadError {
    LoadError::of_value(&refused.place, &refused.value, refused.message, path)
}

/// Refuses a scenario that the laboratory cannot run, with the line of the value if a single one is at fault.
fn check(scenario: &Scenario, path: &Path) -> Result<()> {
    tidegate_lab::check(scenario).map_err(|error| match error.downcast::<Refused>() {
        Ok(refused) => refusal(refused, path).into(),
        Err(error) => BadInput(format!("{}: {error:#}", path.display())).into(),
    })
}

fn measure(
    args: &LabArgs,
    variant: &Variant,
    commands: &Commands,
    stop: &Arc<AtomicBool>,
) -> Result<ResultSet> {
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
        commands: commands.clone(),
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
