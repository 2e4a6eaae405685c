//! What a registry remembers, and for how long.

mod memory;
mod redis;

pub use memory::Memory;
pub use redis::Redis;

use crate::api::ReceiverId;
use crate::limits::whose;
use std::net::{IpAddr, SocketAddr};
use tidegate_admission::network_of;

/// A receiver that has announced itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Where it listens.
    pub address: SocketAddr,
    /// A secret that only the receiver knows.
    pub key: [u8; 16],
}

/// The most receivers in total.
pub const RECEIVERS: usize = 1 << 17;

/// The most receivers of one address, or of one /64 of IPv6: as many as may be behind a NAT, and far fewer than there
/// is room for.
pub const RECEIVERS_EACH: usize = 64;

/// The most receivers of one network, which may all be one user's: a /24 of IPv4, a /48 of IPv6.
pub const RECEIVERS_OF_NETWORK: usize = 1024;

/// The quotas that a receiver at `address` counts against, by name, and the limit of each.
fn quotas(address: IpAddr) -> [(String, usize); 2] {
    let network = format!("network:{}", network_of(address));
    [
        (whose(address).to_string(), RECEIVERS_EACH),
        (network, RECEIVERS_OF_NETWORK),
    ]
}

/// The result of putting a receiver into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The store remembers it.
    Done,
    /// Its name belongs to another key.
    Taken,
    /// Its address has [`RECEIVERS_EACH`] receivers already, or its network [`RECEIVERS_OF_NETWORK`].
    OverQuota,
}

/// Why the store cannot do something now.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is full.
    #[error("the registry is full")]
    Full,
    /// Its server fails.
    #[error("the registry's store: {0}")]
    Server(#[from] ::redis::RedisError),
}

/// A store. It remembers each entry for a number of seconds. A receiver may be remembered once by IPv4 and once by
/// IPv6.
pub trait Store: Send + Sync {
    /// Lists a proxy.
    fn put_proxy(&self, proxy: SocketAddr, seconds: u64, unix_s: u64) -> Result<(), StoreError>;
    /// Removes a proxy from the list.
    fn remove_proxy(&self, proxy: SocketAddr) -> Result<(), StoreError>;
    /// The listed proxies.
    fn proxies(&self, unix_s: u64) -> Result<Vec<SocketAddr>, StoreError>;
    /// Remembers a receiver.
    fn put_receiver(
        &self,
        name: ReceiverId,
        receiver: Receiver,
        seconds: u64,
        unix_s: u64,
    ) -> Result<Put, StoreError>;
    /// Forgets a receiver.
    fn remove_receiver(&self, name: ReceiverId, receiver: Receiver) -> Result<(), StoreError>;
    /// The receiver's entry.
    fn receiver(
        &self,
        name: ReceiverId,
        ipv6: bool,
        unix_s: u64,
    ) -> Result<Option<SocketAddr>, StoreError>;
    /// Remembers a nonce; returns whether it is new.
    fn is_new(&self, nonce: &str, seconds: u64, unix_s: u64) -> Result<bool, StoreError>;
}
