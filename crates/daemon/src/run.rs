//! `tidegate run`: runs the agent until a signal ends it.

mod books;
mod company;
mod dry_run;
mod flowtables;
mod follow;
mod held;
mod memory;
mod metrics;
mod page;
mod pause;
mod report;
mod serve;
mod sharing;
mod shown;
mod trials;
mod units;
mod wake;
mod weeks;

use crate::about::About;
use crate::account::{Account, Books};
use crate::clock::now_us;
use crate::config::{RunArgs, Settings, settings};
use crate::devices::Devices;
use crate::log::{Log, LogFormat};
use crate::operate::Operation;
use crate::service::{AgentService, Shared};
use crate::snapshot::Snapshot;
use crate::udp::Windowless;
use anyhow::{Context, Result};
use company::Company;
use flowtables::Flowtables;
use follow::Follower;
use pause::Pauses;
use report::Report;
use serde_json::json;
use sharing::Sharing;
use shown::Shown;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Count, Reason, has_btf, require};
use tidegate_command::signals;
use tidegate_terminal::units::bytes;
use units::Units;
use wake::Wake;
use weeks::Weeks;

/// Time between two reports.
const REPORT: Duration = Duration::from_secs(1);

/// Runs the agent.
pub fn run(args: &RunArgs) -> Result<()> {
    // Without a configuration file there is nothing to read again, so SIGHUP ends the agent.
    let [stop, reload] = match args.config {
        Some(_) => signals::stop_and_reload_flags()?,
        None => [signals::stop_flag()?, Arc::default()],
    };
    let wake = Wake::new()?;
    let log = Log {
        format: args.log_format,
        data_on_stdout: args.json,
    };
    // Check privilege and kernel first: without them it is useless to look for interfaces.
    require()?;
    let (mut operation, agent) = Operation::start(settings(args)?)?;
    memory::give_back();
    let windowless = windowless(&operation.settings, &agent, &wake)?;
    let mut watched = AgentService {
        about: About::of(&operation.settings.agent, &agent, &windowless),
        windowless,
        devices: devices(&operation.settings, &agent, log)?,
        agent,
        books: Books::default(),
        compare: trials::wanted(operation.settings.compare),
        pause: None,
    };
    watched.books.begin(now_us());
    let wanted = operation.settings.interfaces.clone();
    let mut follower = Follower::watch(wanted, wake.bell()?, log)?;
    follower.begin(&mut watched)?;
    operation.take_over(&mut watched.agent)?;
    tidegate_agent::drop_capabilities()?;
    let about = watched.about.clone();
    let shared = Shared::new(watched);
    let mut weeks = Weeks::new(args.weekly, &shared);
    // The socket is open before the start is announced: a program that reads the announcement may connect at once.
    let shown = Shown::open(&operation.settings, args, &shared, wake.bell()?)?;
    announce(&about, log);
    let mut held = held::Follower::default();
    held.step(&shared, log);
    if !has_btf() {
        log.info("without-btf", WITHOUT_BTF, json!({}));
    }
    shown.tell(log);
    tell_service_manager()?;
    let end = args
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let mut report = Report::new(args);
    let mut next = Instant::now() + REPORT;
    let mut books = books::Hours::new(args.account, now_us());
    let mut sharing = Sharing::new(now_us());
    let mut flowtables = Flowtables::new(now_us());
    let mut company = Company::new(now_us());
    let mut pauses = Pauses::default();
    let mut units = Units::new(now_us());
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|e| Instant::now() < e) {
        let dry_run = operation.settings.agent.dry_run;
        let next_report = report.is_wanted(dry_run).then_some(next);
        let quiet = [
            books.next_us(),
            weeks.next_us(),
            trials::next_us(&shared),
            pause::next_us(&shared),
            sharing.next_us(),
            Some(flowtables.next_us()),
            Some(company.next_us()),
            units.next_us(&operation.settings.agent.rules),
            held.next_us(),
        ];
        let quiet = quiet.into_iter().flatten().min().map(instant);
        let until = [next_report, end, quiet].into_iter().flatten().min();
        wake.wait(until.map(|t| t.saturating_duration_since(Instant::now())));
        report.line.suspend(|| {
            if reload.swap(false, Ordering::Relaxed) {
                read_again(&mut operation, &shared, args, log);
                follower.set(operation.settings.interfaces.clone());
            }
            let changed = follower.follow(&shared);
            let settings = &operation.settings;
            if sharing.is_news(now_us(), changed, || settings.shares_differ()) {
                sharing::tell(settings.agent.by_device, log);
            }
            flowtables.step(changed, &shared, log);
            company.step(&shared, log);
            units.step(&shared, log);
            held.step(&shared, log);
            pauses.step(&shared, log);
            trials::step(&shared, log);
            books.step(&shared, log);
            weeks.step(&shared, log);
        });
        let now = Instant::now();
        if now >= next {
            next = now + REPORT;
            report.show(&shared, dry_run)?;
        }
    }
    report.line.end();
    finish(args, operation, &shared, &report, log)
}

/// The moment of `CLOCK_MONOTONIC` in µs as an `Instant`; now, if it is past.
fn instant(us: u64) -> Instant {
    Instant::now() + Duration::from_micros(us.saturating_sub(now_us()))
}

/// Begins to learn which device each connection belongs to, if the link is shared by device.
fn devices(settings: &Settings, agent: &Agent, log: Log) -> Result<Option<Devices>> {
    if !settings.agent.by_device {
        return Ok(None);
    }
    let (devices, deaf) = Devices::watch(agent, settings.devices.clone())?;
    if let Some(error) = deaf {
        let message = format!(
            "connections behind translated addresses count as this machine's own: connection tracking cannot be asked: {error}"
        );
        log.warn("devices_unknown", &message, json!({}));
    }
    Ok(Some(devices))
}

/// Begins to hold or turn away flows without a window, unless this is a dry run.
fn windowless(settings: &Settings, agent: &Agent, wake: &Wake) -> Result<Windowless> {
    let (bell, config) = (wake.bell()?, &settings.agent);
    let ring = move || bell.ring();
    Windowless::start(&settings.udp, config.dry_run, agent, &[], ring)
}

/// Ends the agent and logs what it did.
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
    let account = watched.whole_account(last.at_us)?;
    let dry_run = operation.settings.agent.dry_run;
    let AgentService {
        windowless, agent, ..
    } = watched;
    drop(windowless);
    let stays = operation.end(agent);
    log_end(&last, &account, stays, log);
    if args.json || args.log_format == LogFormat::Json {
        return Ok(());
    }
    if dry_run {
        report.dry_run.summary(&last.flows)?;
    }
    summary(&last.counts, stays)
}

/// Reads the configuration again. The agent logs a faulty file, keeps its settings and runs on.
fn read_again(operation: &mut Operation, shared: &Shared, args: &RunArgs, log: Log) {
    let outcome = shared.with(|watched| {
        let compared = operation.settings.compare;
        let awaiting = operation.reload(watched, args)?;
        if operation.settings.compare != compared {
            watched.compare = trials::wanted(operation.settings.compare);
        }
        let since_us = watched.about.since_us;
        watched.about = About {
            since_us,
            hidden: watched.about.hidden.take(),
            ..About::of(
                &operation.settings.agent,
                &watched.agent,
                &watched.windowless,
            )
        };
        Ok::<_, anyhow::Error>((watched.about_now(), awaiting))
    });
    let file = args.config.as_deref().unwrap_or(Path::new("")).display();
    let fields = json!({ "file": file.to_string() });
    match outcome {
        None => {}
        Some(Ok((about, awaiting))) => {
            let message = format!("{file} read again: {}", about.in_words());
            log.info("reload", &message, fields);
            tell_awaiting(&awaiting, log);
        }
        Some(Err(error)) => {
            let message = format!("the configuration stays as it was: {error:#}");
            log.warn("reload_refused", &message, fields);
        }
    }
}

/// Logs which settings have changed in the file but take effect only at a start.
fn tell_awaiting(settings: &[&str], log: Log) {
    if settings.is_empty() {
        return;
    }
    let stay = match settings {
        [_] => "stays as it was",
        _ => "stay as they were",
    };
    let message = format!(
        "{} {stay} until the agent is started anew (systemctl restart tidegate)",
        settings.join(", ")
    );
    log.warn("restart_needed", &message, json!({ "settings": settings }));
}

/// Reports readiness: `systemctl start` returns once traffic is steered.
fn tell_service_manager() -> Result<()> {
    sd_notify::notify(&[sd_notify::NotifyState::Ready]).context("tell the service manager")
}

/// Warning for a kernel without BTF.
pub const WITHOUT_BTF: &str = "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing): window scales are learnt from handshakes alone, so connections that are older than the agent are left alone";

fn announce(about: &About, log: Log) {
    let message = format!("{}; interrupt to stop", about.in_words());
    log.info("start", &message, json!({ "agent": about }));
}

/// Logs what the agent did.
fn log_end(last: &Snapshot, account: &Account, stays: bool, log: Log) {
    let lowered = last.counts.iter().filter(|c| c.reason == Reason::Rewritten);
    let lowered: u64 = lowered.map(|c| c.packets).sum();
    let measured = last.paths.iter().map(|p| p.measured_bytes).sum();
    let seconds = last.at_us.saturating_sub(last.agent.since_us) / 1_000_000;
    for way in account.ways.iter().filter(|way| way.is_worth_a_line()) {
        books::line(way, account.elapsed_us, log);
    }
    let message = format!(
        "stopped after {seconds} s: {} measured, {lowered} windows lowered",
        bytes(measured),
    );
    let fields = json!({
        "seconds": seconds, "measured_bytes": measured, "carried_bytes": account.carried(),
        "rewritten_packets": lowered, "stays_attached": stays,
    });
    log.info("stop", &message, fields);
}

fn summary(counts: &[Count], stays: bool) -> Result<()> {
    let mut out = tidegate_terminal::out();
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
