//! `tidegate run`: the agent, until interrupted.

use crate::args::{LawArg, RunArgs};
use crate::signals;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Config, Count, FlowView, Interface, PathView};
use tidegate_laws::{Law, Params};

/// Between two reports.
const REPORT: Duration = Duration::from_secs(1);
/// How fast an interrupt is noticed.
const LOOK: Duration = Duration::from_millis(50);

/// What the agent reports once a second with `--json`.
#[derive(Serialize)]
struct Report {
    counts: Vec<Count>,
    paths: Vec<PathView>,
    flows: Vec<FlowView>,
}

/// Runs it.
pub fn run(args: &RunArgs) -> Result<()> {
    let stop = signals::stop_flag()?;
    let config = config(args)?;
    let agent = Agent::start(&config)?;
    if !args.json {
        announce(args, &config)?;
    }
    let end = args
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let mut next = Instant::now() + REPORT;
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|e| Instant::now() < e) {
        std::thread::sleep(LOOK);
        if args.json && Instant::now() >= next {
            next += REPORT;
            print_report(&agent)?;
        }
    }
    if !args.json {
        summary(&agent)?;
    }
    Ok(())
}

fn config(args: &RunArgs) -> Result<Config> {
    // Privilege and kernel first: without them no interface is worth looking for.
    tidegate_agent::require(std::path::Path::new("/sys/kernel/btf/vmlinux"))?;
    let interfaces = if args.iface.is_empty() {
        Interface::of_default_routes()?
    } else {
        args.iface
            .iter()
            .map(|name| Interface::find(name))
            .collect::<Result<_, _>>()?
    };
    let law = match args.law {
        LawArg::Tide => Law::Tide,
        LawArg::Drwa => Law::Drwa,
        LawArg::Drs => Law::Drs,
    };
    let params = Params {
        law,
        lambda: args.lambda,
        limit: args.limit,
    };
    Ok(Config {
        interfaces,
        params,
        dry_run: args.dry_run,
        ..Config::default()
    })
}

fn announce(args: &RunArgs, config: &Config) -> Result<()> {
    let names: Vec<_> = config.interfaces.iter().map(|i| i.name.as_str()).collect();
    let verb = if args.dry_run {
        "watching (dry run)"
    } else {
        "steering"
    };
    let law = format!("{:?}", args.law).to_lowercase();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{verb} downloads on {} with {law}; interrupt to stop",
        names.join(", ")
    )?;
    Ok(())
}

fn print_report(agent: &Agent) -> Result<()> {
    let report = Report {
        counts: agent.counts()?,
        paths: agent.paths(),
        flows: agent.flows(),
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &report)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

fn summary(agent: &Agent) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "detached; packets by what became of them:")?;
    for count in agent.counts()?.iter().filter(|c| c.packets > 0) {
        writeln!(out, "{:>14} {}", count.packets, count.reason)?;
    }
    Ok(())
}
