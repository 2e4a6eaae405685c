//! How many connections there may be at once.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// In all, and from one address.
const ALL: usize = 512;
const EACH: usize = 32;

/// Connections by where they come from.
#[derive(Debug, Default)]
pub struct Places {
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// One of them; free again when it is dropped.
pub struct Place {
    places: Arc<Places>,
    peer: IpAddr,
}

impl Places {
    /// A place for one more, if there is.
    pub fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let mut taken = self.taken();
        let all: usize = taken.values().sum();
        let of_peer = taken.get(&peer).copied().unwrap_or(0);
        if all >= ALL || of_peer >= EACH {
            return None;
        }
        taken.insert(peer, of_peer + 1);
        drop(taken);
        let places = Arc::clone(self);
        Some(Place { places, peer })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        match taken.get_mut(&self.peer) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(taken.remove(&self.peer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_take_every_place_and_places_come_back() {
        let places = Arc::new(Places::default());
        let one: Vec<_> = (0..100)
            .filter_map(|_| places.take([1; 4].into()))
            .collect();
        assert_eq!(one.len(), EACH);
        let others: Vec<_> = (0..=255)
            .flat_map(|host| (0..8).map(move |_| [2, 2, 2, host]))
            .filter_map(|peer| places.take(peer.into()))
            .collect();
        assert_eq!(one.len() + others.len(), ALL);
        drop((one, others));
        assert!(places.taken().is_empty());
    }
}
