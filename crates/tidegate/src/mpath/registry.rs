//! `tidegate mpath registry`.

use super::secret;
use anyhow::Result;
use clap::Args;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_overlay::registry::{Config, Memory, Redis, Server, Service, Store};
use tidegate_terminal::warn;

/// The environment variable that may name the store.
const STORE: &str = "TIDEGATE_MPATH_STORE";

/// Time between two checks for an interrupt.
const TICK: Duration = Duration::from_millis(100);

/// How `mpath registry` is used.
const EXAMPLES: &[Example] = &[(
    "tidegate mpath registry --secret overlay.token",
    "answer at TCP port 7480, which a firewall has to let in",
)];

/// Arguments of `mpath registry`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct RegistryArgs {
    /// Where to listen, TCP
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:7480")]
    listen: SocketAddr,
    /// Where proxies and receivers are stored: memory, redis://HOST:PORT or redis+unix:///SOCKET, which several
    /// registries may share; TIDEGATE_MPATH_STORE or else memory by default
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// The overlay's token; made and printed if there is no such file. TIDEGATE_MPATH_TOKEN or else a
    /// new token by default
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
}

/// Serves until interrupted.
pub fn run(args: &RegistryArgs) -> Result<()> {
    let stop = signals::stop_flag()?;
    let store = store(args.store.as_deref())?;
    if args.secret.is_none() && secret::in_environment().is_none() && goes_to_the_journal() {
        return Err(BadInput(format!(
            "a new token would stand in the journal: expected --secret FILE, which is made, or {}",
            secret::VARIABLE
        ))
        .into());
    }
    let found = secret::load_or_make(args.secret.as_deref())?;
    let token = found.secret.to_string();
    let service = Service::new(found.secret, store, Config::default());
    let server = Server::start(args.listen, service)
        .map_err(|error| BadInput(format!("cannot listen at {}: {error}", args.listen)))?;
    warn(format_args!("the registry listens at {}", server.address()));
    if found.new {
        announce(&token, args.secret.as_deref(), server.address().port())?;
    }
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(TICK);
    }
    Ok(())
}

/// Says how proxies join. A token without a file is printed alone, so that `> FILE` keeps it.
fn announce(token: &str, file: Option<&Path>, port: u16) -> Result<()> {
    let kept = match file {
        Some(file) => file.display().to_string(),
        None => {
            writeln!(tidegate_terminal::data(), "{token}")?;
            warn(format_args!(
                "that is the token of a new overlay; it ends with this process unless it is kept in a file"
            ));
            "FILE".into()
        }
    };
    let variable = secret::VARIABLE;
    warn(format_args!(
        "proxies join with the token in the environment, as {variable}, or in a file:\n\n    \
         tidegate mpath proxy --registry http://THIS-MACHINE:{port} --secret {kept}\n"
    ));
    Ok(())
}

/// Whether systemd writes our output to the journal, for all its readers.
fn goes_to_the_journal() -> bool {
    let Some(stream) = std::env::var_os("JOURNAL_STREAM") else {
        return false;
    };
    let out = nix::sys::stat::fstat(std::io::stdout());
    out.is_ok_and(|out| stream == *format!("{}:{}", out.st_dev, out.st_ino))
}

fn store(named: Option<&str>) -> Result<Box<dyn Store>, BadInput> {
    if named.is_some_and(has_password) {
        return Err(BadInput(format!(
            "everybody on this machine can read a password on the command line: put the store into {STORE}"
        )));
    }
    let from_environment = std::env::var(STORE).ok();
    let named = named.map(str::to_owned).or(from_environment);
    match named.as_deref() {
        None | Some("memory") => Ok(Box::new(Memory::default())),
        // Do not print the URL: it may contain a password.
        Some(url) => match Redis::open(url) {
            Ok(store) => Ok(Box::new(store)),
            Err(error) => Err(BadInput(format!(
                "expected memory, redis://HOST:PORT or redis+unix:///SOCKET as the store, where a server answers: {error}"
            ))),
        },
    }
}

fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let user = rest.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || rest.contains("pass=")
}
