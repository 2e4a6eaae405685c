//! The registry as its clients see it.

mod announcement;
mod enrolment;
mod error;
mod http;
mod listing;
mod repeating;

pub use error::Error;
pub use listing::Listing;

use crate::api::{Ask, GrantedRelay, RELAYS, RELAYS_DEFAULT, ReceiverId, Ways};
use http::Http;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Attempts of a sender, and the pause after the first; each later pause is twice as long.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(300);

/// A registry, or several that share a store: the first one that answers is asked.
#[derive(Clone, Debug)]
pub struct Registry {
    http: Arc<Http>,
}

/// The paths to a receiver, and the right to use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The receiver's address.
    pub destination: SocketAddr,
    /// The sender's own address as the registry sees it: proxies forward its packets only from there.
    pub source: IpAddr,
    /// Proxies on the way, in random order.
    pub relays: Vec<GrantedRelay>,
    /// Until when the capabilities are valid; ask again before that.
    pub expires: SystemTime,
}

/// All parts of one transfer use one address family, since a NAT or a second address of the machine may otherwise make
/// the sender look like another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

impl Family {
    const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// The families that a socket at this address receives.
    fn heard_at(listening: SocketAddr) -> Vec<Self> {
        match listening.ip().to_canonical() {
            IpAddr::V4(_) => vec![Self::V4],
            IpAddr::V6(ip) if ip.is_unspecified() => Self::ALL.to_vec(),
            IpAddr::V6(_) => vec![Self::V6],
        }
    }
}

impl Registry {
    /// Registries at `http://HOST:PORT`.
    ///
    /// # Errors
    /// If the list is empty, or an entry is no such address. No registry is asked yet.
    pub fn new<U: AsRef<str>>(urls: impl IntoIterator<Item = U>) -> Result<Self, Error> {
        let http = Arc::new(Http::new(urls)?);
        Ok(Self { http })
    }

    /// The receiver's address, and proxies that forward to it, without those in `exclude`. Tries for some seconds when
    /// no registry answers.
    ///
    /// # Errors
    /// If no registry knows the receiver, or none answers.
    pub fn relays(&self, receiver: ReceiverId, exclude: &[SocketAddr]) -> Result<Grant, Error> {
        let ask = Ask {
            receiver,
            exclude: exclude.to_vec(),
            most: RELAYS_DEFAULT,
        };
        let mut pause = PAUSE;
        for _ in 1..ATTEMPTS {
            match self.ask(&ask) {
                Err(error) if !error.is_final() => thread::sleep(pause),
                done => return done,
            }
            pause *= 2;
        }
        self.ask(&ask)
    }

    /// IPv4 first: a machine with many addresses of IPv6 may use another towards a proxy.
    fn ask(&self, ask: &Ask) -> Result<Grant, Error> {
        let by = |family| self.http.post::<Ways>(family, RELAYS, ask, |_| None);
        let first = match by(Family::V4) {
            Ok(ways) => return Ok(ways.into()),
            Err(error) => error,
        };
        by(Family::V6)
            .map(Grant::from)
            .map_err(|second| first.or(second))
    }
}

impl From<Ways> for Grant {
    fn from(ways: Ways) -> Self {
        Self {
            destination: ways.destination,
            source: ways.source,
            relays: ways.relays,
            // Capabilities end before this number of seconds.
            expires: UNIX_EPOCH + Duration::from_secs(ways.expires_s.min(u32::MAX.into())),
        }
    }
}
