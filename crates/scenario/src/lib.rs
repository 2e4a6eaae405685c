//! What goes into an experiment and what comes out of it.
//!
//! A [`Scenario`] is read from TOML by the laboratory (real time, kernel TCP) and the simulator
//! (virtual time) alike; both write a [`ResultSet`]. Neither knows of the other: this crate is all
//! they share.

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod adaptive;
mod cake;
mod check;
mod comparison;
mod complaints;
mod cost;
mod files;
mod flows;
mod goodput;
mod link;
mod load;
mod mpath;
mod on_off;
mod place;
mod provenance;
mod ranges;
mod read_rate;
mod result;
mod scenario;
mod schedule;
mod schema;
mod sprout;
mod table;
mod text;
mod tolerant;
mod unknown;
mod vary;
mod ways;
mod words;
mod workload;

pub use adaptive::{AbrAlgorithm, AdaptiveVideoSpec, QoeSpec};
pub use cake::{CakeSpec, ShapedSpec};
pub use comparison::Comparison;
pub use files::{Files, Recordings};
pub use flows::{
    ArrivalsSpec, FlowsSpec, LognormalGaps, PaceSpec, ParetoGaps, PublishedSizes, SizeDistribution,
    SizeTable, SizesSpec,
};
pub use link::*;
pub use load::{FILE_KEYS, LinkInputs, LoadError};
pub use mpath::{Detection, MpathSpec};
pub use on_off::{Carrier, OnOffSpec, PeriodSpec};
pub use place::Step;
pub use provenance::{Provenance, Seeds};
pub use ranges::{Range, range, unit_in};
pub use read_rate::SlowReader;
pub use result::*;
pub use scenario::*;
pub use schedule::Schedule;
pub use schema::{results_schema, schema};
pub use sprout::{SproutForecast, SproutSpec};
pub use text::read_text;
pub use tidegate_laws::{Direction, Law};
pub use vary::{Point, Setting, Variation, Written, combinations};
pub use ways::{DOWN, ProxySpec, UP};
pub use workload::{ReadRate, Spacing, Workload, WorkloadKind};
