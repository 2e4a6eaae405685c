//! Where the page's data come from: the agent, or a stand-in in tests.

use super::history::Observation;
use crate::about::About;
use crate::account::Account;
use crate::clock::{now_us, now_with_sleep_us};
use crate::service::Shared;
use crate::snapshot::Snapshot;
use anyhow::{Context, Result};

/// What was done in the past, and by which agent.
pub struct Past {
    /// Which agent.
    pub about: About,
    /// The last day.
    pub day: Account,
    /// The last week.
    pub week: Account,
}

/// The source. All methods but the clock return none once the agent has ended.
pub trait Source: Send + Sync + 'static {
    /// µs of a clock that runs on while the machine sleeps.
    fn now_us(&self) -> u64;

    /// What is sampled every second: cheap, however many flows there are.
    fn observe(&self) -> Option<Result<Observation>>;

    /// The whole state.
    fn snapshot(&self) -> Option<Result<Snapshot>>;

    /// The accounts of the last day and week.
    fn past(&self) -> Option<Result<Past>>;

    /// Marks that an hour is over.
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
            let now_us = now_us();
            Ok(Past {
                about: watched.about_now(),
                day: watched.account_of_the_day(now_us)?,
                week: watched.account_of_the_week(now_us)?,
            })
        })
    }

    fn mark_hour(&self) -> Option<Result<()>> {
        self.with(|watched| {
            let now_us = now_us();
            Ok(watched.books.mark_hour(&watched.agent, now_us)?)
        })
    }
}
