//! The registry: who is in the overlay, and capabilities for senders that ask.

mod authorization;
mod server;
mod service;
mod store;
#[cfg(test)]
mod tests;

pub use server::Server;
pub use service::{Config, Reply, Request, Service, refuse};
pub use store::{
    Memory, Put, RECEIVERS_EACH, RECEIVERS_OF_NETWORK, Receiver, Redis, Store, StoreError,
};
pub use tidegate_admission::http::Received;
