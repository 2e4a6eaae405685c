//! Finds out whether the machine lets a link's packets pass. Hosts' firewalls often do not: Docker's and ufw's chains
//! drop forwarded packets (`FORWARD` with the policy `drop`).
//!
//! A packet passes a hook only if all chains there accept it, so our accept cannot overrule another chain's drop. All
//! that can be done is to report it. For the way out, a packet is sent before the command starts: the first of a
//! connection, counted before the first chain of the hook and after the last. There it is dropped, so that it never
//! leaves the machine. nf_tables reports the chain that drops it earlier. For the way back, answers are counted at the
//! same two places while the link lives.

use super::routing::Version;
use super::{Place, Subnet};
use crate::tun::Tun;
use anyhow::{Context, Result};
use etherparse::PacketBuilder;
use nix::net::if_::if_nametoindex;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tidegate_linux::netfilter::{
    BaseChain, Chain, Compare, Dropped, Expression, Hook, Meta, State, Table, Trace, Word,
    base_chains,
};

/// An obstacle for the packets of one IP version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Whether it is IPv6.
    pub ipv6: bool,
    /// Their direction.
    pub way: Way,
    /// What dropped them.
    pub cause: Cause,
}

/// A direction, as the command sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the command.
    Out,
    /// To it.
    Back,
}

/// What dropped a packet that should have been forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A chain of nf_tables, where iptables, too, keeps its chains today. A rule that comes earlier has to be in
    /// `base`.
    Chain {
        /// The chain.
        dropped: Dropped,
        /// The chain at the hook, of the same table.
        base: Option<BaseChain>,
    },
    /// One of these chains, which drop packets that no rule accepts.
    OneOf(Vec<BaseChain>),
    /// `iptables-legacy`'s table `filter`, whose drops are not reported.
    Legacy,
    /// The kernel does not forward it: it never came to the hook.
    NotForwarded,
    /// An unknown cause.
    Unknown,
}

/// Counts the packets of the link's device before the first chain of the hook and after the last.
struct Gauge(Table);

const FIRST: Chain = Chain {
    name: "first",
    kind: "filter",
    hook: Hook::Forward,
    priority: i32::MIN,
};

const LAST: Chain = Chain {
    name: "last",
    priority: i32::MAX,
    ..FIRST
};

impl Gauge {
    /// A gauge in a table of that name, for packets that match; then its first and its last chain do as told.
    fn new(
        version: Version,
        name: &str,
        which: &[Expression],
        [first, last]: [&[Expression]; 2],
    ) -> Result<Self> {
        let table = Table::new(version.family(), name);
        let table = table.context("cannot open a netfilter netlink socket")?;
        let rule = |then| [which, &[Expression::count()], then].concat();
        let changes = [
            table.create(),
            table.chain(&FIRST),
            table.chain(&LAST),
            table.rule(FIRST.name, &rule(first)),
            table.rule(LAST.name, &rule(last)),
        ];
        table
            .commit(&changes)
            .context("cannot count packets (nf_tables, Linux 5.12)")?;
        Ok(Self(table))
    }

    /// How many packets came to the first chain, and to the last.
    fn counts(&self) -> Result<[u64; 2]> {
        let counted = self
            .0
            .counted()
            .context("cannot read counters of nf_tables")?;
        let of = |chain: Chain| {
            let of = counted.iter().find(|(name, _)| name == chain.name);
            of.map_or(0, |(_, packets)| *packets)
        };
        Ok([of(FIRST), of(LAST)])
    }
}

/// The obstacles on the link's way out. Has to be called before anything else uses the device.
///
/// # Errors
/// Without root or nf_tables.
pub fn obstacles(tun: &Tun, subnet: Subnet, ipv6: bool) -> Result<Vec<Obstacle>> {
    let mut found = Vec::new();
    for (source, _) in subnet.addresses(Place::Inside, ipv6) {
        if let Some(cause) = obstacle(tun, source)? {
            found.push(Obstacle {
                ipv6: source.is_ipv6(),
                way: Way::Out,
                cause,
            });
        }
    }
    Ok(found)
}

/// None if packets from that address pass, or if they have no route to leave by.
fn obstacle(tun: &Tun, source: IpAddr) -> Result<Option<Cause>> {
    let (version, destination) = match source {
        IpAddr::V4(_) => (Version::V4, DESTINATIONS.0.into()),
        IpAddr::V6(_) => (Version::V6, DESTINATIONS.1.into()),
    };
    if !has_route(destination) {
        return Ok(None);
    }
    let link = if_nametoindex(tun.name()).context("cannot find the link's device")?;
    let from_link = [
        Expression::meta(Meta::ComesBy, Word(0)),
        Expression::compare(Word(0), Compare::Equal, &link.to_ne_bytes()),
    ];
    let trace = Trace::listen().context("cannot listen to nf_tables")?;
    let name = format!("tidegate-{}-probe", tun.name());
    let then = [&Expression::trace()[..], &[Expression::discard()]];
    let gauge = Gauge::new(version, &name, &from_link, then)?;
    nix::unistd::write(tun, &beginning(source, destination)?).context("cannot send a packet")?;
    let [came, passed] = wait_for(&gauge)?;
    discard_answers(tun);
    Ok(match (came, passed) {
        (_, 1..) => None,
        (0, 0) => Some(Cause::NotForwarded),
        (1.., 0) => Some(cause(version, &trace)?),
    })
}

/// Addresses for documentation (RFC 5737, RFC 3849): no host has them, and nothing is sent to them.
const DESTINATIONS: (Ipv4Addr, Ipv6Addr) = (
    Ipv4Addr::new(192, 0, 2, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
);

/// Whether there is a route to that address; sends no packet.
fn has_route(destination: IpAddr) -> bool {
    let any: IpAddr = match destination {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    UdpSocket::bind((any, 0)).is_ok_and(|socket| socket.connect((destination, 443)).is_ok())
}

/// The first packet of a connection to a web server, with checksums, which connection tracking verifies.
fn beginning(source: IpAddr, destination: IpAddr) -> Result<Vec<u8>> {
    const TTL: u8 = 64;
    let builder = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            PacketBuilder::ipv4(source.octets(), destination.octets(), TTL)
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            PacketBuilder::ipv6(source.octets(), destination.octets(), TTL)
        }
        _ => unreachable!("addresses of one version"),
    };
    let builder = builder.tcp(49_152, 443, 1, 64_240).syn();
    let mut packet = Vec::new();
    builder.write(&mut packet, &[]).context("make a packet")?;
    Ok(packet)
}

/// Waits until the packet has passed, or has had enough time to.
fn wait_for(gauge: &Gauge) -> Result<[u64; 2]> {
    const TIMEOUT: Duration = Duration::from_millis(500);
    const POLL_INTERVAL: Duration = Duration::from_millis(5);
    let began = Instant::now();
    loop {
        let counts = gauge.counts()?;
        if counts[1] > 0 || began.elapsed() >= TIMEOUT {
            return Ok(counts);
        }
        sleep(POLL_INTERVAL);
    }
}

/// Reads the answers of chains that reject, since the packet's sender does not exist.
fn discard_answers(tun: &Tun) {
    let mut packet = [0; 2048];
    while nix::unistd::read(tun, &mut packet).is_ok_and(|length| length > 0) {}
}

fn cause(version: Version, trace: &Trace) -> Result<Cause> {
    let dropped = trace.dropped().context("cannot hear of nf_tables")?;
    let Some(dropped) = dropped.into_iter().next() else {
        return Ok(untold(version));
    };
    let of_table = |chain: &BaseChain| {
        (chain.family, chain.table.as_str()) == (dropped.family, dropped.table.as_str())
    };
    let chains = base_chains(Hook::Forward).context("cannot list the chains of nf_tables")?;
    let own = chains
        .iter()
        .find(|c| of_table(c) && c.name == dropped.chain);
    let base = own.or_else(|| chains.iter().find(|chain| of_table(chain)));
    Ok(Cause::Chain {
        base: base.cloned(),
        dropped,
    })
}

/// The cause for a packet whose drop nf_tables does not report.
fn untold(version: Version) -> Cause {
    let names = match version {
        Version::V4 => "/proc/net/ip_tables_names",
        Version::V6 => "/proc/net/ip6_tables_names",
    };
    let names = std::fs::read_to_string(names).unwrap_or_default();
    match names.lines().any(|name| name == "filter") {
        true => Cause::Legacy,
        false => Cause::Unknown,
    }
}

/// Answers to a link's command, counted while this lives.
pub struct Answers(Vec<(Version, Gauge)>);

impl Answers {
    /// Begins to count, for all versions.
    ///
    /// # Errors
    /// Without root or nf_tables.
    pub fn count(tun: &Tun, ipv6: bool) -> Result<Self> {
        let link = if_nametoindex(tun.name()).context("cannot find the link's device")?;
        let known = [State::Established, State::Related].map(|s| u32::from_ne_bytes(s.value()));
        let known = (known[0] | known[1]).to_ne_bytes();
        let answer = [
            Expression::meta(Meta::LeavesBy, Word(0)),
            Expression::compare(Word(0), Compare::Equal, &link.to_ne_bytes()),
            Expression::state(Word(0)),
            Expression::mask(Word(0), &known),
            Expression::compare(Word(0), Compare::Unequal, &[0; 4]),
        ];
        let name = format!("tidegate-{}-answers", tun.name());
        let versions = [Some(Version::V4), ipv6.then_some(Version::V6)];
        let gauges = versions.into_iter().flatten().map(|version| {
            let gauge = Gauge::new(version, &name, &answer, [&[], &[]])?;
            Ok((version, gauge))
        });
        Ok(Self(gauges.collect::<Result<_>>()?))
    }

    /// The obstacles on their way, if some came and none passed.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    pub fn obstacles(&self) -> Result<Vec<Obstacle>> {
        let mut found = Vec::new();
        for (version, gauge) in &self.0 {
            let [came, passed] = gauge.counts()?;
            if came == 0 || passed > 0 {
                continue;
            }
            let mut chains = base_chains(Hook::Forward).context("cannot list the chains")?;
            chains.retain(|chain| chain.drops && version.is_seen_by(chain.family));
            found.push(Obstacle {
                ipv6: *version == Version::V6,
                way: Way::Back,
                cause: match chains.is_empty() {
                    true => untold(*version),
                    false => Cause::OneOf(chains),
                },
            });
        }
        Ok(found)
    }
}
