//! The messages of registry and clients, as JSON (`docs/internals/mpath.md`). Unknown fields are ignored, so that a
//! later version can add some.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Where proxies register.
pub const PROXIES: &str = "/v1/proxies";
/// Where receivers announce themselves.
pub const RECEIVERS: &str = "/v1/receivers";
/// Where senders ask.
pub const RELAYS: &str = "/v1/relays";

/// The beginning of a proxy's `Authorization`; time, nonce and MAC follow.
pub const SCHEME: &str = "tidegate1";

/// Relays in an answer unless the sender asks for another number.
pub const RELAYS_DEFAULT: u16 = 64;
/// The most relays in an answer.
pub const RELAYS_MAX: u16 = 256;

/// A receiver's name, which it chooses at random and gives to those that may send to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReceiverId(#[serde(with = "hexadecimal")] pub [u8; 16]);

impl fmt::Display for ReceiverId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// A proxy wants to be listed, or no longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrol {
    /// The address at which packets reach it; none: the address that its request comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Its UDP port.
    pub port: u16,
    /// It wants to be taken off the list.
    #[serde(default)]
    pub leaving: bool,
}

/// A receiver wants to be found, or no longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// Its name.
    pub receiver: ReceiverId,
    /// A secret of the receiver: without it no other machine can move the name to another address.
    #[serde(with = "hexadecimal")]
    pub key: [u8; 16],
    /// Its address, if it knows it. It has to be the one that the request comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Its UDP port.
    pub port: u16,
    /// It wants to be found no longer.
    #[serde(default)]
    pub leaving: bool,
}

/// The answer to proxies and receivers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The address under which they are listed.
    pub address: SocketAddr,
    /// For how many seconds, if they do not ask again.
    pub seconds: u64,
}

/// A sender asks for the paths to a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Its name.
    pub receiver: ReceiverId,
    /// Proxies to leave out.
    #[serde(default)]
    pub exclude: Vec<SocketAddr>,
    /// The most proxies in the answer.
    #[serde(default = "relays_default")]
    pub most: u16,
}

fn relays_default() -> u16 {
    RELAYS_DEFAULT
}

/// The paths to a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ways {
    /// The receiver's address.
    pub destination: SocketAddr,
    /// The sender's address as the registry sees it: the capabilities are valid for it alone.
    pub source: IpAddr,
    /// Until when they are valid, in seconds after 1970.
    pub expires_s: u64,
    /// The proxies, in random order.
    pub relays: Vec<GrantedRelay>,
}

/// A proxy that forwards to the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedRelay {
    /// Its UDP address.
    pub address: SocketAddr,
    /// The capability for the envelope.
    #[serde(with = "base64")]
    pub capability: Vec<u8>,
}

/// The reason for a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// A sentence.
    pub error: String,
}

mod base64 {
    use data_encoding::BASE64URL_NOPAD;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64URL_NOPAD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes());
        bytes.map_err(de::Error::custom)
    }
}

mod hexadecimal {
    use data_encoding::HEXLOWER;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(bytes: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 16], D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = HEXLOWER.decode(text.as_bytes()).ok();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| de::Error::custom("expected 32 hexadecimal digits"))
    }
}
