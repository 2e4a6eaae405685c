//! A proxy that wants to be listed.

use super::announcement::specified;
use super::listing::{Listing, Registration};
use super::{Error, Family, Registry};
use crate::Secret;
use crate::api::{Enrol, Listed, PROXIES, SCHEME};
use data_encoding::HEXLOWER;
use std::net::{IpAddr, SocketAddr};
use std::time::{SystemTime, UNIX_EPOCH};

impl Registry {
    /// Lists the proxy that listens at `listening` until the listing is dropped, under the address that the registry
    /// sees, or under those in `public`, one of each family.
    pub fn enrol(&self, secret: Secret, listening: SocketAddr, public: Vec<SocketAddr>) -> Listing {
        let mut families = Family::heard_at(listening);
        if !public.is_empty() {
            families.retain(|&family| of(family, &public).is_some());
        }
        let question = Ours {
            registry: self.clone(),
            secret,
            listening,
            public,
        };
        Listing::start("enrol", families, question)
    }
}

struct Ours {
    registry: Registry,
    secret: Secret,
    listening: SocketAddr,
    public: Vec<SocketAddr>,
}

impl Registration for Ours {
    fn request(&self, family: Family, leaving: bool) -> Result<Listed, Error> {
        let public = of(family, &self.public);
        let enrol = Enrol {
            address: public.map_or_else(|| specified(self.listening), |public| Some(public.ip())),
            port: public.unwrap_or(self.listening).port(),
            leaving,
        };
        let authorization = |body: &[u8]| Some(authorization(&self.secret, body));
        let http = &self.registry.http;
        http.post(family, PROXIES, &enrol, authorization)
    }
}

fn authorization(secret: &Secret, body: &[u8]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let time_s = now.unwrap_or_default().as_secs();
    let nonce = HEXLOWER.encode(&rand::random::<[u8; 16]>());
    let mac = secret.enrolment_mac(time_s, &nonce, body).to_hex();
    format!("{SCHEME} {time_s} {nonce} {mac}")
}

fn of(family: Family, addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let of = |address: &&SocketAddr| match address.ip().to_canonical() {
        IpAddr::V4(_) => family == Family::V4,
        IpAddr::V6(_) => family == Family::V6,
    };
    addresses.iter().find(of).copied()
}
