//! The right to let a proxy forward packets: for one sender, one receiver, and a limited time. The registry issues it,
//! the proxy checks it with its key alone.

use crate::address::octets;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Bytes of a capability: version, three zeros, when it ends, MAC.
pub const BYTES: usize = 32;

const VERSION: u8 = 1;

/// Of the MAC's 256 bits 192 are sent.
const MAC: usize = 24;
const TERMS: usize = BYTES - MAC;

/// Seconds by which the registry's clock and a proxy's may differ.
pub const SLACK_S: u64 = 30;

/// The key by which a proxy checks capabilities.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyKey([u8; 32]);

/// Why a capability is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// An unknown version, or a wrong length.
    #[error("the capability has an unknown version or a wrong length")]
    Version,
    /// Forged, or for another proxy, sender or destination.
    #[error("the capability was not issued for this proxy, sender and destination")]
    Mac,
    /// Genuine, but too old.
    #[error("the capability has expired")]
    Expired,
}

impl ProxyKey {
    /// Takes a secret, random key of 32 bytes.
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// A capability for packets from `source`, whatever their port (NATs change it), to `destination`, until
    /// `expires_s` seconds after 1970.
    pub fn issue(&self, source: IpAddr, destination: SocketAddr, expires_s: u32) -> [u8; BYTES] {
        let mut capability = [0; BYTES];
        capability[0] = VERSION;
        capability[4..TERMS].copy_from_slice(&expires_s.to_be_bytes());
        let (terms, mac) = capability.split_at_mut(TERMS);
        mac.copy_from_slice(&self.mac(terms, source, destination)[..MAC]);
        capability
    }

    /// Checks whether a capability is valid for a packet from `source` to `destination`.
    ///
    /// # Errors
    /// If it is not valid. The error says that it has expired only if it is genuine.
    pub fn check(
        &self,
        capability: &[u8],
        source: IpAddr,
        destination: SocketAddr,
        unix_s: u64,
    ) -> Result<(), Invalid> {
        let capability: &[u8; BYTES] = capability.try_into().map_err(|_| Invalid::Version)?;
        let (terms, mac) = capability.split_at(TERMS);
        if terms[0] != VERSION {
            return Err(Invalid::Version);
        }
        let right = self.mac(terms, source, destination);
        if !constant_time_eq::constant_time_eq(mac, &right[..MAC]) {
            return Err(Invalid::Mac);
        }
        let [_, _, _, _, a, b, c, d] = *terms else {
            return Err(Invalid::Version);
        };
        if u64::from(u32::from_be_bytes([a, b, c, d])) + SLACK_S < unix_s {
            return Err(Invalid::Expired);
        }
        Ok(())
    }

    /// All of it is one block of BLAKE3, so that a check is one call of its compression function.
    fn mac(&self, terms: &[u8], source: IpAddr, destination: SocketAddr) -> [u8; 32] {
        let mut text = [0; TERMS + 16 + 16 + 2];
        text[..8].copy_from_slice(terms);
        text[8..24].copy_from_slice(&octets(source.to_canonical()));
        text[24..40].copy_from_slice(&octets(destination.ip().to_canonical()));
        text[40..].copy_from_slice(&destination.port().to_be_bytes());
        blake3::keyed_hash(&self.0, &text).into()
    }
}

impl fmt::Debug for ProxyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: ProxyKey = ProxyKey::new([3; 32]);

    fn source() -> IpAddr {
        [192, 0, 2, 1].into()
    }

    fn destination() -> SocketAddr {
        ([198, 51, 100, 7], 4433).into()
    }

    fn check(capability: &[u8], unix_s: u64) -> Result<(), Invalid> {
        KEY.check(capability, source(), destination(), unix_s)
    }

    #[test]
    fn it_is_good_until_its_end_and_a_little_longer() {
        let capability = KEY.issue(source(), destination(), 1000);
        assert_eq!(check(&capability, 0), Ok(()));
        assert_eq!(check(&capability, 1000 + SLACK_S), Ok(()));
        assert_eq!(check(&capability, 1001 + SLACK_S), Err(Invalid::Expired));
    }

    #[test]
    fn it_is_good_for_one_proxy_sender_and_destination() {
        let capability = KEY.issue(source(), destination(), 1000);
        let other = ProxyKey::new([4; 32]);
        let mac = Err(Invalid::Mac);
        assert_eq!(other.check(&capability, source(), destination(), 0), mac);
        let neighbour = [192, 0, 2, 2].into();
        assert_eq!(KEY.check(&capability, neighbour, destination(), 0), mac);
        for elsewhere in [
            "198.51.100.7:4434",
            "198.51.100.8:4433",
            "[2001:db8::1]:4433",
        ] {
            let elsewhere = elsewhere.parse().unwrap();
            assert_eq!(KEY.check(&capability, source(), elsewhere, 0), mac);
        }
    }

    #[test]
    fn ipv4_in_a_socket_for_both_is_ipv4() {
        let capability = KEY.issue(source(), destination(), 1000);
        let mapped = "::ffff:192.0.2.1".parse().unwrap();
        let to = "[::ffff:198.51.100.7]:4433".parse().unwrap();
        assert_eq!(KEY.check(&capability, mapped, to, 0), Ok(()));
    }

    proptest! {
        #[test]
        fn no_bit_of_it_can_be_changed(place in 0..BYTES, bit in 0..8_u8) {
            let mut capability = KEY.issue(source(), destination(), 1000);
            capability[place] ^= 1 << bit;
            let why = if place == 0 { Invalid::Version } else { Invalid::Mac };
            prop_assert_eq!(check(&capability, 0), Err(why));
        }

        #[test]
        fn no_other_bytes_are_good(bytes: Vec<u8>, like: bool) {
            let mut bytes = bytes;
            if like {
                bytes.resize(BYTES, 0);
                bytes[0] = VERSION;
            }
            prop_assert!(check(&bytes, 0).is_err());
        }
    }
}
