//! The one line that a person copies from the receiver to the sender.

use crate::{Cipher, Identity};
use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// The beginning of a token; the number is its version.
const PREFIX: &str = "tgm1-";

/// Bytes of the checksum at its end.
const CHECKSUM: usize = 4;

/// A receiver's addresses, and the secret that lets a sender send to it. Anyone who holds the token can send.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The receiver's static public key.
    pub key: [u8; 32],
    /// The secret that a sender must know.
    pub secret: [u8; 32],
    /// The receiver's name at the registry.
    pub id: [u8; 16],
    /// The cipher of sessions.
    pub cipher: Cipher,
    /// The receiver's addresses, if known: the first that answers is used.
    pub addresses: Vec<SocketAddr>,
    /// The registry that knows the receiver's address, and the proxies.
    pub registry: Option<String>,
}

/// Why a line is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// A line without a token's beginning.
    #[error("expected the token that the receiver printed: it begins with tgm1-")]
    Prefix,
    /// A character that does not occur in tokens.
    #[error("the token has an invalid character at place {0}: was it copied whole?")]
    Character(usize),
    /// Cut short, or changed.
    #[error("the token is damaged: its checksum is wrong; was it copied whole?")]
    Checksum,
    /// The checksum is right, but the contents are unknown.
    #[error("this version does not understand the token: was it made by a newer one?")]
    Content,
}

impl Token {
    /// The token of a receiver.
    pub fn new(identity: &Identity, addresses: Vec<SocketAddr>, registry: Option<String>) -> Self {
        Self {
            key: identity.public,
            secret: identity.secret,
            id: identity.id,
            cipher: identity.cipher,
            addresses,
            registry,
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = postcard::to_stdvec(self).map_err(|_| fmt::Error)?;
        let sum = blake3::hash(&bytes);
        bytes.extend(&sum.as_bytes()[..CHECKSUM]);
        write!(f, "{PREFIX}{}", BASE64URL_NOPAD.encode(&bytes))
    }
}

impl fmt::Debug for Token {
    /// Does not show the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("addresses", &self.addresses)
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(line: &str) -> Result<Self, TokenError> {
        let text = line.trim();
        let text = text.strip_prefix(PREFIX).ok_or(TokenError::Prefix)?;
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|error| {
            match error.kind {
                // The last character cannot be the one that was printed.
                data_encoding::DecodeKind::Length | data_encoding::DecodeKind::Trailing => {
                    TokenError::Checksum
                }
                _ => TokenError::Character(PREFIX.len() + error.position + 1),
            }
        })?;
        let (content, sum) = bytes
            .split_last_chunk::<CHECKSUM>()
            .ok_or(TokenError::Checksum)?;
        if blake3::hash(content).as_bytes()[..CHECKSUM] != sum[..] {
            return Err(TokenError::Checksum);
        }
        postcard::from_bytes(content).map_err(|_| TokenError::Content)
    }
}

#[cfg(test)]
mod tests;
