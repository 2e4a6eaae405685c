//! `tidegate link`: runs any command behind an emulated link.

mod args;
mod obstacle;
pub mod passed;

use crate::privilege::require_root;
use anyhow::{Context, Result};
pub use args::LinkArgs;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitCode;
use strum::VariantNames;
use tidegate_command::exit::BadInput;
use tidegate_lab::{Caller, Guest, Resolver, Uplinks, check_passage, link_shell};
use tidegate_link::Config;
use tidegate_linux::rtnetlink::Link;
use tidegate_scenario::{CellKind, Files, GenerateSpec, LinkSpec, Loss, QueueSpec, RateSpec};
use tidegate_terminal::warn;

/// Runs the command; the exit status is the command's, or 128 plus the signal that ended it, as in a shell.
pub fn run(args: &LinkArgs) -> Result<ExitCode> {
    // The same pipe may be given for both directions.
    let files = Files::below(Path::new(""));
    let down = link(args, &files, "--down", &args.down, args.seed)?;
    let up = link(args, &files, "--up", &args.up, args.seed.wrapping_add(1))?;
    for warning in files.warnings() {
        tidegate_terminal::warn(format_args!("tidegate link: {warning}"));
    }
    require_root("an emulated link")?;
    let uplinks = uplinks(&args.via)?;
    if args.check {
        return check(&uplinks);
    }
    let caller = match args.root {
        true => None,
        false => Caller::find(|name| std::env::var_os(name))
            .map_err(|error| BadInput(format!("{error:#}; --root runs the command as root")))?,
    };
    let guest = Guest {
        command: &args.command,
        caller,
        uplinks,
        resolver: Resolver::find(),
        warn: |obstacle| warn(format_args!("tidegate link: {}", obstacle::words(obstacle))),
    };
    if guest.resolver == Resolver::OutOfReach {
        warn(NO_NAMES);
    }
    // Open the log before anything runs: an error an hour later would be useless.
    let log = args.log.as_deref().map(create).transpose()?;
    let (status, record) = link_shell(down, up, &guest, log.is_some())?;
    let _ = write!(tidegate_terminal::err(), "{}", passed::summary(&record));
    if let Some(log) = log {
        passed::write(&record, log).context("write the log")?;
    }
    let code = status
        .code()
        .or_else(|| status.signal().map(|s| 128 + s))
        .unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// Whether packets of a link would pass this machine; prints the obstacles.
fn check(uplinks: &Uplinks) -> Result<ExitCode> {
    let obstacles = check_passage(uplinks)?;
    let mut out = tidegate_terminal::out();
    for obstacle in &obstacles {
        writeln!(out, "{}", obstacle::words(obstacle))?;
    }
    if obstacles.is_empty() {
        writeln!(out, "packets of a link pass this machine")?;
    }
    Ok(ExitCode::from(u8::from(!obstacles.is_empty())))
}

fn create(path: &Path) -> Result<File> {
    Ok(File::create(path).map_err(|e| BadInput(format!("--log {}: {e}", path.display())))?)
}

const NO_NAMES: &str = "tidegate link: names will not resolve: /etc/resolv.conf names nobody beyond the \
                        loopback device, which the command cannot reach";

/// The interfaces by which the command reaches the outside; prints them if there are others.
fn uplinks(via: &[String]) -> Result<Uplinks> {
    let uplinks = Uplinks::find(via).map_err(|error| BadInput(format!("--via {error:#}")))?;
    if !uplinks.left.is_empty() {
        let names = |links: &[Link]| {
            let names: Vec<_> = links.iter().map(|link| link.name.as_str()).collect();
            names.join(", ")
        };
        warn(format_args!(
            "tidegate link: the command reaches the world by {}, not by {} (--via adds an interface)",
            names(&uplinks.chosen),
            names(&uplinks.left)
        ));
    }
    Ok(uplinks)
}

fn link(args: &LinkArgs, files: &Files, option: &str, rate: &str, seed: u64) -> Result<Config> {
    let refused = |complaint| BadInput(format!("{option} {rate}: {complaint}"));
    let spec = LinkSpec {
        queue: QueueSpec {
            packets: Some(args.queue),
            bytes: args.queue_bytes,
            policy: args.policy,
            ..QueueSpec::default()
        },
        loss: args.loss.map(Loss::Random),
        ..LinkSpec::new(rate_spec(rate).map_err(refused)?, args.delay)
    };
    if let Some(complaint) = spec.complaint() {
        return Err(refused(complaint).into());
    }
    Ok(spec.resolve_from(files, seed)?)
}

/// A number is a rate, a known word a cell model, an existing path a file, a text with an equals sign a scenario's
/// rate, and anything else a missing file.
fn rate_spec(text: &str) -> Result<RateSpec, String> {
    if let Ok(kind) = text.parse() {
        return Ok(RateSpec::Generate(GenerateSpec {
            kind,
            mean_mbps: None,
            seed: None,
        }));
    }
    if let Ok(mbps) = text.parse() {
        return Ok(RateSpec::ConstantMbps(mbps));
    }
    let is_there = Path::new(text).exists();
    if text.contains('=') && !is_there {
        return toml::from_str(text).map_err(|e| e.message().replace('\n', ", "));
    }
    if !text.contains(['.', '/']) && !is_there {
        let cells = CellKind::VARIANTS.join(", ");
        return Err(format!(
            "neither a rate nor a file, expected Mbit/s (20), a cell model ({cells}), a trace in Mahimahi's format, a rate series \
             (FILE.csv), or a scenario's rate (steps = [[0, 20], [30, 2]])"
        ));
    }
    let extension = Path::new(text).extension();
    Ok(
        if extension.is_some_and(|end| end.eq_ignore_ascii_case("csv")) {
            RateSpec::Series(text.into())
        } else {
            RateSpec::Trace(text.into())
        },
    )
}

#[cfg(test)]
mod tests;
