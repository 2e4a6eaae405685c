//! `tidegate run`: the agent, until interrupted.

mod follow;
mod held;
pub mod log;
pub mod metrics;
mod report;
pub mod serve;
mod wake;

use crate::args::RunArgs;
use crate::config::{Settings, settings};
use crate::lock::{self, Lock};
use crate::operate::Operation;
use crate::signals;
use crate::snapshot::{About, Shared, Snapshot, Watched, now_us};
use crate::top::units::bytes;
use crate::udp::Windowless;
use anyhow::{Context, Result};
use follow::Follower;
use log::{Log, LogFormat};
use report::Report;
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidegate_agent::{
    Agent, Config, Count, Directions, Kind, PathView, Reason, has_btf, leftovers, require,
};
use tidegate_laws::Law;
use tidegate_scenario::Udp;
use wake::Wake;

/// Between two reports.
const REPORT: Duration = Duration::from_secs(1);

/// Runs it.
pub fn run(args: &RunArgs) -> Result<()> {
    // Without a file there is nothing to read again, and who hangs up wants it to end.
    let [stop, reload] = match args.config {
        Some(_) => signals::stop_and_reload_flags()?,
        None => [signals::stop_flag()?, Arc::default()],
    };
    let wake = Wake::new()?;
    let log = Log {
        format: args.log_format,
        data_on_stdout: args.json,
    };
    // Privilege and kernel first: without them no interface is worth looking for.
    require()?;
    let (mut operation, agent) = Operation::start(settings(args)?)?;
    let windowless = windowless(&operation.settings, &agent, &wake)?;
    let mut watched = Watched {
        about: about(&operation.settings.agent, &agent, &windowless),
        windowless,
        agent,
    };
    let wanted = operation.settings.interfaces.clone();
    let mut follower = Follower::watch(wanted, wake.bell()?, log)?;
    follower.begin(&mut watched)?;
    operation.take_over(&mut watched.agent)?;
    tidegate_agent::drop_capabilities()?;
    announce(&watched.about, log);
    if !has_btf() {
        log.info("without-btf", WITHOUT_BTF, json!({}));
    }
    let shared = Shared::new(watched);
    let _served = show(args, operation.settings.metrics, &shared, log)?;
    tell_service_manager()?;
    let end = args
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let mut report = Report::new(args);
    let mut next = Instant::now() + REPORT;
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|e| Instant::now() < e) {
        let dry_run = operation.settings.agent.dry_run;
        let next_report = report.is_wanted(dry_run).then_some(next);
        let until = [next_report, end].into_iter().flatten().min();
        wake.wait(until.map(|t| t.saturating_duration_since(Instant::now())));
        report.line.suspend(|| {
            if reload.swap(false, Ordering::Relaxed) {
                read_again(&mut operation, &shared, args, log);
                follower.set(operation.settings.interfaces.clone());
            }
            follower.follow(&shared);
            held::tell(&shared, log);
        });
        let now = Instant::now();
        if now >= next {
            next = now + REPORT;
            report.show(&shared, dry_run)?;
        }
    }
    report.line.finish_and_clear();
    finish(args, operation, &shared, &report, log)
}

/// Begins to hold or to turn away what has no window, unless nothing is to be changed.
fn windowless(settings: &Settings, agent: &Agent, wake: &Wake) -> Result<Windowless> {
    let (bell, config) = (wake.bell()?, &settings.agent);
    let ring = move || bell.ring();
    Windowless::start(&settings.udp, config.dry_run, agent, &[], ring)
}

/// Ends the agent and says what it did.
fn finish(
    args: &RunArgs,
    operation: Operation,
    shared: &Shared,
    report: &Report,
    log: Log,
) -> Result<()> {
    let Some(watched) = shared.end() else {
        return Ok(());
    };
    let last = watched.snapshot()?;
    let dry_run = operation.settings.agent.dry_run;
    let Watched {
        windowless, agent, ..
    } = watched;
    drop(windowless);
    let stays = operation.end(agent);
    log_end(&last, stays, log);
    if args.json || args.log_format == LogFormat::Json {
        return Ok(());
    }
    if dry_run {
        report.dry_run.summary(&last.flows)?;
    }
    summary(&last.counts, stays)
}

/// A file that is wrong changes nothing, and is no reason to end.
fn read_again(operation: &mut Operation, shared: &Shared, args: &RunArgs, log: Log) {
    let outcome = shared.with(|watched| {
        operation.reload(watched, args)?;
        let since_us = watched.about.since_us;
        watched.about = About {
            since_us,
            ..about(
                &operation.settings.agent,
                &watched.agent,
                &watched.windowless,
            )
        };
        Ok::<_, anyhow::Error>(watched.about.clone())
    });
    let file = args.config.as_deref().unwrap_or(Path::new("")).display();
    let fields = json!({ "file": file.to_string() });
    match outcome {
        None => {}
        Some(Ok(about)) => {
            log.info(
                "reload",
                &format!("{file} read again: {}", what(&about)),
                fields,
            );
        }
        Some(Err(error)) => {
            let message = format!("the configuration stays as it was: {error:#}");
            log.warn("reload_refused", &message, fields);
        }
    }
}

/// Traffic is steered from now on: `systemctl start` waits for this.
fn tell_service_manager() -> Result<()> {
    sd_notify::notify(&[sd_notify::NotifyState::Ready]).context("tell the service manager")
}

/// Lets others see the agent: by a socket and, if asked for, by metrics.
fn show(
    args: &RunArgs,
    metrics: Option<SocketAddr>,
    shared: &Shared,
    log: Log,
) -> Result<Option<serve::Served>> {
    if let Some(address) = args.metrics.or(metrics) {
        let bound = metrics::serve(address, shared)?;
        let message = format!("metrics at http://{bound}/metrics");
        log.info("metrics", &message, json!({ "address": bound.to_string() }));
    }
    let socket = args.socket.display().to_string();
    match serve::serve(&args.socket, shared) {
        Ok(served) => {
            let message = format!("tidegate top finds the agent at {socket}");
            log.info("serving", &message, json!({ "socket": socket }));
            Ok(Some(served))
        }
        // To steer is what it is for; to be looked at is not worth ending for.
        Err(error) => {
            let message = format!("tidegate top will not find the agent: {error:#}");
            log.warn("not_serving", &message, json!({ "socket": socket }));
            Ok(None)
        }
    }
}

fn about(config: &Config, agent: &Agent, windowless: &Windowless) -> About {
    let (udp, holds) = windowless.in_force();
    let mut about = About {
        version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        law: config.params.law,
        dry_run: config.dry_run,
        directions: directions_in_words(config).into(),
        udp,
        holds,
        since_us: now_us(),
        ..About::default()
    };
    about.set_places(agent);
    about
}

/// What is steered, in words.
pub fn directions_in_words(config: &Config) -> &'static str {
    match (config.directions, config.params.law.steers_uploads()) {
        (Directions::Both, true) => "downloads and uploads",
        (Directions::Uploads, _) => "uploads",
        (Directions::Downloads, _) | (Directions::Both, false) => "downloads",
    }
}

/// What the agent does, in words.
fn what(about: &About) -> String {
    let verb = match (about.law, about.dry_run) {
        (Law::None, _) => "watching",
        (_, true) => "watching (dry run)",
        (_, false) => "steering",
    };
    let names: Vec<_> = about.interfaces.iter().map(|i| i.name.as_str()).collect();
    let udp = match (about.udp, about.holds) {
        (Udp::Hold, _) => "; UDP held",
        (Udp::Fallback, false) => "; QUIC turned away",
        (Udp::Fallback, true) => "; QUIC turned away, some UDP held",
        (Udp::Leave, true) => "; some UDP held",
        (Udp::Leave, false) => "",
    };
    let places = match names[..] {
        [] => format!("on no interface yet with {}", about.law),
        _ => format!(
            "on {} with {}, by {}",
            names.join(", "),
            about.law,
            about.hook
        ),
    };
    format!("{verb} {} {places}{udp}", about.directions)
}

/// What a kernel without types of its own cannot tell.
pub const WITHOUT_BTF: &str = "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing): window scales are learnt from handshakes alone, so connections that are older than the agent are left alone";

fn announce(about: &About, log: Log) {
    let message = format!("{}; interrupt to stop", what(about));
    log.info("start", &message, json!({ "agent": about }));
}

/// What it did.
fn log_end(last: &Snapshot, stays: bool, log: Log) {
    let sum = |of: fn(&PathView) -> u64| last.paths.iter().map(of).sum::<u64>();
    let lowered = last.counts.iter().filter(|c| c.reason == Reason::Rewritten);
    let lowered: u64 = lowered.map(|c| c.packets).sum();
    let measured = sum(|p| p.measured_bytes);
    let carried = carried(&last.paths);
    let kinds: Vec<_> = carried
        .iter()
        .map(|(kind, n)| format!("{} {}", kind.short(), bytes(*n)))
        .collect();
    let seconds = last.at_us.saturating_sub(last.agent.since_us) / 1_000_000;
    let message = format!(
        "stopped after {seconds} s: {} measured, {lowered} windows lowered; carried in all: {}",
        bytes(measured),
        kinds.join(", "),
    );
    let carried: HashMap<_, _> = carried.iter().map(|(kind, n)| (kind.name(), n)).collect();
    let fields = json!({
        "seconds": seconds, "measured_bytes": measured, "carried_bytes": carried,
        "rewritten_packets": lowered, "stays_attached": stays,
    });
    log.info("stop", &message, fields);
}

/// Bytes of each kind that there was, both ways, over all interfaces.
fn carried(paths: &[PathView]) -> Vec<(Kind, u64)> {
    let all = || paths.iter().flat_map(|p| &p.traffic);
    let sum = |kind| {
        (
            kind,
            all().filter(|c| c.kind == kind).map(|c| c.bytes).sum(),
        )
    };
    let kinds = Kind::ALL.map(sum).into_iter();
    kinds.filter(|(_, bytes)| *bytes > 0).collect()
}

fn summary(counts: &[Count], stays: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let ended = if stays {
        "left attached, pinned"
    } else {
        "detached"
    };
    writeln!(out, "{ended}; what became of the packets:")?;
    for count in counts.iter().filter(|c| c.packets > 0) {
        let direction = count.direction.name();
        writeln!(out, "{:>14} {direction:4} {}", count.packets, count.reason)?;
    }
    Ok(())
}

/// An agent that watches these interfaces, or those of the default routes, and changes nothing. It
/// is as alone as any: beside one that was left pinned it would take that one's place.
pub fn watcher(interfaces: &[String]) -> Result<(Watched, Lock)> {
    require()?;
    let lock = lock::take()?;
    if !leftovers()?.is_empty() {
        let message = "an agent without a process steers here, expected `tidegate run` to take over or `tidegate stop`";
        return Err(crate::exit::BadInput(message.into()).into());
    }
    let wanted = crate::config::named(interfaces)?;
    let config = Config {
        interfaces: wanted.find()?.at_least_one(&wanted)?,
        dry_run: true,
        ..Config::default()
    };
    let agent = Agent::start(&config)?;
    let windowless = Windowless::default();
    let about = about(&config, &agent, &windowless);
    let watched = Watched {
        windowless,
        agent,
        about,
    };
    Ok((watched, lock))
}
