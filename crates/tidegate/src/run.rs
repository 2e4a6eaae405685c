//! `tidegate run`: the agent, until interrupted.

mod links;
pub mod log;
pub mod metrics;
pub mod serve;
mod wake;

use crate::args::{LawArg, OnlyArg, RunArgs};
use crate::exit::BadInput;
use crate::signals;
use crate::snapshot::{About, Place, Shared, Snapshot, Watched, now_us};
use crate::top::model::Model;
use crate::top::report::print_json;
use crate::top::units::bytes;
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use links::Links;
use log::{Log, LogFormat};
use serde_json::json;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Config, Count, Directions, Hook, Interface, PathView};
use tidegate_laws::{Law, Params};
use wake::Wake;

/// Between two reports.
const REPORT: Duration = Duration::from_secs(1);

/// Runs it.
pub fn run(args: &RunArgs) -> Result<()> {
    let stop = signals::stop_flag()?;
    let wake = Wake::new()?;
    let log = Log {
        format: args.log_format,
        data_on_stdout: args.json,
    };
    let config = config(args)?;
    let agent = Agent::start(&config)?;
    tidegate_agent::drop_capabilities()?;
    let about = about(&config, name(args.law), &agent);
    let shared = Shared::new(Watched { agent, about });
    announce(&shared, log);
    let _served = show(args, &shared, log)?;
    let names = config.interfaces.iter().map(|i| i.name.clone()).collect();
    let links = Links::watch(names, wake.bell()?)?;
    tell_service_manager()?;
    let end = args
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let mut report = Report::new(args);
    let mut next = report.is_wanted().then(|| Instant::now() + REPORT);
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|e| Instant::now() < e) {
        let until = [next, end].into_iter().flatten().min();
        wake.wait(until.map(|t| t.saturating_duration_since(Instant::now())));
        report.line.suspend(|| links.follow(&shared, log));
        if next.is_some_and(|t| Instant::now() >= t) {
            next = next.map(|t| t + REPORT);
            report.show(&shared)?;
        }
    }
    report.line.finish_and_clear();
    let last = shared.with(|watched| watched.snapshot()).transpose()?;
    shared.end();
    farewell(args, &last.unwrap_or_default(), log)
}

/// Traffic is steered from now on: `systemctl start` waits for this.
fn tell_service_manager() -> Result<()> {
    sd_notify::notify(&[sd_notify::NotifyState::Ready]).context("tell the service manager")
}

/// Lets others see the agent: by a socket and, if asked for, by metrics.
fn show(args: &RunArgs, shared: &Shared, log: Log) -> Result<Option<serve::Served>> {
    if let Some(address) = args.metrics {
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

/// What the agent shows by itself: a line on a terminal, or JSON.
struct Report {
    json: bool,
    line: ProgressBar,
    model: Model,
}

impl Report {
    fn new(args: &RunArgs) -> Self {
        let line = if args.json {
            ProgressBar::hidden()
        } else {
            // Drawn to standard error, and not at all where that is no terminal.
            ProgressBar::new_spinner()
        };
        Self {
            json: args.json,
            line,
            model: Model::default(),
        }
    }

    /// The kernel's tables are read only if somebody looks.
    fn is_wanted(&self) -> bool {
        self.json || !self.line.is_hidden()
    }

    fn show(&mut self, shared: &Shared) -> Result<()> {
        let Some(snapshot) = shared.with(|watched| watched.snapshot()).transpose()? else {
            return Ok(());
        };
        self.model.update(snapshot);
        if self.json {
            return print_json(&self.model);
        }
        self.line.set_message(self.model.status());
        self.line.tick();
        Ok(())
    }
}

fn about(config: &Config, law: String, agent: &Agent) -> About {
    let place = |i: &Interface| Place {
        name: i.name.clone(),
        ifindex: i.index,
    };
    About {
        version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        law,
        dry_run: config.dry_run,
        directions: config.directions.name().into(),
        hook: agent.hook().map_or("none", Hook::name).into(),
        interfaces: config.interfaces.iter().map(place).collect(),
        since_us: now_us(),
    }
}

/// The interfaces of these names, or those of the default routes.
fn interfaces(names: &[String]) -> Result<Vec<Interface>> {
    // Privilege and kernel first: without them no interface is worth looking for.
    tidegate_agent::require(std::path::Path::new("/sys/kernel/btf/vmlinux"))?;
    if names.is_empty() {
        return Ok(Interface::of_default_routes()?);
    }
    let found = names.iter().map(|name| Interface::find(name));
    Ok(found.collect::<Result<_, _>>()?)
}

fn config(args: &RunArgs) -> Result<Config> {
    let interfaces = interfaces(&args.iface)?;
    let law = match args.law {
        LawArg::Tide => Law::Tide,
        LawArg::Drwa => Law::Drwa,
        LawArg::Drs => Law::Drs,
        LawArg::Rledbat => Law::Rledbat,
        LawArg::Rsfc => Law::Rsfc,
    };
    let params = Params {
        law,
        lambda: args.lambda,
        limit: args.limit,
    };
    Ok(Config {
        interfaces,
        params,
        directions: directions(args, &params)?,
        dry_run: args.dry_run,
        ..Config::default()
    })
}

/// What is steered: all that the law can, unless one direction was asked for.
fn directions(args: &RunArgs, params: &Params) -> Result<Directions> {
    match (args.only, params.steers_uploads()) {
        (None, true) => Ok(Directions::Both),
        (Some(OnlyArg::Downloads), _) | (None, false) => Ok(Directions::Downloads),
        (Some(OnlyArg::Uploads), true) => Ok(Directions::Uploads),
        (Some(OnlyArg::Uploads), false) => {
            let law = name(args.law);
            Err(BadInput(format!(
                "law \"{law}\" steers downloads alone, expected tide or rsfc for uploads"
            ))
            .into())
        }
    }
}

/// As the command line spells it.
fn name(law: LawArg) -> String {
    format!("{law:?}").to_lowercase()
}

fn announce(shared: &Shared, log: Log) {
    let Some(about) = shared.with(|watched| watched.about.clone()) else {
        return;
    };
    let verb = if about.dry_run {
        "watching (dry run)"
    } else {
        "steering"
    };
    let names: Vec<_> = about.interfaces.iter().map(|i| i.name.as_str()).collect();
    let message = format!(
        "{verb} {} on {} with {}, by {}; interrupt to stop",
        about.directions,
        names.join(", "),
        about.law,
        about.hook
    );
    log.info("start", &message, json!({ "agent": about }));
}

/// What it did.
fn farewell(args: &RunArgs, last: &Snapshot, log: Log) -> Result<()> {
    let sum = |of: fn(&PathView) -> u64| last.paths.iter().map(of).sum::<u64>();
    let lowered = last.counts.iter().filter(|c| c.reason == "rewritten");
    let lowered: u64 = lowered.map(|c| c.packets).sum();
    let [measured, udp, left] = [
        sum(|p| p.measured_bytes),
        sum(|p| p.udp_bytes),
        sum(|p| p.left_bytes),
    ];
    let seconds = last.at_us.saturating_sub(last.agent.since_us) / 1_000_000;
    let message = format!(
        "stopped after {seconds} s: {} measured, {lowered} windows lowered; left alone {} of UDP and {} else",
        bytes(measured),
        bytes(udp),
        bytes(left),
    );
    let fields = json!({
        "seconds": seconds, "measured_bytes": measured, "udp_bytes": udp, "left_bytes": left,
        "rewritten_packets": lowered,
    });
    log.info("stop", &message, fields);
    if args.json || args.log_format == LogFormat::Json {
        return Ok(());
    }
    summary(&last.counts)
}

fn summary(counts: &[Count]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "detached; what became of the packets:")?;
    for count in counts.iter().filter(|c| c.packets > 0) {
        let direction = count.direction.name();
        writeln!(out, "{:>14} {direction:4} {}", count.packets, count.reason)?;
    }
    Ok(())
}

/// An agent that watches these interfaces, or those of the default routes, and changes nothing.
pub fn watcher(interfaces: &[String]) -> Result<Watched> {
    let config = Config {
        interfaces: self::interfaces(interfaces)?,
        params: Params {
            law: Law::Tide,
            ..Params::default()
        },
        dry_run: true,
        ..Config::default()
    };
    let agent = Agent::start(&config)?;
    let about = about(&config, name(LawArg::Tide), &agent);
    Ok(Watched { agent, about })
}
