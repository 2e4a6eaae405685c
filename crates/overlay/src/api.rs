//! What registry and clients tell each other, as JSON (`docs/internals/mpath.md`). Fields that are not known are
//! ignored, so that a later version can add some.

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

/// What a proxy's `Authorization` begins with; time, nonce and MAC follow.
pub const SCHEME: &str = "tidegate1";

/// Relays in an answer unless somebody asks for another number, and at most.
pub const RELAYS_DEFAULT: u16 = 64;
/// See [`RELAYS_DEFAULT`].
pub const RELAYS_MAX: u16 = 256;

/// A receiver's name, which it chooses at random and gives to those that may send to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReceiverId(#[serde(with = "hexadecimal")] pub [u8; 16]);

impl fmt::Display for ReceiverId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// A proxy wants to be listed, or not any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrol {
    /// Where packets reach it; if it does not know, its port at the address it asks from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Its UDP port.
    pub port: u16,
    /// To be taken off the list.
    #[serde(default)]
    pub leaving: bool,
}

/// A receiver wants to be found, or not any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// Its name.
    pub receiver: ReceiverId,
    /// A secret of the receiver: nobody else can move the name to another address.
    #[serde(with = "hexadecimal")]
    pub key: [u8; 16],
    /// Its address, if it knows it. It has to be the one that it asks from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Its UDP port.
    pub port: u16,
    /// Not to be found any more.
    #[serde(default)]
    pub leaving: bool,
}

/// What proxies and receivers are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The address under which they are.
    pub address: SocketAddr,
    /// For how long, if they do not ask again.
    pub seconds: u64,
}

/// A sender asks for the way to a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Its name.
    pub receiver: ReceiverId,
    /// Proxies that are not wanted.
    #[serde(default)]
    pub exclude: Vec<SocketAddr>,
    /// How many proxies at most.
    #[serde(default = "relays_default")]
    pub most: u16,
}

fn relays_default() -> u16 {
    RELAYS_DEFAULT
}

/// The way to a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ways {
    /// The receiver's address.
    pub destination: SocketAddr,
    /// The sender's address as the registry sees it: the capabilities are good for it alone.
    pub source: IpAddr,
    /// Seconds after 1970 until which they are.
    pub expires_s: u64,
    /// The proxies, in random order.
    pub relays: Vec<GrantedRelay>,
}

/// A proxy that forwards to the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedRelay {
    /// Its UDP address.
    pub address: SocketAddr,
    /// What to put into the envelope.
    #[serde(with = "base64")]
    pub capability: Vec<u8>,
}

/// Why not.
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
