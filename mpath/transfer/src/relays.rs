//! The proxies of a connection, by the protocol's numbers for them.

use std::net::SocketAddr;
use tidegate_mpath::ProxyId;
use tidegate_mpath::wire::{CAPABILITY_MAX, relay_header};

/// A proxy that may forward to the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relay {
    /// Where it listens.
    pub address: SocketAddr,
    /// The capability that the registry issued for this pair and time; at most 255 bytes.
    pub capability: Vec<u8>,
}

/// Relays of a connection. None is ever forgotten, so that no number is reused for another proxy.
#[derive(Debug, Default)]
pub struct Relays {
    known: Vec<Relay>,
    /// The most bytes that a relay may add around a packet.
    envelope: usize,
}

impl Relays {
    /// The relays known at the start. Their envelopes determine how much room each packet leaves.
    pub fn new(envelope: usize) -> Self {
        Self {
            known: Vec::new(),
            envelope,
        }
    }

    /// Takes the registry's latest list; returns the numbers of new relays. A known address keeps its number and gets
    /// the new capability.
    pub fn update(&mut self, relays: &[Relay]) -> Vec<ProxyId> {
        let mut new = Vec::new();
        let envelope = self.envelope;
        for relay in relays.iter().filter(|relay| fits(relay, envelope)) {
            match self.known.iter_mut().find(|k| k.address == relay.address) {
                Some(known) => known.capability.clone_from(&relay.capability),
                None => {
                    new.push(ProxyId(self.known.len() as u32));
                    self.known.push(relay.clone());
                }
            }
        }
        new
    }

    /// The proxy of that number.
    pub fn get(&self, id: ProxyId) -> Option<&Relay> {
        self.known.get(id.0 as usize)
    }

    /// Bytes that are left free in each packet for an envelope.
    pub fn envelope(&self) -> usize {
        self.envelope
    }
}

/// Packets of the agreed size must fit with the envelope around them.
fn fits(relay: &Relay, envelope: usize) -> bool {
    let length = relay.capability.len();
    length <= CAPABILITY_MAX && relay_header(length) <= envelope
}

#[cfg(test)]
mod tests;
