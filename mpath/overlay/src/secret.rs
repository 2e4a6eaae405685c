//! The overlay's secret, which only registry and proxies know.

use crate::address::octets;
use crate::capability::ProxyKey;
use data_encoding::BASE32_NOPAD_NOCASE;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// The beginning of a token.
const PREFIX: &str = "tgp1-";

/// Bytes of the secret, and of the checksum after it, which shows typing errors.
const SECRET: usize = 32;
const SUM: usize = 4;

/// The purposes of keys; never to be changed without a new number (BLAKE3 section 2.3, `derive_key`).
const PROXY_KEY: &str = "tidegate mPath overlay, key of a proxy, 1";
const ENROLMENT_KEY: &str = "tidegate mPath overlay, key of enrolments, 1";
const TOKEN_SUM: &str = "tidegate mPath overlay, sum of a token, 1";

/// The overlay's secret. Its text is the token that people pass on.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; SECRET]);

/// Not an overlay's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an overlay's token: {PREFIX} and 58 letters and digits; was it copied whole?")]
pub struct BadToken;

impl Secret {
    /// Takes 32 secret, random bytes.
    pub fn new(random: [u8; SECRET]) -> Self {
        Self(random)
    }

    /// The key of the proxy at `proxy`. Registry and proxy can both compute it.
    pub fn proxy_key(&self, proxy: SocketAddr) -> ProxyKey {
        let mut material = Vec::with_capacity(SECRET + 18);
        material.extend(self.0);
        material.extend(octets(proxy.ip().to_canonical()));
        material.extend(proxy.port().to_be_bytes());
        ProxyKey::new(blake3::derive_key(PROXY_KEY, &material))
    }

    /// The MAC over a proxy's request to be listed.
    pub fn enrolment_mac(&self, time_s: u64, nonce: &str, body: &[u8]) -> blake3::Hash {
        let key = blake3::derive_key(ENROLMENT_KEY, &self.0);
        let mut mac = blake3::Hasher::new_keyed(&key);
        mac.update(&time_s.to_be_bytes());
        mac.update(&(nonce.len() as u64).to_be_bytes());
        mac.update(nonce.as_bytes());
        mac.update(body);
        mac.finalize()
    }

    fn sum(&self) -> [u8; SUM] {
        let [a, b, c, d, ..] = blake3::derive_key(TOKEN_SUM, &self.0);
        [a, b, c, d]
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.0[..], &self.sum()].concat();
        let text = BASE32_NOPAD_NOCASE.encode(&bytes).to_lowercase();
        write!(f, "{PREFIX}{text}")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl FromStr for Secret {
    type Err = BadToken;

    fn from_str(text: &str) -> Result<Self, BadToken> {
        let text = text.trim().strip_prefix(PREFIX).ok_or(BadToken)?;
        let bytes = BASE32_NOPAD_NOCASE.decode(text.as_bytes());
        let bytes = bytes.map_err(|_| BadToken)?;
        let (secret, sum) = bytes.split_first_chunk().ok_or(BadToken)?;
        let secret = Self(*secret);
        (sum == secret.sum()).then_some(secret).ok_or(BadToken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_and_one_with_a_slip_does_not() {
        let secret = Secret::new([7; SECRET]);
        let token = secret.to_string();
        assert_eq!(token.len(), PREFIX.len() + 58);
        assert_eq!(format!(" {token}\n").parse(), Ok(secret.clone()));
        assert!(!format!("{secret:?}").contains(&token));
        for place in 0..token.len() {
            let mut slip = token.clone().into_bytes();
            slip[place] = if slip[place] == b'a' { b'b' } else { b'a' };
            let slip = String::from_utf8(slip).unwrap();
            assert_eq!(slip.parse::<Secret>(), Err(BadToken), "{slip}");
        }
        assert_eq!(token[..40].parse::<Secret>(), Err(BadToken));
    }

    #[test]
    fn each_proxy_and_each_overlay_has_its_own_key() {
        let [one, other] = [Secret::new([1; SECRET]), Secret::new([2; SECRET])];
        let [a, b] = [([192, 0, 2, 1], 7).into(), ([192, 0, 2, 1], 8).into()];
        let mapped = "[::ffff:192.0.2.1]:7".parse().unwrap();
        assert_eq!(one.proxy_key(a), one.proxy_key(mapped));
        assert_ne!(one.proxy_key(a), one.proxy_key(b));
        assert_ne!(one.proxy_key(a), other.proxy_key(a));
    }
}
