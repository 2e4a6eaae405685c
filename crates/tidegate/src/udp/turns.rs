//! Whom to ask for an echo next: so many bits a second on each interface, whoever they are for.

use super::echoes::{Echoes, FLOWS};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Bits a second of all echoes on an interface.
const BPS: u64 = 10_000;

/// A flow of which the delay is to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoRequest {
    /// Which record is the flow's.
    pub place: usize,
    /// By which interface.
    pub interface: u32,
    /// Who is asked.
    pub to: IpAddr,
    /// How long it is not asked for again, in µs.
    pub every_us: u64,
}

/// An echo, and for which flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// By which interface it goes.
    pub interface: u32,
    /// Where to.
    pub to: IpAddr,
    /// Records, at most [`FLOWS`].
    pub places: Vec<usize>,
}

/// Who had a turn, and when.
#[derive(Debug, Default)]
pub struct Turns {
    /// From when on something may go by each interface.
    free_us: BTreeMap<u32, u64>,
    /// When each record's flow was asked for, and as the how-manieth.
    asked: HashMap<usize, (u64, u64)>,
    count: u64,
}

impl Turns {
    /// Those whose turn it is, one on each interface at most: who has waited longest, with others of the same place.
    pub fn take(&mut self, now_us: u64, requests: &[EchoRequest]) -> Vec<Turn> {
        self.asked
            .retain(|place, _| requests.iter().any(|request| request.place == *place));
        let mut interfaces: Vec<_> = requests.iter().map(|request| request.interface).collect();
        interfaces.sort_unstable();
        interfaces.dedup();
        self.free_us
            .retain(|interface, free_us| interfaces.contains(interface) || *free_us > now_us);
        let turns = interfaces.into_iter();
        turns
            .filter_map(|interface| self.turn(now_us, interface, requests))
            .collect()
    }

    fn turn(&mut self, now_us: u64, interface: u32, requests: &[EchoRequest]) -> Option<Turn> {
        if self.free_us.get(&interface).is_some_and(|us| now_us < *us) {
            return None;
        }
        let asked = |request: &EchoRequest| self.asked.get(&request.place).copied();
        let is_due = |request: &&EchoRequest| {
            asked(request).is_none_or(|(us, _)| now_us >= us + request.every_us)
        };
        let own = requests
            .iter()
            .filter(|request| request.interface == interface);
        let mut due: Vec<_> = own.filter(is_due).collect();
        due.sort_by_key(|request| asked(request));
        let to = due.first()?.to;
        let places = due.iter().filter(|request| request.to == to).take(FLOWS);
        let places: Vec<_> = places.map(|request| request.place).collect();
        let lasts_us = Echoes::bytes(to) * 8 * 1_000_000 / BPS;
        self.free_us.insert(interface, now_us + lasts_us);
        for place in &places {
            self.count += 1;
            self.asked.insert(*place, (now_us, self.count));
        }
        Some(Turn {
            interface,
            to,
            places,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_US: u64 = 1_000_000;

    fn request(place: usize, interface: u32, to: &str) -> EchoRequest {
        EchoRequest {
            place,
            interface,
            to: to.parse().unwrap(),
            every_us: 0,
        }
    }

    /// The echoes of ten seconds, looked for every 4 ms.
    fn ten_seconds(requests: &[EchoRequest]) -> Vec<Turn> {
        let mut turns = Turns::default();
        let looks = (0..10 * SECOND_US).step_by(4_000);
        looks
            .flat_map(|now_us| turns.take(now_us, requests))
            .collect()
    }

    fn of(turns: &[Turn], place: usize) -> usize {
        turns.iter().filter(|t| t.places.contains(&place)).count()
    }

    #[test]
    fn all_echoes_of_an_interface_stay_within_the_rate() {
        for requests in [
            vec![request(0, 1, "192.0.2.1")],
            (0..60)
                .map(|n| request(n, 1, &format!("192.0.2.{}", n % 7)))
                .collect(),
            (0..9)
                .map(|n| request(n, 1, &format!("2001:db8::{n}")))
                .collect(),
        ] {
            let turns = ten_seconds(&requests);
            let bits: u64 = turns.iter().map(|t| 8 * Echoes::bytes(t.to)).sum();
            // The first comes at once.
            assert!((8 * BPS..=10 * BPS + 8 * 100).contains(&bits), "{bits}");
        }
    }

    #[test]
    fn flows_of_one_place_share_echoes_and_places_take_turns() {
        let two = [request(0, 1, "192.0.2.1"), request(1, 1, "192.0.2.1")];
        let turns = ten_seconds(&two);
        assert!(
            turns
                .iter()
                .all(|t| t.places == [0, 1] || t.places == [1, 0])
        );
        let places = ten_seconds(&[request(0, 1, "192.0.2.1"), request(1, 1, "192.0.2.2")]);
        assert!(of(&places, 0).abs_diff(of(&places, 1)) <= 1);
        assert!(of(&places, 0) * 2 <= turns.len() + 1);
        let six: Vec<_> = (0..6).map(|n| request(n, 1, "192.0.2.1")).collect();
        let turns = ten_seconds(&six);
        assert!(turns.iter().all(|t| t.places.len() <= FLOWS));
        let counts: Vec<_> = (0..6).map(|n| of(&turns, n)).collect();
        let [least, most] = [counts.iter().min(), counts.iter().max()].map(|n| *n.unwrap());
        assert!(most - least <= 1, "{counts:?}");
    }

    #[test]
    fn another_interface_has_a_rate_of_its_own() {
        let alone = ten_seconds(&[request(0, 1, "192.0.2.1")]);
        let both = ten_seconds(&[request(0, 1, "192.0.2.1"), request(1, 2, "192.0.2.1")]);
        assert_eq!(of(&both, 0), alone.len());
        assert_eq!(of(&both, 1), alone.len());
    }

    #[test]
    fn who_is_to_be_asked_seldom_takes_no_turn_from_others() {
        let seldom = EchoRequest {
            every_us: SECOND_US,
            ..request(0, 1, "192.0.2.1")
        };
        let turns = ten_seconds(&[seldom, request(1, 1, "192.0.2.2")]);
        assert!((9..=10).contains(&of(&turns, 0)));
        let alone = ten_seconds(&[request(1, 1, "192.0.2.2")]);
        assert!(of(&turns, 1) + of(&turns, 0) >= alone.len() - 1);
    }
}
