//! What tide must reach in company.

use super::super::contenders::DRWA;
use super::super::paths::Path;
use super::AFTERWARDS;
use super::company::{Company, JOINS, Other};
use super::meeting::{Meeting, TENTH, companies};
use super::{reasons, table};
use crate::means::{mean, most};
use std::sync::Arc;
use tidegate_study::{Claim, Quantity, Sample};

/// On links with a deep buffer that are slower than this, in Mbit/s, DRWA is expected to starve.
const SLOW_MBPS: f64 = 2.5;

/// Largest share of such a link that DRWA is left with, in percent.
const STARVED: f64 = 6.0;

/// Longest time until the queue has drained, in seconds.
const DRAINED_S: f64 = 5.0;

/// Points of the link that we can leave unused after the other's end, beyond Linux.
const UNUSED: f64 = 3.5;

/// Our smallest share of the link beside a held flow, in percent.
const BESIDE_HELD: f64 = 40.0;

/// Goodput to be kept, in percent: as a mean over the paths, and on each of them.
#[derive(Clone, Copy)]
struct Kept {
    mean: f64,
    each: f64,
}

/// The quantities of every company, and DRWA's starvation.
pub fn all(meetings: &[Meeting]) -> Vec<Quantity> {
    let of = |company| -> Arc<[Meeting]> {
        let of = meetings.iter().filter(|meeting| meeting.company == company);
        of.cloned().collect()
    };
    let mut quantities: Vec<Quantity> = companies(meetings)
        .into_iter()
        .flat_map(|company| Asked::new(company, of(company)).all())
        .collect();
    quantities.extend(starved(of(JOINS)));
    quantities
}

/// Goodput to be kept beside that company.
fn kept(company: Company) -> Kept {
    match company.even() {
        Some(_) => Kept {
            mean: 90.0,
            each: 75.0,
        },
        None => Kept {
            mean: 80.0,
            each: 80.0,
        },
    }
}

/// Whether that path misses a bound for single paths.
pub fn misses(sample: &Sample, meeting: &Meeting) -> bool {
    meeting.kept(sample) < kept(meeting.company).each
        || meeting.excess(sample).is_some_and(|points| points > 0.0)
        || meeting.drained_s(sample) > DRAINED_S
}

/// The bounds beside one kind of company, on all its paths.
struct Asked {
    company: Company,
    meetings: Arc<[Meeting]>,
}

impl Asked {
    fn new(company: Company, meetings: Arc<[Meeting]>) -> Self {
        Self { company, meetings }
    }

    fn all(&self) -> Vec<Quantity> {
        let kept = self.kept();
        let share = self.share();
        kept.into_iter()
            .chain(share)
            .chain(self.drained())
            .chain([self.used()])
            .collect()
    }

    /// A number over all paths.
    fn quantity(
        &self,
        what: &str,
        unit: &'static str,
        claim: Claim,
        read: impl Fn(&Sample, &[Meeting]) -> f64 + Send + Sync + 'static,
    ) -> Quantity {
        let meetings = self.meetings.clone();
        let name = format!("{}: {what}", self.company.name);
        Quantity::new(name, unit, claim, move |s| read(s, &meetings))
    }

    /// On how many paths a condition holds; it should hold on none.
    fn count(
        &self,
        what: &str,
        is_so: impl Fn(&Sample, &Meeting) -> bool + Send + Sync + 'static,
    ) -> Quantity {
        let count = self.meetings.len() as f64;
        let what = format!("of {count} paths, on how many {what}");
        let claim = Claim::at_most(0.0, count);
        self.quantity(&what, "paths", claim, move |s, meetings| {
            meetings.iter().filter(|m| is_so(s, m)).count() as f64
        })
    }

    fn kept(&self) -> [Quantity; 2] {
        let Kept { mean: all, each } = kept(self.company);
        let of = match self.company.even() {
            Some(_) => "the smaller of Linux's goodput and an even share",
            None => "Linux's goodput",
        };
        let what = format!("kept of {of}, mean");
        let reason = reasons::kept(self.company);
        let (company, listed) = (self.company, self.meetings.clone());
        [
            self.quantity(&what, "%", Claim::at_least(all, 0.0), |s, meetings| {
                mean(meetings.iter().map(|m| m.kept(s)))
            })
            .because(reason),
            self.count(&format!("less than {each} %"), move |s, m| m.kept(s) < each)
                .because(reason)
                .listing(move |s| table::misses(s, company, &listed)),
        ]
    }

    /// The share of the link, if the other can have an even one.
    fn share(&self) -> Option<Quantity> {
        match self.company.other {
            Other::Unseen(_) | Other::LeftAlone => Some(self.excess()),
            Other::Held => Some(self.left()),
            Other::Datagrams | Other::Upload => None,
        }
    }

    fn excess(&self) -> Quantity {
        // If we took all of the link.
        let most_of_all = 100.0 - TENTH - self.company.even().unwrap_or_default();
        self.quantity(
            "excess: share of the link above what is allowed, largest",
            "points",
            Claim::at_most(0.0, most_of_all),
            |s, meetings| most(meetings.iter().filter_map(|m| m.excess(s))),
        )
    }

    fn left(&self) -> Quantity {
        let claim = Claim::at_least(BESIDE_HELD, 0.0);
        self.quantity("share of the link, mean", "%", claim, |s, meetings| {
            mean(meetings.iter().map(|m| m.share(s, m.company.ours())))
        })
    }

    fn drained(&self) -> [Quantity; 2] {
        let claim = Claim::at_most(DRAINED_S, AFTERWARDS.length_s());
        [
            self.quantity(
                "time until tide's queue is drained, longest",
                "s",
                claim,
                |s, meetings| most(meetings.iter().map(|m| m.drained_s(s))),
            ),
            self.count(&format!("it takes longer than {DRAINED_S} s"), |s, m| {
                m.drained_s(s) > DRAINED_S
            }),
        ]
    }

    fn used(&self) -> Quantity {
        let read = |s: &Sample, m: &Meeting| {
            let [ours, linux] = [m.company.ours(), m.company.linux()].map(|c| m.used(s, c));
            ours - linux
        };
        self.quantity(
            "utilisation after the other's end, tide less Linux",
            "points",
            Claim::at_least(-UNUSED, -100.0),
            move |s, meetings| mean(meetings.iter().map(|m| read(s, m))),
        )
    }
}

/// DRWA's share where it starves, if there is such a path.
fn starved(meetings: Arc<[Meeting]>) -> Option<Quantity> {
    let starves = |path: &Path| path.mean_mbps < SLOW_MBPS && path.is_deep();
    meetings
        .iter()
        .any(|meeting| starves(&meeting.beside.path))
        .then(|| {
            Quantity::new(
                format!(
                    "{}: share of a slow link with a deep buffer that DRWA λ = 3 is left with",
                    JOINS.name
                ),
                "%",
                Claim::at_most(STARVED, 50.0),
                move |sample| {
                    let slow = meetings.iter().filter(|m| starves(&m.beside.path));
                    mean(slow.map(|m| m.share(sample, DRWA)))
                },
            )
        })
}
