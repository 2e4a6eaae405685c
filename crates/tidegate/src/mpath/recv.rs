//! `tidegate mpath recv`: prints a token, and receives files from senders that have it.

use super::bar::Bar;
use super::files::{bad_input, interrupt, part};
use super::{identity, relays};
use crate::values::bytes;
use anyhow::{Result, bail};
use clap::Args;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_terminal::{Bars, HumanBytes, shown};
use tidegate_terminal::{say, warn};
use tidegate_transfer::file::{FileError, Progress, Receive, Transferred, receive};
use tidegate_transfer::{Config, Connection, Endpoint, Token};
use tokio::task::JoinSet;

/// How `mpath recv` is used.
const EXAMPLES: &[Example] = &[(
    "tidegate mpath recv inbox",
    "receive files at UDP port 9447, which a firewall has to let in; prints a token for the sender",
)];

/// Arguments of `mpath recv`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct RecvArgs {
    /// The folder that the files go into
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// The registry that knows proxies, and tells senders where this receiver is: http://HOST:PORT;
    /// repeatable for several that share a store
    #[arg(long, value_name = "URL")]
    pub registry: Vec<String>,
    /// UDP address to listen on. The token contains it: with the same address the token stays valid
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0:9447")]
    pub listen: SocketAddr,
    /// The address in the token, if it is another one: behind a router its public address and the UDP port that it
    /// forwards to this machine
    #[arg(long, value_name = "ADDR")]
    pub advertise: Option<SocketAddr>,
    /// Where the receiver's key is kept; in the user's own state folder if absent
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Largest size of a file, such as 2GB; by default what the folder has room for, less a twentieth that stays free
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_size: Option<u64>,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
    /// End when one sender's files have all arrived
    #[arg(long)]
    pub once: bool,
}

/// How long, beyond the longest silence, we wait for a file that another connection was receiving.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Receives files until interrupted, or from one sender with `--once`.
pub async fn run(args: &RecvArgs) -> Result<()> {
    if !args.folder.is_dir() {
        let folder = args.folder.display();
        return Err(BadInput(format!("{folder} is not a folder to receive into")).into());
    }
    let identity = identity::load_or_create(args.key.as_deref())?;
    let config = Config::default();
    let endpoint = Endpoint::bind(args.listen, Some(identity.clone()), config)
        .map_err(|error| bad_input(format!("--listen {}: {error}", args.listen)))?;
    let address = args
        .advertise
        .unwrap_or_else(|| reachable(endpoint.local_address()));
    let _announcement = relays::announce(&args.registry, &identity, address)?;
    let token = Token::new(&identity, vec![address], relays::joined(&args.registry));
    say(format_args!("{token}"));
    warn(format_args!(
        "listening on {address}; send with: tidegate mpath send FILE… --token -"
    ));
    if args.advertise.is_none() && is_behind_nat(address.ip()) {
        warn(format_args!(
            "senders elsewhere do not reach {}: for them the router has to forward a UDP port to \
             this machine, and --advertise has to name its public address and that port",
            address.ip()
        ));
    }
    let what = Arc::new(Receive {
        force: args.force,
        max_size: args.max_size.unwrap_or(u64::MAX),
        patience: config.idle_timeout + TIMEOUT,
        ..Receive::into(args.folder.clone())
    });
    let bars = Bars::default();
    let mut connections = JoinSet::new();
    let mut interrupted = pin!(interrupt());
    loop {
        tokio::select! {
            connection = endpoint.accept() => {
                let Some(connection) = connection else {
                    bail!("the socket is gone");
                };
                connections.spawn(take(connection, Arc::clone(&what), bars.clone()));
            }
            Some(outcome) = connections.join_next() => {
                // A connection's panic must not end the others, nor must its error.
                let complete = match outcome {
                    Ok(outcome) => report(&bars, &outcome),
                    Err(error) => {
                        warn(format_args!("tidegate: a connection was given up: {error}"));
                        false
                    }
                };
                if complete && args.once {
                    part(&endpoint).await;
                    return Ok(());
                }
            }
            error = &mut interrupted => {
                let idle = connections.is_empty();
                connections.shutdown().await;
                part(&endpoint).await;
                // Between two senders, an interrupt is the usual way to end the receiver.
                return if idle { Ok(()) } else { Err(error) };
            }
        }
    }
}

async fn take(connection: Connection, what: Arc<Receive>, bars: Bars) -> Result<(), FileError> {
    let mut bar = Bar::new(&bars, connection.monitor());
    let show = |progress: Progress| bar.show(&progress);
    let arrived = |file: Transferred| {
        let (name, length) = (shown(&file.name), HumanBytes(file.length));
        bars.suspend(|| say(format_args!("{name}: {length}, BLAKE3 {}", file.hash)));
    };
    receive(connection, &what, arrived, show).await
}

/// Reports the end of a connection; returns whether all its files have arrived.
fn report(bars: &Bars, outcome: &Result<(), FileError>) -> bool {
    bars.suspend(|| {
        match outcome {
            Ok(()) => {}
            Err(FileError::Connection(error)) => warn(format_args!(
                "tidegate: {error}; the received part is kept; the same command at the sender continues it"
            )),
            Err(error) => warn(format_args!("tidegate: {error}")),
        }
    });
    outcome.is_ok()
}

/// Whether it is a private address, of a home or a provider's network (RFC 1918, RFC 6598).
fn is_behind_nat(ip: IpAddr) -> bool {
    let IpAddr::V4(ip) = ip else { return false };
    ip.is_private() || matches!(ip.octets(), [100, 64..128, ..])
}

/// The address by which others reach a socket that listens on all addresses: that of the default route.
fn reachable(bound: SocketAddr) -> SocketAddr {
    if !bound.ip().is_unspecified() {
        return bound;
    }
    // These are addresses for documentation (RFC 5737, RFC 3849): we send nothing, the kernel only looks up the route.
    let (any, away, own): (SocketAddr, SocketAddr, IpAddr) = match bound {
        SocketAddr::V4(_) => (
            (Ipv4Addr::UNSPECIFIED, 0).into(),
            ([192, 0, 2, 1], 9).into(),
            Ipv4Addr::LOCALHOST.into(),
        ),
        SocketAddr::V6(_) => (
            (Ipv6Addr::UNSPECIFIED, 0).into(),
            ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9).into(),
            Ipv6Addr::LOCALHOST.into(),
        ),
    };
    let leads_away = || {
        let socket = UdpSocket::bind(any)?;
        socket.connect(away)?;
        socket.local_addr()
    };
    let ip = leads_away().map_or(own, |address| address.ip());
    SocketAddr::new(ip, bound.port())
}
