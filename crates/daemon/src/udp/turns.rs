//! Decides which flow gets the next echo. Echoes take a fixed number of bits a second on each interface, however many
//! flows there are. A flow with more bytes is measured more often: otherwise a download beside a page from a dozen
//! servers would be measured only twice a second.

use super::echoes::{Echoes, FLOWS};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Rate of all echoes on an interface together, in bits a second.
const BPS: u64 = 10_000;

/// A flow that was not measured for this long goes before all others, in µs.
const LATEST_US: u64 = 1_000_000;

/// A flow whose delay is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoRequest {
    /// The place of the flow's record.
    pub place: usize,
    /// The interface to send by.
    pub interface: u32,
    /// The address to send to.
    pub to: IpAddr,
    /// The shortest time between two echoes for it, in µs.
    pub every_us: u64,
    /// The flow's bytes so far.
    pub bytes: u64,
}

/// An echo to send, and the flows that it measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The interface to send by.
    pub interface: u32,
    /// The address to send to.
    pub to: IpAddr,
    /// Places of the flows' records, at most [`FLOWS`].
    pub places: Vec<usize>,
}

/// Which flows had a turn, and when.
#[derive(Debug, Default)]
pub struct Turns {
    /// When each interface may send its next echo, in µs.
    free_us: BTreeMap<u32, u64>,
    /// The last turn of each record's flow.
    asked: HashMap<usize, Asked>,
    count: u64,
}

/// A flow's last turn.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at_us: u64,
    /// The flow's bytes at that time.
    bytes: u64,
    /// The number of that turn.
    turn: u64,
}

impl Turns {
    /// The next echoes, one for each interface at most. First come flows that were never measured, then those that were
    /// not for [`LATEST_US`], then those with the most bytes since their last turn. Other flows with the same address
    /// share the echo.
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
            asked(request).is_none_or(|asked| now_us >= asked.at_us + request.every_us)
        };
        let order = |request: &&EchoRequest| {
            let Some(asked) = asked(request) else {
                return (0, 0, 0);
            };
            match now_us >= asked.at_us + LATEST_US {
                true => (1, 0, asked.turn),
                false => (
                    2,
                    u64::MAX - request.bytes.saturating_sub(asked.bytes),
                    asked.turn,
                ),
            }
        };
        let own = requests
            .iter()
            .filter(|request| request.interface == interface);
        let mut due: Vec<_> = own.filter(is_due).collect();
        due.sort_by_key(order);
        let to = due.first()?.to;
        let of_place = due.into_iter().filter(|request| request.to == to);
        let asked: Vec<_> = of_place.take(FLOWS).collect();
        let lasts_us = Echoes::bytes(to) * 8 * 1_000_000 / BPS;
        self.free_us.insert(interface, now_us + lasts_us);
        for request in &asked {
            self.count += 1;
            let now = Asked {
                at_us: now_us,
                bytes: request.bytes,
                turn: self.count,
            };
            self.asked.insert(request.place, now);
        }
        Some(Turn {
            interface,
            to,
            places: asked.iter().map(|request| request.place).collect(),
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
            bytes: 0,
        }
    }

    /// The echoes of ten seconds, asked for every 4 ms.
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
            // The first echo is sent at once.
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

    /// A download beside a page from a dozen servers: most echoes measure the download, and each server gets one a
    /// second.
    #[test]
    fn who_brings_most_is_asked_for_most_often_and_nobody_is_forgotten() {
        let mut turns = Turns::default();
        let mut seen = vec![Vec::new(); 13];
        for now_us in (0..10 * SECOND_US).step_by(4_000) {
            let requests: Vec<_> = (0..13)
                .map(|place| EchoRequest {
                    bytes: now_us * if place == 0 { 100 } else { 1 },
                    ..request(place, 1, &format!("192.0.2.{place}"))
                })
                .collect();
            for turn in turns.take(now_us, &requests) {
                seen[turn.places[0]].push(now_us);
            }
        }
        let all: usize = seen.iter().map(Vec::len).sum();
        assert!(seen[0].len() * 2 > all, "{} of {all}", seen[0].len());
        for times in &seen {
            let gaps = times.windows(2).map(|two| two[1] - two[0]);
            let longest = gaps.max().unwrap();
            assert!(longest < LATEST_US + SECOND_US / 2, "{longest}");
            assert!(*times.last().unwrap() > 8 * SECOND_US);
        }
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
