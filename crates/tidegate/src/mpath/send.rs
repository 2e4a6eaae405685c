//! `tidegate mpath send`: sends files to the receiver that printed the token.

use super::bar::Bar;
use super::files::{bad_input, interrupt, part};
use super::relays::{self, Ways};
use super::token;
use anyhow::{Context, Error, Result, anyhow};
use clap::Args;
use serde::Serialize;
use std::collections::HashSet;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Instant;
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_terminal::units;
use tidegate_terminal::{Bars, HumanBytes, shown};
use tidegate_transfer::file::{FileError, Transferred, check, send};
use tidegate_transfer::{Config, Connection, ConnectionError, Endpoint, Monitor, Token};

/// How `mpath send` is used.
const EXAMPLES: &[Example] = &[(
    "tidegate mpath send film.mkv --token -",
    "asks for the receiver's token",
)];

/// Arguments of `mpath send`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct SendArgs {
    /// The files; after an interruption the same command goes on where it ended. The last argument may be the
    /// receiver's token, but there everybody on the machine can read it
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The file with the token that the receiver printed; - asks for it, on standard input.
    /// TIDEGATE_MPATH_RECEIVER by default
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,
    /// Print a summary as JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// The result.
#[derive(Debug, Serialize)]
struct Summary {
    files: Vec<Sent>,
    /// Bytes sent over the network; files that were there already do not count.
    bytes: u64,
    seconds: f64,
    bits_per_second: f64,
    packets_sent_again: u64,
    round_trip_ms: Option<f64>,
    packet_bytes: usize,
    /// Packets that each proxy in use at the end delivered, by its address.
    proxies: Vec<(SocketAddr, u64)>,
}

#[derive(Debug, Serialize)]
struct Sent {
    name: String,
    bytes: u64,
    resumed_at: u64,
    blake3: String,
}

/// Sends the files.
pub async fn run(args: &SendArgs) -> Result<()> {
    let (token, files) = token::find(args.token.as_deref(), &args.files)?;
    check_files(files)?;
    let started = Instant::now();
    let (sent, monitor) = transfer(&token, files).await?;
    let summary = Summary::new(sent, &monitor, started.elapsed().as_secs_f64());
    summary.print(args.json)
}

/// Refuses files that cannot be sent, before we connect.
fn check_files(files: &[PathBuf]) -> Result<(), BadInput> {
    let mut names = HashSet::new();
    for file in files {
        let name = check(file).map_err(bad_input)?;
        let readable = std::fs::File::open(file);
        readable.map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
        if !names.insert(name) {
            let why = "two files of one name would be one at the receiver";
            return Err(bad_input(format!("{}: {why}", file.display())));
        }
    }
    Ok(())
}

/// Sends the files; over a new connection if one fails, and with small packets if large ones do not arrive.
async fn transfer(token: &Token, files: &[PathBuf]) -> Result<(Vec<Transferred>, Monitor)> {
    let mut config = Config::default();
    let mut sent = Vec::new();
    let bars = Bars::default();
    let mut interrupted = pin!(interrupt());
    loop {
        let (endpoint, connection) = tokio::select! {
            connected = connect(token, config) => connected?,
            error = &mut interrupted => return Err(error),
        };
        let monitor = connection.monitor();
        let mut bar = Bar::new(&bars, monitor.clone());
        let left = &files[sent.len()..];
        let result = tokio::select! {
            result = send(connection, left, &mut sent, |progress| bar.show(&progress)) => Ok(result),
            error = &mut interrupted => Err(error),
        };
        drop(bar);
        part(&endpoint).await;
        let Err(error) = result? else {
            return Ok((sent, monitor));
        };
        match error.connection_error() {
            Some(ConnectionError::BlackHole) => config = config.with_small_packets(),
            Some(ConnectionError::KeyExhausted) => {}
            _ => return Err(failure(error)),
        }
    }
}

fn failure(error: FileError) -> Error {
    match error {
        FileError::Refused(why) => BadInput(why).into(),
        // In one sentence, since it contains its source.
        other => anyhow!("{other}"),
    }
}

/// Connects to the first of the token's addresses that answers.
async fn connect(token: &Token, config: Config) -> Result<(Endpoint, Connection)> {
    let Ways {
        destination,
        relays,
    } = relays::ways(token).await?;
    let known = destination.filter(|address| !token.addresses.contains(address));
    let mut last = None;
    for &address in token.addresses.iter().chain(&known) {
        let any: IpAddr = match address {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let endpoint =
            Endpoint::bind(SocketAddr::new(any, 0), None, config).context("open a UDP socket")?;
        match endpoint.connect(token, address, relays.clone()).await {
            Ok(connection) => return Ok((endpoint, connection)),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(error.into()),
        None => Err(BadInput("the token does not say where its receiver is".into()).into()),
    }
}

impl Summary {
    fn new(files: Vec<Transferred>, monitor: &Monitor, seconds: f64) -> Self {
        let status = monitor.status();
        let bytes = files.iter().map(|file| file.length - file.resumed).sum();
        Self {
            bytes,
            seconds,
            bits_per_second: bytes as f64 * 8.0 / seconds,
            packets_sent_again: status.retransmits,
            round_trip_ms: status.round_trip.map(|rtt| rtt.as_secs_f64() * 1e3),
            packet_bytes: status.packet_bytes,
            proxies: status.proxies,
            files: files.into_iter().map(Sent::from).collect(),
        }
    }

    fn print(&self, json: bool) -> Result<()> {
        if json {
            let mut out = tidegate_terminal::data();
            serde_json::to_writer_pretty(&mut out, self)?;
            writeln!(out)?;
            return Ok(());
        }
        let mut out = tidegate_terminal::out();
        for file in &self.files {
            let length = HumanBytes(file.bytes);
            let name = shown(&file.name);
            let there = match file.resumed_at {
                0 => String::new(),
                all if all == file.bytes => ", was there already".into(),
                some => format!("; {} of them were there", HumanBytes(some)),
            };
            writeln!(out, "{name}: {length}{there}, BLAKE3 {}", file.blake3)?;
        }
        writeln!(
            out,
            "{} in {:.1} s, {}, {} packets sent again, {} proxies in use at the end",
            HumanBytes(self.bytes),
            self.seconds,
            units::rate(self.bits_per_second),
            self.packets_sent_again,
            self.proxies.len(),
        )?;
        Ok(())
    }
}

impl From<Transferred> for Sent {
    fn from(file: Transferred) -> Self {
        Self {
            name: file.name,
            bytes: file.length,
            resumed_at: file.resumed,
            blake3: file.hash,
        }
    }
}
