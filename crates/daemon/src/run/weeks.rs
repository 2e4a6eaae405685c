//! Logs once a week what the week was like.

use crate::clock::now_us;
use crate::log::Log;
use crate::run::page::history::Observation;
use crate::run::page::source::Source;
use crate::service::Shared;
use crate::spread::Spread;
use serde::Serialize;
use serde_json::json;
use tidegate_agent::Direction;
use tidegate_terminal::units::{bytes, delay, duration, rate};

/// Hours in a week.
const HOURS: u64 = 7 * 24;

/// What was carried and met since the last line.
pub struct Weeks {
    /// Time between two lines, in µs; none: no lines.
    length_us: Option<u64>,
    /// The first look since the last line, and the one at the last hour.
    began: Option<Observation>,
    hour: Option<Observation>,
    /// The highest rate of an hour so far, by [`Direction::ALL`].
    busiest_bps: [f64; 2],
    next_us: u64,
}

/// One direction of the week.
#[derive(Debug, Serialize)]
struct Way {
    direction: Direction,
    bytes: u64,
    /// None: nothing was measured.
    queue: Option<Spread>,
    longest_us: Option<u64>,
    /// Bits a second in its busiest hour.
    busiest_bps: f64,
}

impl Weeks {
    /// A line every `seconds` from now on; 0: none.
    pub fn new(seconds: u32, shared: &Shared) -> Self {
        let length_us = (seconds > 0).then(|| u64::from(seconds) * 1_000_000);
        let began = shared.observe().and_then(Result::ok);
        Self {
            length_us,
            hour: began.clone(),
            began,
            busiest_bps: [0.0; 2],
            next_us: now_us() + length_us.unwrap_or(0) / HOURS,
        }
    }

    /// When the next look is due, µs of `CLOCK_MONOTONIC`; none: never.
    pub fn next_us(&self) -> Option<u64> {
        self.length_us.map(|_| self.next_us)
    }

    /// Looks if an hour is over, and logs the line if it is due.
    pub fn step(&mut self, shared: &Shared, log: Log) {
        let (Some(length_us), now_us) = (self.length_us, now_us()) else {
            return;
        };
        if now_us < self.next_us {
            return;
        }
        self.next_us = now_us + length_us / HOURS;
        // If a look fails it is missing; the next one covers its time.
        let Some(Ok(now)) = shared.observe() else {
            return;
        };
        if let Some(before) = self.hour.replace(now.clone()) {
            self.note_hour(&before, &now);
        }
        let began = self.began.get_or_insert_with(|| now.clone());
        if now.at_us - began.at_us >= length_us {
            let ways = Direction::ALL.map(|d| Way::of(d, began, &now, self.busiest_bps));
            tell(&ways, (now.at_us - began.at_us) / 1_000_000, log);
            self.began = Some(now);
            self.busiest_bps = [0.0; 2];
        }
    }

    fn note_hour(&mut self, before: &Observation, now: &Observation) {
        let elapsed_us = now.at_us.saturating_sub(before.at_us).max(1);
        for (way, most) in self.busiest_bps.iter_mut().enumerate() {
            let news = now.bytes[way].saturating_sub(before.bytes[way]);
            *most = most.max(news as f64 * 8e6 / elapsed_us as f64);
        }
    }
}

impl Way {
    fn of(direction: Direction, from: &Observation, to: &Observation, busiest: [f64; 2]) -> Self {
        let at = direction as usize;
        let queue_us = to.queue_us[at].since(&from.queue_us[at]);
        Self {
            direction,
            bytes: to.bytes[at].saturating_sub(from.bytes[at]),
            queue: Spread::of(&queue_us),
            longest_us: queue_us.quantile(1.0),
            busiest_bps: busiest[at],
        }
    }

    fn words(&self) -> String {
        let queue = match (&self.queue, self.longest_us) {
            (Some(queue), Some(us)) => {
                let longest = delay(us.min(u64::from(u32::MAX)) as u32);
                format!("queue {queue}, the longest {longest}")
            }
            _ => "no queue was measured".into(),
        };
        format!(
            "{} {}, {} in the busiest hour, {queue}",
            self.direction.name(),
            bytes(self.bytes),
            rate(self.busiest_bps)
        )
    }
}

fn tell(ways: &[Way], seconds: u64, log: Log) {
    let span = match (seconds + 1800) / 3600 {
        HOURS => "last week".into(),
        _ => format!("last {}", duration(seconds)),
    };
    let words: Vec<_> = ways.iter().map(Way::words).collect();
    let message = format!("{span}: {}", words.join("; "));
    log.info(
        "week",
        &message,
        json!({ "seconds": seconds, "ways": ways }),
    );
}
