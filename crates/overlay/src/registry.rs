//! The registry: who is in the overlay, and capabilities for those who ask.

mod authorization;
mod server;
mod service;
mod store;
#[cfg(test)]
mod tests;

pub use server::{Received, Server};
pub use service::{Config, Reply, Request, Service};
pub use store::{Memory, Put, RECEIVERS_EACH, Receiver, Redis, Store, StoreError};
