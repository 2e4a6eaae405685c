//! Browsing over HTTP/3 in a browser, through the laboratory's links: untouched, and with an agent.

mod browser;
mod call;
mod outcome;
mod page;
mod plan;
mod stage;
mod table;
mod user;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use laboratory::Link;
use outcome::{Seen, Summary};
use plan::Plan;
use serde::Serialize;
use stage::{Address, BadInput, Folder, Interrupted, Observed, Stage};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Stacks with a server.
const SERVERS: [&str; 2] = ["quic-go", "quinn"];

/// Pages, videos, downloads and a call over HTTP/3 in a browser, untouched and held.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    /// Length of each run: there are two for each link
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=600))]
    minutes: u32,
    /// Only this link
    #[arg(long)]
    link: Option<Link>,
    /// The agent's `--udp`
    #[arg(long, value_name = "HOW", default_value = "hold", value_parser = how)]
    udp: String,
    /// The server's HTTP/3 stack: quic-go uses Reno as congestion control, quinn CUBIC
    #[arg(long, value_name = "STACK", default_value = SERVERS[0], value_parser = SERVERS)]
    server: String,
    /// Random seed of the plan and of the cell
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Print JSON, and the table on standard error
    #[arg(long)]
    json: bool,
    /// The `tidegate` program
    #[arg(long, value_name = "FILE", default_value = "target/release/tidegate")]
    tidegate: PathBuf,
    /// Folder of the server's program
    #[arg(long, value_name = "FOLDER", default_value = "target/browse")]
    programs: PathBuf,
    #[command(subcommand)]
    part: Option<Part>,
}

/// Parts that run in the laboratory's namespaces.
#[derive(Debug, Subcommand)]
enum Part {
    /// Carries out a plan at the client
    #[command(hide = true)]
    User { folder: PathBuf, seed: u64 },
    /// The other end of the call
    #[command(hide = true)]
    Echo,
}

/// The JSON output.
#[derive(Serialize)]
struct Report<'a> {
    minutes: u32,
    seed: u64,
    server: &'a str,
    links: Vec<Over>,
}

/// A link, and the results of the same plan with and without an agent.
#[derive(Serialize)]
struct Over {
    link: Link,
    udp: String,
    untouched: Performed,
    held: Performed,
}

/// The results of a plan.
#[derive(Serialize)]
struct Performed {
    summary: Summary,
    observed: Observed,
    seen: Seen,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.part {
        None => compare(&arguments),
        Some(Part::Echo) => call::echo(Address::of_call().ip),
        Some(Part::User { folder, seed }) => {
            let folder = Folder::at(folder);
            folder.tell(user::perform(&folder, *seed))
        }
    };
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    eprintln!("browse: {error:#}");
    ExitCode::from(match () {
        () if error.is::<Interrupted>() => 130,
        () if error.is::<BadInput>() => 2,
        () => 1,
    })
}

/// Checks the agent's `--udp`: the agent itself knows all its values, but one of them leaves nothing to measure.
fn how(word: &str) -> Result<String, &'static str> {
    match word {
        "fallback" => Err("fallback turns QUIC away, expected a value that leaves or holds it"),
        _ => Ok(word.to_owned()),
    }
}

fn compare(arguments: &Arguments) -> Result<()> {
    let stop = stop_flag()?;
    let found = |path: &Path, what: &str| {
        let whole = path.canonicalize();
        whole.map_err(|error| BadInput(format!("{what}: {}: {error}", path.display())))
    };
    let server = format!("browse-{}", arguments.server);
    let stage = Stage {
        tidegate: found(&arguments.tidegate, "the program tidegate")?,
        own: std::env::current_exe()?,
        server: found(&arguments.programs.join(server), "the server")?,
        seed: arguments.seed,
        stop,
    };
    stage.rehearse(&arguments.udp)?;
    let plan = Plan::new(arguments.seed, f64::from(arguments.minutes) * 60.0);
    let wanted = |link: &Link| arguments.link.is_none_or(|wanted| wanted == *link);
    let mut links = Vec::new();
    for link in Link::ALL.into_iter().filter(wanted) {
        let perform = |udp: Option<&str>| {
            let how = udp.unwrap_or("untouched");
            eprintln!("{link}, {how}: {} min", arguments.minutes);
            perform(&stage, &plan, link, udp)
        };
        links.push(Over {
            link,
            udp: arguments.udp.clone(),
            untouched: perform(None)?,
            held: perform(Some(&arguments.udp))?,
        });
    }
    let table = table::table(&links);
    if !arguments.json {
        println!("{table}");
        return Ok(());
    }
    eprintln!("{table}");
    let report = Report {
        minutes: arguments.minutes,
        seed: arguments.seed,
        server: &arguments.server,
        links,
    };
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

fn perform(stage: &Stage, plan: &Plan, link: Link, udp: Option<&str>) -> Result<Performed> {
    let (seen, observed) = stage.perform(plan, link, udp)?;
    let performed = Performed {
        summary: seen.summary(),
        observed,
        seen,
    };
    // Results so far, in case the user interrupts the run.
    eprintln!("  {}", table::line(&performed));
    for warning in &performed.observed.warnings {
        eprintln!("  {warning}");
    }
    Ok(performed)
}

/// Set by the first signal to end: processes that this one has started end first. A second signal ends it at once.
fn stop_flag() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("catch signals")?;
    }
    Ok(stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_no_http3_is_refused() {
        assert!(Arguments::try_parse_from(["browse", "--udp", "fallback"]).is_err());
        assert!(Arguments::try_parse_from(["browse", "--minutes", "0"]).is_err());
        assert!(Arguments::try_parse_from(["browse", "--server", "nginx"]).is_err());
        let default = Arguments::try_parse_from(["browse"]).unwrap();
        assert_eq!(
            (default.udp.as_str(), default.server.as_str()),
            ("hold", "quic-go")
        );
    }
}
