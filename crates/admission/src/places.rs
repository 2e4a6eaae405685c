//! Limits how many connections there may be at once.

use crate::network_of;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most connections at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// In all.
    pub all: usize,
    /// From one network ([`network_of`]).
    pub network: usize,
}

/// Connections that have not finished, by age.
#[derive(Debug)]
pub struct Places {
    bounds: Bounds,
    held: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many there have been so far.
    count: u64,
    /// By number, so that the first is the oldest.
    connections: BTreeMap<u64, (IpAddr, TcpStream)>,
}

/// A connection's place; free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    number: u64,
}

impl Places {
    /// Places, none of them taken.
    pub fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self {
            bounds,
            held: Mutex::default(),
        })
    }

    /// A place for a connection that was accepted. If its network has reached its bound, the oldest connection of that
    /// network gives way; if all places are taken, the oldest one of the network that has most. The server shuts that
    /// connection down, and its thread reads the end.
    ///
    /// # Errors
    /// If the connection is gone, or no descriptor is left.
    pub fn take(self: &Arc<Self>, stream: &TcpStream) -> io::Result<Place> {
        let network = network_of(stream.peer_addr()?.ip());
        let stream = stream.try_clone()?;
        let mut held = self.held();
        let of_network = held.by_network().get(&network).copied().unwrap_or(0);
        if of_network >= self.bounds.network {
            held.end_oldest_of(network);
        } else if held.connections.len() >= self.bounds.all {
            held.end_oldest_of_the_largest();
        }
        held.count += 1;
        let number = held.count;
        held.connections.insert(number, (network, stream));
        drop(held);
        Ok(Place {
            places: Arc::clone(self),
            number,
        })
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.held().connections.len()
    }

    fn held(&self) -> MutexGuard<'_, State> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn by_network(&self) -> BTreeMap<IpAddr, usize> {
        let mut counts = BTreeMap::new();
        for (network, _) in self.connections.values() {
            *counts.entry(*network).or_default() += 1;
        }
        counts
    }

    fn end_oldest_of_the_largest(&mut self) {
        let largest = self
            .by_network()
            .into_iter()
            .max_by_key(|(_, count)| *count);
        if let Some((network, _)) = largest {
            self.end_oldest_of(network);
        }
    }

    fn end_oldest_of(&mut self, network: IpAddr) {
        let mut oldest = self
            .connections
            .iter()
            .filter(|(_, (of, _))| *of == network);
        let Some((&number, _)) = oldest.next() else {
            return;
        };
        if let Some((_, stream)) = self.connections.remove(&number) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.held().connections.remove(&self.number);
    }
}
