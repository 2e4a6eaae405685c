//! `tidegate try`: a short trial of steering on the user's own link, which ends in a verdict.
//!
//! Slots with and without steering alternate in random order, while the user's load fills the link and a pinger
//! measures round trips beside it. The measurements ([`slot`]) are judged ([`verdict`], [`sign_flip`]) without a clock,
//! so that the same code can judge simulated links whose truth is known (`simulated`).

mod args;
mod control_group;
mod draft;
mod load;
mod losses;
mod outcome;
mod page;
mod ping;
mod plan;
mod progress;
mod session;
mod sign_flip;
#[cfg(test)]
mod simulated;
mod slot;
mod steering;
mod table;
mod target;
mod verdict;
mod words;

use crate::consent;
use crate::probe::{read_key, resolve};
use crate::provenance::{Made, print_json, provenance};
use anyhow::{Context, Result};
pub use args::TryArgs;
use control_group::ControlGroup;
use draft::Draft;
use load::{Far, Loader, Source};
use outcome::{About, TrialReport};
use ping::{Pinger, Place};
use plan::Plan;
use progress::Progress;
use session::Session;
use sign_flip::{LEAST, MOST};
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use steering::Steering;
use target::Target;
use tidegate_agent::require;
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_lab::Caller;
use tidegate_probe::net::Direction;

/// Runs the trial. The exit status does not depend on the verdict.
pub fn run(args: &TryArgs) -> Result<()> {
    let plan = Plan {
        pairs: args.pairs,
        slot: Duration::from_secs_f64(args.slot),
    };
    let source = source(args)?;
    let target = target(args, &source)?;
    require()?;
    let caller = match args.root {
        true => None,
        false => Caller::find(|name| std::env::var_os(name))
            .map_err(|error| BadInput(format!("{error:#}; --root runs the load as root")))?,
    };
    let address = target.resolve()?;
    // We fork here, so it must come before the first thread.
    let group = ControlGroup::make()?;
    let loader = Loader {
        source,
        caller,
        group,
    };
    let mut steering = Steering::start(args)?;
    let interface = steering.interfaces()[0].name.clone();
    let place = ping::find_way(address, &interface)?;
    let place = place.ok_or_else(|| no_answer(&target, &interface))?;
    // Ask for consent last: every check that can fail beforehand has passed by now.
    let page = args.page.as_deref().map(Draft::beside).transpose()?;
    consent::ask(&announcement(args, &plan), args.yes)?;
    let stop = signals::stop_flag()?;
    let seed = args.seed.unwrap_or_else(|| rand::random::<u32>().into());
    let at = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |t| t.as_secs());
    let about = about(args, (&loader, &steering), (&target, place), seed, at);
    let (progress, began) = (Progress::new(plan), Instant::now());
    let pinger = Pinger::start(place, &interface)?;
    let meter = loader.meter();
    let measured = Session {
        plan,
        seed,
        max_data: args.max_data,
        loader: &loader,
        steering: &mut steering,
        pinger: &pinger,
        meter,
        stop,
        progress: &progress,
        began,
    }
    .run();
    progress.finish();
    let outcome = TrialReport::of(about, measured?);
    // Stop steering before any output, which may fail.
    drop((pinger, steering, loader));
    let from = provenance(Made::OnKernel, [seed]);
    if let Some(page) = page {
        page.finish(&page::page(&outcome, &from))?;
    }
    match args.json {
        true => print_json(&outcome, from),
        false => Ok(write!(
            tidegate_terminal::out(),
            "{}",
            table::text(&outcome)
        )?),
    }
}

/// What is to load the link.
fn source(args: &TryArgs) -> Result<Source> {
    if let Some(host) = &args.probe {
        let key = args.key.as_deref().context("the parser wants a key")?;
        return Ok(Source::Probe(Far {
            server: resolve(host)?,
            key: read_key(key)?,
            direction: if args.upload {
                Direction::Up
            } else {
                Direction::Down
            },
        }));
    }
    if !args.command.is_empty() {
        load::require_program(&args.command)?;
        return Ok(Source::Commands(vec![args.command.clone()]));
    }
    let urls = args.url.iter().map(|url| match Target::of_url(url) {
        Some(_) => load::fetch(url),
        None => Err(BadInput(format!(
            "--url {url}: expected http://… or https://…, with a host"
        ))),
    });
    Ok(Source::Commands(urls.collect::<Result<_, _>>()?))
}

/// The host to measure round trips to.
fn target(args: &TryArgs, source: &Source) -> Result<Target> {
    if let Some(named) = &args.ping {
        return Ok(Target::named(named));
    }
    let found = match source {
        Source::Probe(far) => Some(Target {
            host: far.server.ip().to_string(),
            port: far.server.port(),
        }),
        Source::Commands(commands) => commands.iter().find_map(|words| Target::of_command(words)),
    };
    let nobody = "whom to ask for round trips is not known, as the load names no URL; expected --ping HOST, a host beyond the link";
    Ok(found.ok_or_else(|| BadInput(nobody.into()))?)
}

fn no_answer(target: &Target, interface: &str) -> BadInput {
    BadInput(format!(
        "{} answers neither an ICMP echo nor TCP at port {} by {interface}; expected a host that does: --ping HOST, or HOST:PORT for TCP",
        target.host, target.port
    ))
}

/// What the trial will cost, to be shown before the user agrees.
fn announcement(args: &TryArgs, plan: &Plan) -> String {
    let seconds = plan.loaded().as_secs_f64();
    format!(
        "This fills the link for {seconds:.0} s, with pauses between, by turns with and without steering: {} at 10 Mbit/s, \
         {} at 100 Mbit/s, {} at most (--max-data).",
        words::data((seconds * 10e6 / 8.0) as u64),
        words::data((seconds * 100e6 / 8.0) as u64),
        words::data(args.max_data)
    )
}

fn about(
    args: &TryArgs,
    (loader, steering): (&Loader, &Steering),
    (target, place): (&Target, Place),
    seed: u64,
    at: u64,
) -> About {
    let interfaces = steering.interfaces().iter();
    About {
        at,
        law: args.law,
        interfaces: interfaces.map(|interface| interface.name.clone()).collect(),
        load: loader.name(),
        in_control_group: loader.group.is_some(),
        pinged: target.host.clone(),
        pinged_address: place.address,
        pinged_by: place.by,
        pairs: args.pairs,
        slot_s: args.slot,
        seed,
    }
}
