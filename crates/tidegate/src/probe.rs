//! `tidegate probe`: measures what a link does to packets.

mod args;
mod measure;
mod page;
mod pictures;
mod predict;
mod show;
mod tables;
mod verdict;

use crate::consent;
use crate::provenance::{Made, print_json, provenance};
use crate::secret::warn_if_readable;
use anyhow::{Context, Result};
pub use args::ProbeArgs;
use args::{ProbeEnd, ProbeRunArgs, ProbeServeArgs, ProbeTest};
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_probe::net::{Client, Key, Limits, PORT, Server};
use tidegate_scenario::read_text;
use tidegate_terminal::units;
use tidegate_terminal::{say, warn};

/// Runs one end of a measurement.
pub fn run(args: &ProbeArgs) -> Result<()> {
    match &args.end {
        ProbeEnd::Serve(args) => serve(args),
        ProbeEnd::Run(args) => measure(args),
    }
}

fn serve(args: &ProbeServeArgs) -> Result<()> {
    let key = match &args.key {
        Some(path) => read_key(path)?,
        None => Key::random(),
    };
    let limits = Limits {
        max_bps: f64::from(args.max_rate) * 1e6,
        session_bytes: args.max_session_data,
        total_bytes: args.max_data,
        ..Limits::default()
    };
    let stop = signals::stop_flag()?;
    let mut server = Server::bind(args.listen, key, limits)
        .with_context(|| format!("listen on {}", args.listen))?;
    if args.key.is_none() {
        // Print only the key, so that the user can redirect it to a file for the client.
        say(key);
    }
    warn(format_args!(
        "listening on {}, UDP and TCP",
        server.address()?
    ));
    server.run(&stop).context("serve")?;
    let counters = server.counters();
    warn(format_args!(
        "{} sessions, {} sent, {} packets refused, {} that the system did not send",
        counters.sessions,
        units::bytes(counters.sent_bytes),
        counters.refused,
        counters.unsent
    ));
    Ok(())
}

fn measure(args: &ProbeRunArgs) -> Result<()> {
    let key = read_key(&args.key)?;
    let server = resolve(&args.host)?;
    if args.beside.is_empty() && args.tests.contains(&ProbeTest::Devices) {
        return Err(
            BadInput("devices: expected --beside with the second one's address".into()).into(),
        );
    }
    if args.beside.len() > 2 {
        return Err(
            BadInput("--beside: expected a second and a third device at most".into()).into(),
        );
    }
    let cost = format!(
        "This sends up to {} over the link, both directions together (--max-data).",
        units::bytes(args.max_data)
    );
    consent::ask(&cost, args.yes)?;
    let stop = signals::stop_flag()?;
    let mut client = Client::open(server, &key, Arc::clone(&stop))?;
    let open = |near| Client::open_from(near, server, &key, Arc::clone(&stop));
    let measured = measure::measure(&mut client, open, args)?;
    let from = provenance(Made::OnKernel, []);
    if let Some(path) = &args.html {
        std::fs::write(path, page::page(&measured, &from))
            .with_context(|| format!("write {}", path.display()))?;
    }
    match args.json {
        true => print_json(&measured.results, from)?,
        false => write!(
            tidegate_terminal::out(),
            "{}",
            show::text(&measured.results)
        )?,
    }
    // The results so far have been printed.
    if let Some(failure) = measured.failure {
        return Err(failure.into());
    }
    if let Some(path) = &args.trace {
        let trace = measured.trace.as_deref();
        let trace = trace.context("the downlink carried too little for a trace")?;
        std::fs::write(path, trace).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

/// Reads the key in the file.
pub fn read_key(path: &Path) -> Result<Key> {
    let named = |e: &dyn std::fmt::Display| BadInput(format!("{}: {e}", path.display()));
    let text = read_text(path).map_err(|e| named(&e))?;
    warn_if_readable(path);
    Ok(text.parse().map_err(|e| named(&e))?)
}

/// The host's first address, with the default port if none is given.
pub fn resolve(host: &str) -> Result<SocketAddr> {
    let with_port = host.to_socket_addrs();
    let found = with_port.or_else(|_| (host, PORT).to_socket_addrs());
    let first = found.ok().and_then(|mut addresses| addresses.next());
    Ok(first
        .ok_or_else(|| BadInput(format!("{host}: no such host, expected HOST or HOST:PORT")))?)
}
