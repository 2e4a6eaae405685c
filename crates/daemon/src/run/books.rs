//! Logs a summary of what was done, every hour or at the interval that the user chose.

use crate::account::Way;
use crate::clock::now_us;
use crate::log::Log;
use crate::service::Shared;
use serde_json::json;
use tidegate_terminal::units::duration;

/// Marks between two lines. A line is about the time since the oldest mark that is kept (`Books::of_late`).
const MARKS: u32 = 6;

/// When the next summary is due.
pub struct Hours {
    /// Time between two marks, in µs; none: no summaries.
    every_us: Option<u64>,
    next_us: u64,
    marks: u32,
}

impl Hours {
    /// A summary every `seconds`; 0: the account of the last hour is kept, but not logged.
    pub fn new(seconds: u32, now_us: u64) -> Self {
        let every_us = (seconds > 0).then(|| u64::from(seconds) * 1_000_000 / u64::from(MARKS));
        Self {
            every_us,
            next_us: now_us + every_us.unwrap_or(0),
            marks: 0,
        }
    }

    /// When the next mark is due, µs of `CLOCK_MONOTONIC`; none: never.
    pub fn next_us(&self) -> Option<u64> {
        self.every_us.map(|_| self.next_us)
    }

    /// Sets a mark if one is due, and logs the summary if that is due, too.
    pub fn step(&mut self, shared: &Shared, log: Log) {
        let (Some(every_us), now_us) = (self.every_us, now_us()) else {
            return;
        };
        if now_us < self.next_us {
            return;
        }
        // After the machine has slept there is one mark, not one for each that was missed.
        self.next_us += every_us;
        if self.next_us <= now_us {
            self.next_us = now_us + every_us;
        }
        self.marks += 1;
        let is_due = self.marks.is_multiple_of(MARKS);
        let account = shared.with(|watched| {
            let account = is_due.then(|| watched.account(now_us)).transpose()?;
            watched.books.mark(&watched.agent, now_us)?;
            Ok::<_, anyhow::Error>(account)
        });
        match account {
            Some(Ok(Some(account))) => {
                for way in account.ways.iter().filter(|way| way.is_worth_a_line()) {
                    line(way, account.elapsed_us, log);
                }
            }
            Some(Err(error)) => {
                let message = format!("what was done is not known: {error:#}");
                log.warn("account", &message, json!({}));
            }
            _ => {}
        }
    }
}

/// Logs what was done in one direction.
pub fn line(way: &Way, elapsed_us: u64, log: Log) {
    let seconds = elapsed_us / 1_000_000;
    let message = format!("{}, {way}", duration(seconds));
    log.info(
        "account",
        &message,
        json!({ "seconds": seconds, "way": way }),
    );
}
