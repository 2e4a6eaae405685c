//! How much a link carries, as scenarios spell it: the list of the kinds, each of which has a file.

mod generate;
mod scheduled;
mod slots;
mod steps;
mod walk;

pub use generate::GenerateSpec;
pub use scheduled::ScheduledSpec;
pub use slots::SlotsSpec;
pub use walk::WalkSpec;

use crate::complaints::Complaints;
use crate::{Files, LoadError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::Rate;

/// The capacity of a link over time.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSpec {
    /// The same rate for ever, in Mbit/s (10^6 bit/s).
    ConstantMbps(#[schemars(range(min = 0.001, max = 100_000.0))] f64),
    /// A file in Mahimahi's format, looped. Relative paths are relative to the scenario's file.
    Trace(String),
    /// A file of `seconds,bits_per_second`, looped.
    Series(String),
    /// Such a file, handed out in a scheduler's bursts.
    Scheduled(ScheduledSpec),
    /// Seconds and Mbit/s, the first at 0 s: each rate holds until the next one, the last for ever.
    #[schemars(extend("unit" = "s, Mbit/s"))]
    Steps(#[schemars(schema_with = "steps::schema")] Vec<[f64; 2]>),
    /// One rate after the other, each for as long, over and over.
    Slots(SlotsSpec),
    /// One of the shipped, seeded cell models.
    Generate(GenerateSpec),
    /// A user's walk through an LTE cell, looped.
    Walk(WalkSpec),
}

impl RateSpec {
    /// Complains of all that makes no sense in it, as far as can be told without its file.
    pub(super) fn complain(&self, to: &mut Complaints) {
        match self {
            Self::Steps(steps) => steps::complain(steps, to),
            Self::Slots(slots) => slots.complain(to),
            Self::Walk(walk) => walk.complain(to),
            // Each of their numbers makes sense by itself.
            Self::ConstantMbps(_)
            | Self::Trace(_)
            | Self::Series(_)
            | Self::Scheduled(_)
            | Self::Generate(_) => {}
        }
    }

    /// The rate, which makes sense, with its file read; `seed` is for what has none of
    /// its own.
    pub(super) fn resolve(&self, files: &Files, seed: u64) -> Result<Rate, LoadError> {
        Ok(match self {
            Self::ConstantMbps(mbps) => Rate::constant(mbps * 1e6),
            Self::Trace(file) => files.trace(file)?.into(),
            Self::Series(file) => files.series(file)?.into(),
            Self::Scheduled(scheduled) => scheduled.resolve(files)?.into(),
            Self::Steps(steps) => steps::resolve(steps).expect(CHECKED).into(),
            Self::Slots(slots) => slots.resolve().expect(CHECKED).into(),
            Self::Generate(generate) => generate.model(seed).into(),
            Self::Walk(walk) => walk.resolve(seed).expect(CHECKED).into(),
        })
    }
}

/// Why a rate that was refused does not get here.
const CHECKED: &str = "checked before it is resolved";
