//! A receiver that wants to be found.

use super::listing::{Listing, Registration};
use super::{Error, Family, Registry};
use crate::api::{Announce, Listed, RECEIVERS, ReceiverId};
use std::net::{IpAddr, SocketAddr};

impl Registry {
    /// Announces the receiver of this name, which listens for UDP at `listening`, until the listing is dropped. At an
    /// unspecified address it is announced under the one that the registry sees, by IPv4 and for `[::]` by IPv6.
    ///
    /// Keep `key` secret: with it a receiver that was killed gets its name back at once; without it no other machine
    /// can take the name while it is announced.
    pub fn announce(&self, receiver: ReceiverId, key: [u8; 16], listening: SocketAddr) -> Listing {
        let question = Ours {
            registry: self.clone(),
            receiver,
            key,
            listening,
        };
        Listing::start("announce", Family::heard_at(listening), question)
    }
}

struct Ours {
    registry: Registry,
    receiver: ReceiverId,
    key: [u8; 16],
    listening: SocketAddr,
}

impl Registration for Ours {
    fn request(&self, family: Family, leaving: bool) -> Result<Listed, Error> {
        let announce = Announce {
            receiver: self.receiver,
            key: self.key,
            address: specified(self.listening),
            port: self.listening.port(),
            leaving,
        };
        let http = &self.registry.http;
        http.post(family, RECEIVERS, &announce, |_| None)
    }
}

/// The address to which a socket is bound, if it is bound to one.
pub fn specified(listening: SocketAddr) -> Option<IpAddr> {
    let ip = listening.ip().to_canonical();
    (!ip.is_unspecified()).then_some(ip)
}
