//! The account of a time: how much was carried and steered, what was left alone and why, and how long packets stood in
//! the queue.

use crate::about::About;
use crate::compare::Compared;
use crate::spread::Spread;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Display, Formatter};
use tidegate_agent::{Agent, AgentError, Direction, Histogram, Kind, LeftView, Reason};
use tidegate_terminal::units::{bytes, share};

/// Marks that divide the time of an account.
const MARKS: usize = 6;

/// Marks that divide a day.
const HOURS: usize = 24;

/// Marks that divide a week.
const DAYS: usize = 7;

/// Kinds below this part of all bytes are not mentioned.
const WORTH: f64 = 0.005;

/// A direction with this many bytes gets a line, even if no queueing delay was measured.
const BULK: u64 = 1_000_000;

/// Bytes carried, by [`Direction::ALL`] and [`Kind::ALL`].
type Carried = [[u64; Kind::ALL.len()]; 2];

/// All that was counted since the agent was started.
#[derive(Clone, Default)]
struct Sums {
    at_us: u64,
    queue_us: Option<[Histogram; 2]>,
    carried: Carried,
    left: Vec<LeftView>,
}

/// Keeps the sums from which accounts are made: of the last hour (or another chosen time), day and week.
#[derive(Default)]
pub struct Books {
    /// Bytes carried by interfaces that the agent has left.
    gone: Carried,
    begin: Sums,
    marks: VecDeque<Sums>,
    /// One for each hour of the last day.
    hours: VecDeque<Sums>,
    /// One for each day of the last week; and how many hours have passed since the last of them.
    days: VecDeque<Sums>,
    hours_of_the_day: usize,
}

/// What was done during a time.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Account {
    /// Length of that time, in µs.
    pub elapsed_us: u64,
    /// The directions in which anything was carried.
    pub ways: Vec<Way>,
}

/// One direction of an account.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Way {
    /// The direction.
    pub direction: Direction,
    /// All bytes carried in this direction, IP headers included.
    pub bytes: u64,
    /// The queueing delay of packets with data; absent if none was measured.
    pub queue: Option<Spread>,
    /// The kinds of traffic, those with the most bytes first.
    pub kinds: Vec<Part>,
    /// Why TCP connections that are still remembered were left alone: the reason for the most bytes first.
    pub left: Vec<Reason>,
    /// The queueing delay with steering and without, if the user lets some time pass unsteered.
    pub compared: Option<Compared>,
}

/// One kind's part of the bytes.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Part {
    /// The kind.
    pub kind: Kind,
    /// How many bytes.
    pub bytes: u64,
    /// Whether the law steers it.
    pub reached: bool,
}

impl Books {
    /// Call this before an interface is left: its bytes are kept.
    pub fn leave(&mut self, agent: &Agent, ifindex: u32) {
        carry(&mut self.gone, agent, ifindex);
    }

    /// Marks that a sixth of the account's time is over.
    pub fn mark(&mut self, agent: &Agent, now_us: u64) -> Result<(), AgentError> {
        let sums = self.sums(agent, now_us)?;
        keep(&mut self.marks, MARKS, sums);
        Ok(())
    }

    /// Marks that an hour is over.
    pub fn mark_hour(&mut self, agent: &Agent, now_us: u64) -> Result<(), AgentError> {
        let sums = self.sums(agent, now_us)?;
        self.hours_of_the_day += 1;
        if self.hours_of_the_day == HOURS {
            self.hours_of_the_day = 0;
            keep(&mut self.days, DAYS, sums.clone());
        }
        keep(&mut self.hours, HOURS, sums);
        Ok(())
    }

    /// The account since `MARKS` marks ago, or since the agent was started if that is later.
    pub fn of_late(
        &self,
        agent: &Agent,
        about: &About,
        now_us: u64,
    ) -> Result<Account, AgentError> {
        let from = self.since(&self.marks, MARKS);
        Ok(self.sums(agent, now_us)?.since(from, about))
    }

    /// The account of the last day (23 to 24 hours), or since the agent was started if that is later.
    pub fn of_the_day(
        &self,
        agent: &Agent,
        about: &About,
        now_us: u64,
    ) -> Result<Account, AgentError> {
        let from = self.since(&self.hours, HOURS);
        Ok(self.sums(agent, now_us)?.since(from, about))
    }

    /// The account of the last week (6 to 7 days), or since the agent was started if that is later.
    pub fn of_the_week(
        &self,
        agent: &Agent,
        about: &About,
        now_us: u64,
    ) -> Result<Account, AgentError> {
        let from = self.since(&self.days, DAYS);
        Ok(self.sums(agent, now_us)?.since(from, about))
    }

    /// The oldest mark if there are `all` of them; otherwise the start.
    fn since<'a>(&'a self, marks: &'a VecDeque<Sums>, all: usize) -> &'a Sums {
        let first = marks.front().filter(|_| marks.len() == all);
        first.unwrap_or(&self.begin)
    }

    /// Bytes of all kinds carried so far, by [`Direction::ALL`].
    pub fn carried_bytes(&self, agent: &Agent) -> [u64; 2] {
        self.carried(agent).map(|kinds| kinds.iter().sum())
    }

    /// The account since the start.
    pub fn in_all(&self, agent: &Agent, about: &About, now_us: u64) -> Result<Account, AgentError> {
        Ok(self.sums(agent, now_us)?.since(&self.begin, about))
    }

    /// Sets the start.
    pub fn begin(&mut self, now_us: u64) {
        self.begin.at_us = now_us;
    }

    fn carried(&self, agent: &Agent) -> Carried {
        let mut carried = self.gone;
        for interface in agent.interfaces() {
            carry(&mut carried, agent, interface.index);
        }
        carried
    }

    fn sums(&self, agent: &Agent, now_us: u64) -> Result<Sums, AgentError> {
        Ok(Sums {
            at_us: now_us,
            queue_us: Some(agent.histograms()?.map(|h| h.queue_us)),
            carried: self.carried(agent),
            left: agent.left(),
        })
    }
}

/// Keeps the last `most` marks, without their connections: accounts only need those of the present.
fn keep(marks: &mut VecDeque<Sums>, most: usize, sums: Sums) {
    let left = Vec::new();
    marks.push_back(Sums { left, ..sums });
    if marks.len() > most {
        marks.pop_front();
    }
}

/// Adds the bytes that an interface has carried.
fn carry(to: &mut Carried, agent: &Agent, ifindex: u32) {
    for direction in Direction::ALL {
        for carried in agent.traffic(direction, ifindex) {
            to[direction as usize][carried.kind as usize] += carried.bytes;
        }
    }
}

impl Sums {
    fn since(&self, earlier: &Self, about: &About) -> Account {
        let way = |direction| self.way(earlier, direction, about);
        Account {
            elapsed_us: self.at_us.saturating_sub(earlier.at_us),
            ways: Direction::ALL.into_iter().filter_map(way).collect(),
        }
    }

    fn way(&self, earlier: &Self, direction: Direction, about: &About) -> Option<Way> {
        let at = direction as usize;
        let part = |kind: Kind| Part {
            kind,
            bytes: self.carried[at][kind as usize]
                .saturating_sub(earlier.carried[at][kind as usize]),
            reached: about.reaches(kind, direction),
        };
        let mut kinds: Vec<_> = Kind::ALL.map(part).into();
        kinds.retain(|part| part.bytes > 0);
        kinds.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        let bytes = kinds.iter().map(|part| part.bytes).sum();
        (bytes > 0).then(|| Way {
            direction,
            bytes,
            queue: self.queue(earlier, direction).as_ref().and_then(Spread::of),
            kinds,
            left: self.left(earlier.at_us, direction),
            compared: None,
        })
    }

    fn queue(&self, earlier: &Self, direction: Direction) -> Option<Histogram> {
        let now = &self.queue_us.as_ref()?[direction as usize];
        let before = earlier.queue_us.as_ref().map(|h| &h[direction as usize]);
        Some(before.map_or_else(|| now.clone(), |before| now.since(before)))
    }

    fn left(&self, since_us: u64, direction: Direction) -> Vec<Reason> {
        let mut bytes = BTreeMap::<Reason, u64>::new();
        let of = |l: &&LeftView| l.direction == direction && l.seen_us >= since_us;
        for left in self.left.iter().filter(of) {
            *bytes.entry(left.reason).or_default() += left.bytes;
        }
        let mut reasons: Vec<_> = bytes.into_iter().filter(|(_, n)| *n > 0).collect();
        reasons.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        reasons.into_iter().map(|(reason, _)| reason).collect()
    }
}

impl Account {
    /// Bytes of each kind that occurred, both directions together.
    pub fn carried(&self) -> BTreeMap<&'static str, u64> {
        let mut carried = BTreeMap::new();
        for part in self.ways.iter().flat_map(|way| &way.kinds) {
            *carried.entry(part.kind.name()).or_default() += part.bytes;
        }
        carried
    }

    /// The same account with the results of the comparison.
    #[must_use]
    pub fn with(mut self, compared: [Option<Compared>; 2]) -> Self {
        for way in &mut self.ways {
            way.compared = compared[way.direction as usize];
        }
        self
    }
}

impl Way {
    /// Whether there was more than acknowledgements and small requests.
    pub fn is_worth_a_line(&self) -> bool {
        self.queue.is_some() || self.bytes >= BULK
    }

    /// Parts of the steered or of the unsteered kinds, in percent; none if all are too small to mention.
    fn parts(&self, reached: bool) -> Option<String> {
        let whole = self.bytes as f64;
        let worth = |p: &&Part| p.reached == reached && p.bytes as f64 > WORTH * whole;
        let word = |p: &Part| {
            // The line says "left alone" before the list.
            let name = match (p.kind, self.left.first()) {
                (Kind::TcpLeft, Some(left)) => format!("TCP ({})", left.short()),
                (Kind::TcpLeft, None) => "TCP".into(),
                (kind, _) => kind.short().into(),
            };
            format!("{name} {}", share(p.bytes as f64, whole))
        };
        let words: Vec<_> = self.kinds.iter().filter(worth).map(word).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

impl Display for Way {
    /// For example `down 3.2 GB: queue 14 ms (median), …; steered TCP 94 %; left alone QUIC 5 %`.
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{} {}: ", self.direction.name(), bytes(self.bytes))?;
        match &self.queue {
            Some(queue) => write!(f, "queue {queue}")?,
            None => write!(f, "no queue was measured")?,
        }
        if let Some(compared) = &self.compared {
            write!(f, "; {compared}")?;
        }
        for (reached, what) in [(true, "steered"), (false, "left alone")] {
            if let Some(parts) = self.parts(reached) {
                write!(f, "; {what} {parts}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Sums;
    use crate::about::About;
    use crate::compare::Compared;
    use crate::fixtures::end;
    use crate::spread::Spread;
    use tidegate_agent::{Direction, Histograms, Kind, LeftView, Reason};
    use tidegate_laws::Law;

    /// The sums after `minutes` minutes, in each of which 10 MB of TCP, 1 MB of QUIC, and 100 kB of TCP that was left
    /// alone came.
    fn after(minutes: u64) -> Sums {
        let mut sums = Sums {
            at_us: minutes * 60_000_000,
            ..Sums::default()
        };
        let mut queue = Histograms::default().queue_us;
        queue.insert(20_000, 950 * minutes);
        queue.insert(200_000, 50 * minutes);
        sums.queue_us = Some([queue, Histograms::default().queue_us]);
        let down = &mut sums.carried[Direction::Down as usize];
        down[Kind::Tcp as usize] = 10_000_000 * minutes;
        down[Kind::Quic as usize] = 1_000_000 * minutes;
        down[Kind::TcpLeft as usize] = 100_000 * minutes;
        let left = |reason, seen_us, bytes| LeftView {
            reason,
            seen_us,
            since_us: 0,
            bytes,
            direction: Direction::Down,
            local: end("192.0.2.7", 50_000),
            remote: end("198.51.100.9", 443),
            ifindex: 2,
            protocol: 6,
            packets: 9,
        };
        sums.left = vec![
            left(Reason::NoScale, sums.at_us, 100_000 * minutes),
            left(Reason::Denied, sums.at_us, 10_000),
            left(Reason::Sealed, 0, 9_000_000),
        ];
        sums
    }

    #[test]
    fn an_account_is_of_its_time_alone() {
        let account = after(5).since(&after(2), &About::default());
        assert_eq!(account.elapsed_us, 180_000_000);
        let [way] = &account.ways[..] else {
            panic!("nothing went up: {account:?}");
        };
        assert_eq!((way.direction, way.bytes), (Direction::Down, 33_300_000));
        let queue = way.queue.unwrap();
        assert_eq!(queue.packets, 3000);
        // As exactly as the histogram's slots tell.
        assert!((16_000..24_000).contains(&queue.median_us), "{queue:?}");
        assert!((16_000..24_600).contains(&queue.p95_us), "{queue:?}");
        let carried = account.carried();
        assert_eq!((carried["tcp"], carried["quic"]), (30_000_000, 3_000_000));
        // A connection that was not seen in that time is not mentioned.
        assert_eq!(way.left, [Reason::NoScale, Reason::Denied]);
    }

    #[test]
    fn it_says_what_was_steered_and_what_was_not_and_why() {
        let tide = About {
            law: Law::Tide,
            ..About::default()
        };
        let mut account = after(60).since(&after(1), &tide);
        let with = Spread {
            median_us: 14_000,
            p95_us: 61_000,
            packets: 500,
        };
        let without = Spread {
            median_us: 420_000,
            p95_us: 1_200_000,
            packets: 500,
        };
        account.ways[0].queue = Some(with);
        account.ways[0].compared = Some(Compared {
            pairs: 6,
            slots_us: 48_000_000,
            with,
            without,
        });
        let text = account.ways[0].to_string();
        assert_eq!(
            text,
            "down 655 MB: queue 14 ms (median), 61 ms (95 of 100 packets); in 6 trials, 48 s each way, with steering \
             14 ms and 61 ms, without 420 ms and 1.2 s; steered TCP 90 %; left alone QUIC 9 %, TCP (no window scale) <1 %"
        );
    }
}
