//! Compares the programs' byte counters from one look to the next, each with itself: data of one connection may be
//! counted in several tables.

use crate::top::row::Key;
use std::collections::HashMap;

/// A counter that was not seen for this long is forgotten.
const FORGOTTEN_US: u64 = 60_000_000;

/// The table that a counter is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// Measured TCP.
    Flows,
    /// TCP that is left alone.
    Left,
    /// Traffic without a window.
    Windowless,
}

/// A byte counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Since when it counts, µs of CLOCK_MONOTONIC. A counter with another start is another counter.
    pub since_us: u64,
    /// Bytes since then.
    pub bytes: u64,
}

/// All counters, as they were at the last look.
#[derive(Debug, Default)]
pub struct Counters {
    at_us: u64,
    elapsed_us: Option<u64>,
    known: HashMap<(Table, Key), (Count, u64)>,
}

impl Counters {
    /// Begins the next look, `elapsed_us` after the last one; none: there was no look to compare with.
    pub fn look(&mut self, at_us: u64, elapsed_us: Option<u64>) {
        self.known
            .retain(|_, (_, seen_us)| *seen_us + FORGOTTEN_US > at_us);
        (self.at_us, self.elapsed_us) = (at_us, elapsed_us);
    }

    /// Bytes so far, and bits a second since the last look; for a new counter, all its bytes count as new. The programs
    /// move bytes between their sums while we read, so we keep a count from falling.
    pub fn take(&mut self, table: Table, key: &Key, now: Count) -> (u64, Option<f64>) {
        let before = self.known.get(&(table, key.clone()));
        let before = before.filter(|(count, _)| count.since_us == now.since_us);
        let known = before.map_or(0, |(count, _)| count.bytes);
        let bytes = now.bytes.max(known);
        let count = Count { bytes, ..now };
        self.known.insert((table, key.clone()), (count, self.at_us));
        let rate = |us: u64| (bytes - known) as f64 * 8e6 / us as f64;
        (bytes, self.elapsed_us.map(rate))
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Counters, Table};
    use crate::fixtures::end;
    use crate::top::row::{Key, TCP};
    use tidegate_agent::Direction;

    const SECOND_US: u64 = 1_000_000;

    fn key() -> Key {
        Key {
            direction: Direction::Down,
            local: end("192.0.2.7", 50_000),
            remote: end("198.51.100.9", 443),
            ifindex: 2,
            protocol: TCP,
        }
    }

    fn count(since_us: u64, bytes: u64) -> Count {
        Count { since_us, bytes }
    }

    /// The counters after a look at which the flow had 1 MB in each table.
    fn seen() -> Counters {
        let mut counters = Counters::default();
        counters.look(SECOND_US, None);
        for table in [Table::Flows, Table::Left] {
            let first = counters.take(table, &key(), count(1, 1_000_000));
            assert_eq!(first, (1_000_000, None));
        }
        counters.look(2 * SECOND_US, Some(SECOND_US));
        counters
    }

    #[test]
    fn each_table_has_its_own() {
        let mut counters = seen();
        let flow = counters.take(Table::Flows, &key(), count(1, 1_000_000));
        assert_eq!(flow, (1_000_000, Some(0.0)));
        let left = counters.take(Table::Left, &key(), count(1, 1_125_000));
        assert_eq!(left, (1_125_000, Some(1e6)));
    }

    #[test]
    fn a_counter_that_begins_anew_is_all_news_and_one_that_seems_to_fall_is_none() {
        let mut counters = seen();
        let anew = counters.take(Table::Flows, &key(), count(2, 125_000));
        assert_eq!(anew, (125_000, Some(1e6)));
        let fell = counters.take(Table::Left, &key(), count(1, 900_000));
        assert_eq!(fell, (1_000_000, Some(0.0)));
        counters.look(3 * SECOND_US, Some(SECOND_US));
        let caught_up = counters.take(Table::Left, &key(), count(1, 1_125_000));
        assert_eq!(caught_up, (1_125_000, Some(1e6)));
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let mut counters = seen();
        counters.look(100 * SECOND_US, Some(SECOND_US));
        assert!(counters.known.is_empty());
    }
}
