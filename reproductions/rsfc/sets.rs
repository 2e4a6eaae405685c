//! The same experiment, repeated at one place after another.

use super::carriers::{self, Isp, Place};
use super::experiments::{Carried, Experiment, Steered, beside_kbps, kbps, repetitions, rtt_s};
use std::sync::Arc;
use tidegate_scenario::RunResult;
use tidegate_study::{Case, Extent, Sample};

/// An experiment at each of some places.
#[derive(Clone, Debug)]
pub struct Set(Arc<[Experiment]>);

impl Set {
    /// The experiments that `make` builds for each place.
    pub fn new(places: &[Place], make: impl FnMut(&Place) -> Experiment) -> Self {
        Self(places.iter().map(make).collect())
    }

    /// The runs for it.
    pub fn cases(&self) -> impl Iterator<Item = Case> {
        self.0.iter().cloned().map(Experiment::case)
    }

    /// Its cases' names.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Experiment::name)
    }

    /// What `read` returns for each run, place by place and seed by seed.
    pub fn all(&self, sample: &Sample, read: impl Fn(&RunResult) -> f64) -> Vec<f64> {
        let runs = self.names().flat_map(|name| sample.runs(&name));
        runs.map(read).collect()
    }

    /// Runs at each place. Dot plots show the first.
    pub fn seeds(&self, sample: &Sample) -> usize {
        let first = self.0.first().map(Experiment::name);
        first.map_or(1, |name| sample.runs(&name).count())
    }

    /// A flow's rate in each run, in kbit/s.
    pub fn kbps(&self, sample: &Sample, flow: &str) -> Vec<f64> {
        self.all(sample, |run| kbps(run, flow))
    }

    /// A flow's RTT in each run, in seconds.
    pub fn rtt_s(&self, sample: &Sample, flow: &str) -> Vec<f64> {
        self.all(sample, |run| rtt_s(run, flow))
    }

    /// The rate while the download lasts, in each run, in kbit/s.
    pub fn beside_kbps(&self, sample: &Sample, carried: Carried) -> Vec<f64> {
        let names = self.names();
        names
            .flat_map(|name| beside_kbps(sample, &name, carried))
            .collect()
    }
}

/// The thesis's sets of flows at an ISP.
#[derive(Clone, Debug)]
pub struct Flows {
    /// The ISP's name.
    pub isp: &'static str,
    /// u_0, an upload alone.
    pub u0: Set,
    /// The same with RSFC.
    pub rsfc: Set,
    /// d_0, a download alone.
    pub d0: Set,
    /// u_1 and d_1, both at once.
    pub both: Set,
    /// u_2 and d_2, with RSFC.
    pub both_rsfc: Set,
}

impl Flows {
    /// At that ISP.
    pub fn at(isp: &Isp, extent: &Extent) -> Self {
        let places = isp.places(repetitions(extent));
        let set = |make: &dyn Fn(&Place) -> Experiment| Set::new(&places, make);
        let up = |steered| set(&|place| Experiment::upload(place, "cubic", steered));
        let both = |steered| set(&|place| Experiment::both(place, "cubic", steered, extent));
        Self {
            isp: isp.name,
            u0: up(Steered::Untouched),
            rsfc: up(Steered::Rsfc),
            d0: set(&|place| Experiment::download(place, extent)),
            both: both(Steered::Untouched),
            both_rsfc: both(Steered::Rsfc),
        }
    }

    /// At all three.
    pub fn everywhere(extent: &Extent) -> [Self; 3] {
        [&carriers::A, &carriers::B, &carriers::C].map(|isp| Self::at(isp, extent))
    }

    /// The uplink's speed in each experiment, by u_0, in kbit/s.
    pub fn uplink_kbps(&self, sample: &Sample) -> Vec<f64> {
        self.u0.kbps(sample, "upload")
    }
}

/// The cases of several sets.
pub fn cases<'a>(sets: impl IntoIterator<Item = &'a Set>) -> Vec<Case> {
    sets.into_iter().flat_map(Set::cases).collect()
}
