//! `tidegate mpath proxy`.

mod status;

use super::secret;
use anyhow::Result;
use clap::Args;
use status::Status;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_overlay::proxy::{Options, Proxy};
use tidegate_overlay::{Limits, Rate, Registry};

/// Time between two checks for interrupts and news from the registry.
const TICK: Duration = Duration::from_millis(200);

/// Time between two status lines.
const STATUS: Duration = Duration::from_secs(10);

/// How long a rate may be exceeded at once, and the least burst in bytes: the largest packet that the kernel joins.
const BURST_S: f64 = 0.05;
const BURST: f64 = 65_536.0;

/// How `mpath proxy` is used.
const EXAMPLES: &[Example] = &[(
    "tidegate mpath proxy --registry http://registry:7480 --secret overlay.token",
    "forward at UDP port 7481, which a firewall has to let in",
)];

/// Arguments of `mpath proxy`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct ProxyArgs {
    /// The registry, http://HOST:PORT; repeatable for several that share a store
    #[arg(long, value_name = "URL", required = true)]
    registry: Vec<String>,
    /// The overlay's token, as its registry has printed it; TIDEGATE_MPATH_TOKEN by default
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Where to listen, UDP
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:7481")]
    listen: SocketAddr,
    /// Its public address, one of IPv4 and one of IPv6 at most; by default where the registry sees it
    #[arg(long, value_name = "ADDRESS:PORT")]
    public: Vec<SocketAddr>,
    /// Forward no more than this, in all
    #[arg(long, value_name = "MBPS", default_value_t = 1000.0, value_parser = rate)]
    rate: f64,
    /// Forward no more than this from one address
    #[arg(long, value_name = "MBPS", default_value_t = 200.0, value_parser = rate)]
    source_rate: f64,
    /// Forward to private addresses although the proxy has a public one, and to this machine
    #[arg(long)]
    allow_private: bool,
    /// One JSON object every 10 s and at the end, instead of text
    #[arg(long)]
    json: bool,
}

/// Forwards packets until interrupted.
pub fn run(args: &ProxyArgs) -> Result<()> {
    let stop = signals::stop_flag()?;
    let registry = Registry::new(&args.registry).map_err(|error| BadInput(error.to_string()))?;
    check_public(args)?;
    let secret = secret::load(args.secret.as_deref())?;
    let options = Options {
        listen: args.listen,
        public: args.public.clone(),
        limits: Limits {
            overall: Some(bytes(args.rate)),
            source: Some(bytes(args.source_rate)),
        },
        allow_private: args.allow_private,
    };
    let mut proxy = Proxy::start(&registry, secret, &options)
        .map_err(|error| BadInput(format!("cannot listen at {}: {error}", args.listen)))?;
    let mut status = Status::new(args.json);
    status.listening(proxy.address()?);
    let (mut tick, mut next) = (Instant::now(), Instant::now() + STATUS);
    loop {
        // Packets that came before the interrupt are still forwarded.
        let last = stop.load(Ordering::Relaxed);
        proxy.turn(if last { Duration::ZERO } else { TICK });
        if last {
            status.total(proxy.counts());
            return Ok(());
        }
        let now = Instant::now();
        if now >= tick {
            tick = now + TICK;
            status.registered(proxy.enrolment())?;
        }
        if now >= next {
            next = now + STATUS;
            status.counts(proxy.counts());
        }
    }
}

fn check_public(args: &ProxyArgs) -> Result<(), BadInput> {
    let (public, listen) = (&args.public, args.listen);
    let of_ipv4 = public.iter().filter(|address| address.is_ipv4()).count();
    if of_ipv4 > 1 || public.len() - of_ipv4 > 1 {
        let why = "--public: expected one address of IPv4 and one of IPv6 at most";
        return Err(BadInput(why.into()));
    }
    // A socket at [::] receives both families.
    let both = listen.is_ipv6() && listen.ip().is_unspecified();
    for address in public {
        if address.port() == 0 || address.ip().is_unspecified() {
            return Err(BadInput(format!(
                "--public {address}: expected an address and a port that senders reach"
            )));
        }
        if !both && address.is_ipv4() != listen.is_ipv4() {
            return Err(BadInput(format!(
                "--public {address}: the proxy listens at {listen}, expected addresses of one IP version"
            )));
        }
    }
    Ok(())
}

/// The rate in bytes a second; packets count without envelope, IP and UDP headers.
fn bytes(mbps: f64) -> Rate {
    let per_second = mbps * 1e6 / 8.0;
    Rate {
        per_second,
        burst: (per_second * BURST_S).max(BURST),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(mbps) if mbps > 0.0 && mbps <= 1e6 => Ok(mbps),
        _ => Err("expected Mbit/s, above 0 and at most 1000000".into()),
    }
}
