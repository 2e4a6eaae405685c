//! What a link may be made of, as scenarios spell it. Each part has a file with its keys, what makes no
//! sense in them, and how they become the link model's.

mod arq;
mod begin;
mod cell;
mod delay;
mod disorder;
mod loss;
mod middlebox;
mod queue;
mod rate;
mod shaper;

pub use arq::ArqSpec;
pub(crate) use begin::place_of;
pub use cell::CellSpec;
pub use delay::DelayStep;
pub use disorder::DisorderSpec;
pub use middlebox::MiddleboxSpec;
pub use queue::QueueSpec;
pub use rate::*;
pub use shaper::ShaperSpec;
pub use tidegate_link::{AbcFeedback, CellKind, Loss, QueuePolicy, SchedulerKind};

use crate::complaints::Complaints;
use crate::ranges;
use crate::{Files, LoadError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use tidegate_link::Config;

/// One direction of the path.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// How much the link carries, and when. With `cell`, how much it would carry alone.
    pub rate: RateSpec,
    /// One-way propagation delay, in milliseconds.
    #[schemars(range(min = 0.0, max = 60_000.0))]
    pub delay_ms: f64,
    /// Later values of the propagation delay.
    #[serde(default)]
    pub delay_steps: Vec<DelayStep>,
    /// A file of one-way delays in milliseconds, one a line for each 10 ms, looped. What each of them is above
    /// the smallest of the file is added to `delay_ms`, which is thus the least delay. When the delay falls, no
    /// packet overtakes another.
    #[serde(default)]
    pub delay_trace: Option<String>,
    /// So many seconds into its recordings, `rate` and `delay_trace`, the run begins; behind their end they begin anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub begin_s: Option<f64>,
    /// Each seed begins at another place of the recordings. All links of a scenario begin at the same place, if their
    /// recordings are as long.
    #[serde(default, skip_serializing_if = "is_false")]
    pub begin_by_seed: bool,
    /// The buffer in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Loss on the link, after the queue.
    #[serde(default)]
    pub loss: Option<Loss>,
    /// Shaping in front of the queue, as a server or an operator does it.
    #[serde(default)]
    pub shaper: Option<ShaperSpec>,
    /// Other users in the same cell.
    #[serde(default)]
    pub cell: Option<CellSpec>,
    /// Retransmission on the link itself.
    #[serde(default)]
    pub arq: Option<ArqSpec>,
    /// Reordering and duplication behind the link.
    #[serde(default)]
    pub disorder: Option<DisorderSpec>,
    /// A box at the far end that holds what comes out of order.
    #[serde(default)]
    pub middlebox: Option<MiddleboxSpec>,
}

impl LinkSpec {
    /// A link of that rate and one-way delay with the default queue and nothing else.
    pub fn new(rate: RateSpec, delay_ms: f64) -> Self {
        Self {
            rate,
            delay_ms,
            delay_steps: Vec::new(),
            delay_trace: None,
            begin_s: None,
            begin_by_seed: false,
            queue: QueueSpec::default(),
            loss: None,
            shaper: None,
            cell: None,
            arq: None,
            disorder: None,
            middlebox: None,
        }
    }

    /// The first thing about the link that makes no sense.
    pub fn complaint(&self) -> Option<String> {
        let mut complaints = Complaints::with(ranges::of_link(self));
        self.complain(&mut complaints);
        complaints.first()
    }

    /// Complains of all that makes no sense in it.
    pub(crate) fn complain(&self, to: &mut Complaints) {
        self.complain_of_delay(to);
        self.complain_of_begin(to);
        to.inside("rate", |to| self.rate.complain(to));
        to.inside("queue", |to| self.queue.complain(to));
        if let Some(loss) = self.loss {
            loss::complain(loss, to);
        }
        if let Some(cell) = self.cell {
            cell.complain(to);
            // Its router would have to know what the scheduler gives it.
            to.expect(self.queue.policy != QueuePolicy::Abc, "cell", || {
                "ABC's router knows the link's rate: no other users, or another policy".into()
            });
        }
        if let Some(arq) = &self.arq {
            arq.complain(&self.rate, to);
        }
    }

    /// Reads the traces that the link names, relative to `folder`. The link makes sense, as
    /// [`Self::complaint`] says.
    ///
    /// # Errors
    /// When a file cannot be read or is not what it should be.
    pub fn resolve(&self, folder: &Path, seed: u64) -> Result<Config, LoadError> {
        self.resolve_from(&Files::below(folder), seed)
    }

    /// The same with files from there.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn resolve_from(&self, files: &Files, seed: u64) -> Result<Config, LoadError> {
        self.resolve_at(files, seed, place_of(seed))
    }

    /// The same with recordings that begin at that part of their length, if a seed tells where.
    pub(crate) fn resolve_at(
        &self,
        files: &Files,
        seed: u64,
        place: f64,
    ) -> Result<Config, LoadError> {
        let rate = self.rate.resolve(files, seed)?;
        let ahead = self.ahead(rate.period().unwrap_or_default(), place);
        let rate = rate.ahead(ahead);
        Ok(Config {
            shaper: self.shaper.map(ShaperSpec::resolve),
            queue: self.queue.resolve(&rate),
            sharing: self.cell.map(|cell| cell.resolve(seed)),
            arq: self.arq.as_ref().map(|arq| arq.resolve(&rate)),
            loss: self.loss,
            delay: self.delay(files, place)?,
            disorder: self.disorder.map(DisorderSpec::resolve),
            middlebox: self.middlebox.map(MiddleboxSpec::resolve),
            rate,
        })
    }
}

fn is_false(given: &bool) -> bool {
    !given
}

fn milliseconds(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

#[cfg(test)]
mod tests;
