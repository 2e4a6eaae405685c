//! Hellos that have been answered, so that recordings of them are refused.

use std::collections::{HashSet, VecDeque};
use tidegate_mpath::wire::PROOF;

/// The most that are remembered: a megabyte and a half. Only holders of the token can make one.
const MOST: usize = 1 << 16;

/// The latest of them, by the first 64 bits of their proofs.
#[derive(Default)]
pub struct Known {
    set: HashSet<u64>,
    order: VecDeque<u64>,
}

fn short(proof: &[u8; PROOF]) -> u64 {
    let (first, _) = proof.split_first_chunk().expect("a proof is longer");
    u64::from_be_bytes(*first)
}

impl Known {
    /// Whether `proof` is one of them.
    pub fn contains(&self, proof: &[u8; PROOF]) -> bool {
        self.set.contains(&short(proof))
    }

    /// Remembers `proof`; the oldest is forgotten if there are too many.
    pub fn insert(&mut self, proof: &[u8; PROOF]) {
        let short = short(proof);
        if !self.set.insert(short) {
            return;
        }
        self.order.push_back(short);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_known() {
        let proof = |n: u32| {
            let mut proof = [0; PROOF];
            proof[..4].copy_from_slice(&n.to_be_bytes());
            proof
        };
        let mut known = Known::default();
        for n in 0..=MOST as u32 {
            assert!(!known.contains(&proof(n)));
            known.insert(&proof(n));
            known.insert(&proof(n));
        }
        assert!(!known.contains(&proof(0)) && known.contains(&proof(1)));
        assert_eq!(known.set.len(), MOST);
    }
}
