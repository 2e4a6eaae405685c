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
use tidegate_link::{Rate, RateSeries, Trace};

/// The capacity of a link over time.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSpec {
    /// The same rate for ever, in Mbit/s (10^6 bit/s).
    ConstantMbps(f64),
    /// A file in Mahimahi's format, looped. Relative paths are relative to the scenario's file.
    Trace(String),
    /// A file of `seconds,bits_per_second`, looped.
    Series(String),
    /// Such a file, handed out in a scheduler's bursts.
    Scheduled(ScheduledSpec),
    /// Seconds and Mbit/s, the first at 0 s: each rate holds until the next one, the last for ever.
    #[schemars(extend("unit" = "s, Mbit/s"))]
    Steps(Vec<[f64; 2]>),
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
            Self::ConstantMbps(mbps) => positive(to, "constant_mbps", *mbps),
            Self::Trace(_) | Self::Series(_) => {}
            Self::Scheduled(scheduled) => scheduled.complain(to),
            Self::Steps(steps) => steps::complain(steps, to),
            Self::Slots(slots) => slots.complain(to),
            Self::Generate(generate) => to.inside("generate", |to| generate.complain(to)),
            Self::Walk(walk) => walk.complain(to),
        }
    }

    /// The rate, which makes sense, with its file read; `seed` is for what has none of
    /// its own.
    pub(super) fn resolve(&self, files: &Files, seed: u64) -> Result<Rate, LoadError> {
        Ok(match self {
            Self::ConstantMbps(mbps) => Rate::constant(mbps * 1e6),
            Self::Trace(file) => files.parse(file, Trace::parse)?.into(),
            Self::Series(file) => files.parse(file, RateSeries::parse)?.into(),
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

fn positive(to: &mut Complaints, name: &'static str, mbps: f64) {
    to.expect(mbps.is_finite() && mbps > 0.0, name, || {
        format!("{name} is {mbps}, expected more than 0")
    });
}

/// The first point in time, in seconds, that lies on no day.
fn outside_a_day(points: &[[f64; 2]]) -> Option<f64> {
    let mut seconds = points.iter().map(|p| p[0]);
    seconds.find(|s| !(0.0..=86_400.0).contains(s))
}
