//! Runs any command behind an emulated link, as mahimahi's shells do.
//!
//! The command runs in a separate network namespace whose only way out is a TUN device. Its packets pass the emulator,
//! come out of another TUN device in the caller's namespace, and leave with the caller's address. The caller's
//! namespace forwards these packets and their answers, and no others (`guard.rs`).

mod guard;
mod masquerade;
mod passage;
mod resolver;
mod routing;
mod signals;
mod uplinks;
mod warden;

use crate::clock::Clock;
use crate::confine::{Caller, Place as Stands, confine};
use crate::emulator::{Emulator, Record};
use crate::netlink::Interface;
use crate::tun::Tun;
use anyhow::{Context, Result, bail};
pub use masquerade::Masquerade;
use passage::{Answers, obstacles};
pub use passage::{Cause, Obstacle, Way};
pub use resolver::Resolver;
use signals::Signals;
use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tidegate_link::{Config, Instant};
use tidegate_linux::netns::Namespace;
use tidegate_measure::{Demand, LinkRecord, Window};
pub use uplinks::Uplinks;
use warden::Warden;

/// The command that runs behind a link.
#[derive(Clone, Debug)]
pub struct Guest<'a> {
    /// A program and its arguments.
    pub command: &'a [OsString],
    /// The user that it runs as; none: root, with all capabilities.
    pub caller: Option<Caller>,
    /// Its uplinks: the interfaces by which it reaches the outside.
    pub uplinks: Uplinks,
    /// How its names resolve.
    pub resolver: Resolver,
    /// Called for each obstacle that keeps the link's packets from passing the machine: before the command starts, and,
    /// for answers, when it has ended.
    pub warn: fn(&Obstacle),
}

/// Checks what keeps a link's packets from leaving the machine over the uplinks. It makes a link without a command for
/// the time of the call.
///
/// # Errors
/// Without root, a TUN driver or nf_tables.
pub fn check_passage(uplinks: &Uplinks) -> Result<Vec<Obstacle>> {
    let _signals = Signals::hold()?;
    Outside::open(uplinks)?.obstacles()
}

/// Runs a command behind a link of `down` towards it and `up` from it. Returns its status and the links' records, in
/// bins of time, too, if `bins`. Standard input and output, environment and working folder are the caller's. Signals
/// that are sent to the process are forwarded, unless another of its threads takes them. IPv6 works if the kernel can
/// forward it (`routing`).
///
/// Nothing outlives the call, even if this process is killed: processes that the command has started end with it, and a
/// separate process restores IP forwarding (`warden`).
///
/// # Errors
/// Without root, a TUN driver or nf_tables; when the command cannot be started.
pub fn link_shell(
    down: Config,
    up: Config,
    guest: &Guest,
    bins: bool,
) -> Result<(ExitStatus, Record)> {
    let signals = Signals::hold()?;
    let outside = Outside::open(&guest.uplinks)?;
    outside.obstacles()?.iter().for_each(guest.warn);
    let (subnet, ipv6) = (outside.subnet, outside.warden.ipv6);
    let namespace = Arc::new(Namespace::new()?);
    let inside = namespace.run(|| {
        Interface::named("lo")?.set_up()?;
        let inside = Tun::open("tg%d")?;
        subnet.configure(&inside, Place::Inside, ipv6)?;
        Ok(inside)
    })?;
    let window = Window {
        warmup: Instant::ZERO,
        end: Instant::MAX,
    };
    let seen = |link| (link, LinkRecord::new(window, Demand::default(), bins));
    let ports = (inside.port(), outside.tun.port());
    let emulator = Emulator::new(ports, (seen(down), seen(up)), 1, Clock::start(), window);
    let stop = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        let emulator = scope.spawn(|| emulator.run(&stop));
        // In a separate thread, which starts no others ([`confine`]).
        let command = scope.spawn(|| run_inside(&namespace, guest, &signals));
        let status = command.join();
        stop.store(true, Ordering::Relaxed);
        match (status, emulator.join()) {
            (Ok(status), Ok(carried)) => carried.and_then(|carried| Ok((status?, carried))),
            _ => bail!("a thread panicked"),
        }
    })?;
    outside.answers.obstacles()?.iter().for_each(guest.warn);
    Ok(done)
}

/// The link's end in the caller's namespace. Its fields are dropped in this order.
struct Outside {
    tun: Tun,
    answers: Answers,
    _masquerades: Vec<Masquerade>,
    warden: Warden,
    subnet: Subnet,
}

impl Outside {
    fn open(uplinks: &Uplinks) -> Result<Self> {
        let tun = Tun::open("tg%d")?;
        let warden = Warden::post(tun.name(), uplinks)?;
        let subnet = Subnet::of(&tun)?;
        subnet.configure(&tun, Place::Outside, warden.ipv6)?;
        let masquerades = subnet
            .addresses(Place::Inside, warden.ipv6)
            .map(|(address, _)| Masquerade::new(address, &format!("tidegate-{}", tun.name())))
            .collect::<Result<_>>()?;
        Ok(Self {
            answers: Answers::count(&tun, warden.ipv6)?,
            tun,
            _masquerades: masquerades,
            warden,
            subnet,
        })
    }

    fn obstacles(&self) -> Result<Vec<Obstacle>> {
        obstacles(&self.tun, self.subnet, self.warden.ipv6)
    }
}

fn run_inside(namespace: &Arc<Namespace>, guest: &Guest, signals: &Signals) -> Result<ExitStatus> {
    let (program, arguments) = guest
        .command
        .split_first()
        .context("no command to run behind the link")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let (namespace, mask) = (namespace.clone(), signals.mask_before());
    let enter = move || namespace.try_enter().map_err(io::Error::from);
    // SAFETY: the closure runs between fork and exec and makes a system call, without allocating.
    unsafe { command.pre_exec(enter) };
    let resolver = match &guest.resolver {
        Resolver::File(file) => Some(file.as_path()),
        Resolver::Callers | Resolver::OutOfReach => None,
    };
    let report = confine(&mut command, Stands::Foreground, resolver)?;
    // SAFETY: as above.
    unsafe { command.pre_exec(move || mask.thread_set_mask().map_err(io::Error::from)) };
    // Last, since the other hooks need root.
    if let Some(caller) = &guest.caller {
        caller.take(&mut command);
    }
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run \"{}\"", program.display()))?;
    drop(command);
    let status = signals.wait(&mut child)?;
    Ok(report.read().unwrap_or(status))
}

/// The two addresses at the ends of one shell's link.
///
/// It has the number of the outside device, which the kernel makes unique in the namespace, so that shells may run
/// beside and inside each other.
#[derive(Clone, Copy, Debug)]
struct Subnet(u16);

/// An end of the link.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The caller's namespace.
    Outside,
    /// The command's.
    Inside,
}

impl Subnet {
    fn of(outside: &Tun) -> Result<Self> {
        let digits = outside
            .name()
            .trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = digits.parse().ok().filter(|n| *n < 1 << 14);
        Ok(Self(number.with_context(|| {
            format!("no addresses left for the device {}", outside.name())
        })?))
    }

    /// Addresses and prefix lengths: from 198.19.0.0/16, half of the range for benchmarks (RFC 2544), and from a prefix
    /// for local use (RFC 4193).
    fn addresses(self, place: Place, ipv6: bool) -> impl Iterator<Item = (IpAddr, u8)> {
        let host = match place {
            Place::Outside => 1,
            Place::Inside => 2,
        };
        let [high, low] = (self.0 << 2 | host).to_be_bytes();
        let v4 = Ipv4Addr::new(198, 19, high, low);
        let v6 = Ipv6Addr::new(0xfd74, 0x6964, 0x6567, self.0, 0, 0, 0, host);
        let v6 = ipv6.then_some((IpAddr::from(v6), 64));
        [(IpAddr::from(v4), 30)].into_iter().chain(v6)
    }

    /// Sets the device up with its addresses; inside, also routes everything through it.
    fn configure(self, tun: &Tun, place: Place, ipv6: bool) -> Result<()> {
        let interface = Interface::named(tun.name())?;
        interface.set_up_tun()?;
        for (address, prefix_length) in self.addresses(place, ipv6) {
            interface.add_address(address, prefix_length)?;
            if matches!(place, Place::Inside) {
                interface.add_default_route(address)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
