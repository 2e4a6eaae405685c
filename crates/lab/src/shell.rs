//! Any command behind an emulated link, as mahimahi's shells do.
//!
//! The command runs in a network namespace of its own whose only way out is a TUN device. Its packets
//! pass the emulator, come out of another TUN device in the caller's namespace, and leave it under
//! the caller's address.

mod caller;
mod forwarding;
mod masquerade;
mod signals;

use crate::child::die_with_parent;
use crate::clock::Clock;
use crate::emulator::Emulator;
use crate::netlink::Interface;
use crate::tun::Tun;
use anyhow::{Context, Result, bail};
pub use caller::Caller;
use forwarding::Forwarding;
pub use masquerade::Masquerade;
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
use tidegate_measure::{Demand, LinkRecord, Window};
use tidegate_netns::Namespace;

/// Runs `command` (a program and its arguments) behind a link of `down` towards it and `up` from it,
/// and returns its status. Standard input and output, environment and working folder are the
/// caller's; signals that are sent to the calling thread or, if it is the only one, to the process
/// are forwarded. It runs as `caller`, or with all of root's rights if there is none.
///
/// Names resolve as before, unless `/etc/resolv.conf` names a resolver on the loopback device, which
/// the command cannot reach. IPv6 works where the kernel forwards it (see below).
///
/// Nothing outlives the call, nor a killed process, but for one thing: if interfaces did not forward
/// packets they are made to, and after `kill -9` they stay so until the next call in this namespace
/// returns.
///
/// # Errors
/// Without root, a TUN driver or nf_tables; when the command cannot be started.
pub fn link_shell(
    down: Config,
    up: Config,
    command: &[OsString],
    caller: Option<&Caller>,
) -> Result<ExitStatus> {
    let signals = Signals::hold()?;
    let outside = Tun::open("tg%d")?;
    let forwarding = Forwarding::switch_on()?;
    let subnet = Subnet::of(&outside)?;
    subnet.configure(&outside, Place::Outside, forwarding.ipv6)?;
    let namespace = Arc::new(Namespace::new()?);
    let inside = namespace.run(|| {
        Interface::named("lo")?.set_up()?;
        let inside = Tun::open("tg%d")?;
        subnet.configure(&inside, Place::Inside, forwarding.ipv6)?;
        Ok(inside)
    })?;
    let _masquerades: Vec<Masquerade> = subnet
        .addresses(Place::Inside, forwarding.ipv6)
        .map(|(address, _)| Masquerade::new(address, &format!("tidegate-{}", outside.name())))
        .collect::<Result<_>>()?;
    let window = Window {
        warmup: Instant::ZERO,
        end: Instant::MAX,
    };
    let unseen = |link| (link, LinkRecord::new(window, Demand::default(), false));
    let (ports, links) = ((inside.port(), outside.port()), (unseen(down), unseen(up)));
    let emulator = Emulator::new(ports, links, 1, Clock::start(), window);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let emulator = scope.spawn(|| emulator.run(&stop));
        let status = run_inside(&namespace, command, caller, &signals);
        stop.store(true, Ordering::Relaxed);
        match emulator.join() {
            Ok(carried) => carried.map(drop)?,
            Err(_) => bail!("the emulator panicked"),
        }
        status
    })
}

fn run_inside(
    namespace: &Arc<Namespace>,
    command: &[OsString],
    caller: Option<&Caller>,
    signals: &Signals,
) -> Result<ExitStatus> {
    let (program, arguments) = command
        .split_first()
        .context("no command to run behind the link")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let (namespace, mask) = (namespace.clone(), signals.mask_before());
    let enter = move || {
        mask.thread_set_mask()?;
        namespace.try_enter().map_err(io::Error::from)
    };
    // SAFETY: the closure runs between fork and exec and makes two system calls, without allocating.
    unsafe { command.pre_exec(enter) };
    // In this order: only root enters, and only what is a user's from then on keeps its signal.
    if let Some(caller) = caller {
        caller.take(&mut command);
    }
    die_with_parent(&mut command);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run \"{}\"", program.display()))?;
    signals.wait(&mut child)
}

/// The two addresses at the ends of one shell's link.
///
/// Numbered like the outside device, whose number the kernel makes unique in the namespace, so that
/// shells may run beside and inside each other.
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

    /// Addresses and prefix lengths: of 198.19.0.0/16, half of the range for benchmarks (RFC 2544),
    /// and of a prefix for local use (RFC 4193).
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

    /// Sets the device up with its addresses, and routes everything through the one inside.
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
