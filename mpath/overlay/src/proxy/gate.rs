//! Whether a packet passes, and its destination.

use super::counts::Refusal;
use super::destination::Kind;
use crate::capability::{Invalid, ProxyKey};
use crate::limits::{Bucket, Limits, Sources};
use crate::{Now, Rate, Secret};
use std::net::{IpAddr, SocketAddr};
use tidegate_mpath::wire::{self, CAPABILITY_MAX, Malformed, Packet, Relay, relay_header};

/// The most bytes of a packet in its envelope: those of the longest frames that links carry.
const LONGEST: usize = 9216 + relay_header(CAPABILITY_MAX);

/// A packet that may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass<'a> {
    /// Its destination.
    pub destination: SocketAddr,
    /// The packet from the envelope.
    pub packet: &'a [u8],
}

/// Decides which packets the proxy forwards.
#[derive(Debug)]
pub struct Filter {
    secret: Secret,
    /// The proxy's addresses as senders know them, at most one of each family.
    listed: Vec<Listed>,
    allow_private: bool,
    overall: Option<(Rate, Bucket)>,
    sources: Option<Sources>,
}

#[derive(Debug)]
struct Listed {
    address: SocketAddr,
    key: ProxyKey,
    /// A proxy in a private network serves that network.
    private: bool,
}

impl Filter {
    /// A filter that lets nothing pass until it is told where the proxy is listed. `allow_private` lets packets pass to
    /// the machine itself, and to private addresses even if the proxy has none.
    pub fn new(secret: Secret, limits: Limits, allow_private: bool, now: Now) -> Self {
        let bucket = |rate| (rate, Bucket::new(rate, now.instant));
        Self {
            secret,
            listed: Vec::new(),
            allow_private,
            overall: limits.overall.map(bucket),
            sources: limits.source.map(Sources::new),
        }
    }

    /// Sets the addresses under which the proxy is listed.
    pub fn set_listed(&mut self, addresses: &[SocketAddr]) {
        let known = self.listed.iter().map(|listed| &listed.address);
        if known.eq(addresses) {
            return;
        }
        let listed = addresses.iter().map(|&address| Listed {
            address,
            key: self.secret.proxy_key(address),
            private: Kind::of(address.ip()) == Kind::Private,
        });
        self.listed = listed.collect();
    }

    /// Decides about a datagram from `source`.
    ///
    /// # Errors
    /// If it does not pass. Nothing else happens, whatever the bytes are.
    pub fn pass<'a>(
        &mut self,
        datagram: &'a [u8],
        source: IpAddr,
        now: Now,
    ) -> Result<Pass<'a>, Refusal> {
        let relay = envelope(datagram)?;
        let source = source.to_canonical();
        let destination = crate::address::canonical(relay.destination);
        let listed = self.listed_for(source).ok_or(Refusal::NotListed)?;
        listed
            .key
            .check(relay.capability, source, destination, now.unix_s)?;
        self.check_destination(destination, listed)?;
        self.limit(source, relay.packet.len(), now)?;
        Ok(Pass {
            destination,
            packet: relay.packet,
        })
    }

    /// Registries issue capabilities for the proxy's address of the sender's family.
    fn listed_for(&self, source: IpAddr) -> Option<&Listed> {
        let family = source.is_ipv4();
        let mut listed = self.listed.iter();
        listed.find(|listed| listed.address.is_ipv4() == family)
    }

    fn check_destination(&self, to: SocketAddr, listed: &Listed) -> Result<(), Refusal> {
        let itself = self.listed.iter().any(|listed| listed.address == to);
        let allowed = match Kind::of(to.ip()) {
            Kind::Global => true,
            Kind::Private if self.allow_private => true,
            Kind::Private => listed.private && !to.ip().is_loopback(),
            Kind::Never => false,
        };
        if itself || !allowed || to.port() == 0 {
            return Err(Refusal::Destination);
        }
        Ok(())
    }

    /// Checked last: only packets with a valid capability count, so no sender can use up another's rate.
    fn limit(&mut self, source: IpAddr, bytes: usize, now: Now) -> Result<(), Refusal> {
        let bytes = bytes as f64;
        if let Some(sources) = &mut self.sources
            && !sources.take(source, bytes, now.instant)
        {
            return Err(Refusal::SourceRate);
        }
        if let Some((rate, bucket)) = &mut self.overall
            && !bucket.take(*rate, bytes, now.instant)
        {
            return Err(Refusal::Rate);
        }
        Ok(())
    }
}

/// Reads the envelope. An envelope inside it is refused, so that no packets loop between two proxies.
fn envelope(datagram: &[u8]) -> Result<Relay<'_>, Refusal> {
    if datagram.len() > LONGEST {
        return Err(Refusal::Oversized);
    }
    let relay = match wire::parse(datagram) {
        Ok(Packet::Relay(relay)) => relay,
        Ok(_) => return Err(Refusal::Malformed),
        Err(Malformed::Version(_)) => return Err(Refusal::Version),
        Err(_) => return Err(Refusal::Malformed),
    };
    if relay.packet.is_empty() {
        return Err(Refusal::Malformed);
    }
    let like_this = relay.packet.first() == datagram.first();
    if like_this && matches!(wire::parse(relay.packet), Ok(Packet::Relay(_))) {
        return Err(Refusal::Nested);
    }
    Ok(relay)
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        match invalid {
            Invalid::Version => Self::Version,
            Invalid::Mac => Self::Capability,
            Invalid::Expired => Self::Expired,
        }
    }
}
