//! Whom the page is about: the agent, or in tests what stands for it.

use super::history::Observation;
use crate::account::Account;
use crate::snapshot::{About, Shared, Snapshot, now_with_sleep_us};
use anyhow::{Context, Result};

/// What was done, and by whom.
pub struct Past {
    /// By whom.
    pub about: About,
    /// In the last day.
    pub day: Account,
    /// In the last week.
    pub week: Account,
}

/// It. What it has ended by gives nothing.
pub trait Source: Send + Sync + 'static {
    /// µs of a clock that goes on while the machine sleeps.
    fn now_us(&self) -> u64;

    /// What is sampled every second: little, however many flows there are.
    fn observe(&self) -> Option<Result<Observation>>;

    /// Everything.
    fn snapshot(&self) -> Option<Result<Snapshot>>;

    /// What was done for long.
    fn past(&self) -> Option<Result<Past>>;

    /// An hour is over.
    fn mark_hour(&self) -> Option<Result<()>>;
}

impl Source for Shared {
    fn now_us(&self) -> u64 {
        now_with_sleep_us()
    }

    fn observe(&self) -> Option<Result<Observation>> {
        self.with(|watched| {
            let histograms = watched.agent.histograms().context("read the histograms")?;
            Ok(Observation {
                at_us: self.now_us(),
                passes: watched.about_now().lets_pass(),
                queue_us: histograms.map(|h| h.queue_us),
                bytes: watched.books.carried_bytes(&watched.agent),
            })
        })
    }

    fn snapshot(&self) -> Option<Result<Snapshot>> {
        self.with(|watched| watched.snapshot())
    }

    fn past(&self) -> Option<Result<Past>> {
        self.with(|watched| {
            let now_us = crate::snapshot::now_us();
            Ok(Past {
                about: watched.about_now(),
                day: watched.account_of_the_day(now_us)?,
                week: watched.account_of_the_week(now_us)?,
            })
        })
    }

    fn mark_hour(&self) -> Option<Result<()>> {
        self.with(|watched| {
            let now_us = crate::snapshot::now_us();
            Ok(watched.books.mark_hour(&watched.agent, now_us)?)
        })
    }
}
