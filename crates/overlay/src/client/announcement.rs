//! A receiver that wants to be found.

use super::listing::{Listing, Registration};
use super::{Error, Family, Registry};
use crate::api::{Announce, Listed, RECEIVERS, ReceiverId};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Keeps a receiver announced until it is dropped, whatever the registry does meanwhile.
#[derive(Debug)]
pub struct Announcement {
    listing: Listing,
}

impl Announcement {
    /// Announces the receiver of this name, which listens for UDP at `listening`. At an unspecified
    /// address it is announced under the one that the registry sees, by IPv4 and for `[::]` by IPv6.
    ///
    /// Keep `key` secret: with it a receiver that was killed gets its name back at once; without it nobody can take the
    /// name while it is announced.
    pub fn start(
        registry: &Registry,
        receiver: ReceiverId,
        key: [u8; 16],
        listening: SocketAddr,
    ) -> Self {
        let question = Ours {
            registry: registry.clone(),
            receiver,
            key,
            listening,
        };
        let listing = Listing::start("announce", Family::heard_at(listening), question);
        Self { listing }
    }

    /// Waits for the registry's first word, at most so long.
    ///
    /// # Errors
    /// When it refuses, or says nothing. Announcing goes on all the same.
    pub fn wait(&self, within: Duration) -> Result<Vec<SocketAddr>, Error> {
        self.listing.wait(within)
    }

    /// The addresses under which the receiver is announced, one of each family at most.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listing.addresses()
    }

    /// What the last attempt met, if it failed.
    pub fn error(&self) -> Option<Error> {
        self.listing.error()
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

/// The address of a socket that is bound to one.
pub fn specified(listening: SocketAddr) -> Option<IpAddr> {
    let ip = listening.ip().to_canonical();
    (!ip.is_unspecified()).then_some(ip)
}
