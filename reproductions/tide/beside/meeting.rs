//! Our flows in company, and their share.

use super::super::contenders::Contender;
use super::super::paths::{Path, WARMUP_S};
use super::super::trials::Trial;
use super::company::Company;
use super::drained::{drained_s, level_ms};
use super::{AFTERWARDS, AT_THE_END, DURATION_S, TOGETHER};
use crate::means::mean;
use crate::radio::HEADERS;
use crate::spans::BIN_S;
use tidegate_scenario::Workload;
use tidegate_study::{Case, Sample};

pub const RATE: &str = "goodput_bps";
pub const QUEUE: &str = "queue_delay_ms";
const COULD: &str = "capacity_bps";
const CURVES: [&str; 4] = [RATE, QUEUE, "delivered_bps", COULD];

/// Allowed excess of our share over an even one, in points.
pub const TENTH: f64 = 10.0;

/// Our flows in company, and the same flows for the same time alone.
#[derive(Clone, Debug)]
pub struct Meeting {
    pub company: Company,
    pub beside: Trial,
    alone: Trial,
}

impl Meeting {
    pub fn new(company: Company, path: &Path) -> Self {
        let trial = |subject: &str, workloads| {
            Trial::new(subject, path, DURATION_S, workloads)
                .warmed_up(WARMUP_S)
                .curves(&CURVES)
        };
        let ours: Workload = company.ours_alone();
        let alone = format!("no company, {} of ours", company.our_flows().len());
        Self {
            company,
            beside: trial(company.name, company.workloads(path)),
            alone: trial(&alone, vec![ours]),
        }
    }

    /// Only tide is run alone as well; that case is the same in several companies, and is run once.
    pub fn cases(&self) -> Vec<Case> {
        let contenders = self.company.contenders().into_iter();
        let beside = contenders.map(|(_, contender, _)| self.beside.case(contender));
        beside
            .chain([self.alone.case(self.company.alone())])
            .collect()
    }

    /// Our flows' goodput while the other sends, in bit/s.
    fn goodput_bps(&self, sample: &Sample, contender: Contender) -> f64 {
        let case = self.beside.by(contender);
        let goodput = |flow: String| {
            let curves = sample.flow_curves(&case, &flow, RATE);
            mean(curves.map(|curve| together_bps(&curve)))
        };
        self.company.our_flows().into_iter().map(goodput).sum()
    }

    /// Our flows' share of the link while the other sends, headers included, in percent.
    pub fn share(&self, sample: &Sample, contender: Contender) -> f64 {
        let could = sample.curves(&self.beside.by(contender), COULD);
        let could_bps = mean(could.map(|curve| together_bps(&curve)));
        100.0 * HEADERS * self.goodput_bps(sample, contender) / could_bps
    }

    /// The same with tide and with untouched Linux.
    pub fn shares(&self, sample: &Sample) -> [f64; 2] {
        [self.company.ours(), self.company.linux()].map(|c| self.share(sample, c))
    }

    /// Goodput of tide's flows relative to untouched Linux's, or to an even share if one exists and is smaller; in
    /// percent.
    pub fn kept(&self, sample: &Sample) -> f64 {
        let [ours, linux] = self.shares(sample);
        kept(ours, linux, self.company.even())
    }

    /// Excess of tide's share of the link over an even share plus a tenth, or over untouched Linux's if that is
    /// larger; in points, negative if it is smaller. None if shares cannot be even.
    pub fn excess(&self, sample: &Sample) -> Option<f64> {
        let [ours, linux] = self.shares(sample);
        let even = self.company.even()?;
        Some(excess(ours, linux, even))
    }

    /// Queueing delay at the run's end with tide, in milliseconds.
    pub fn left_ms(&self, sample: &Sample) -> f64 {
        let curves = sample.curves(&self.beside.by(self.company.ours()), QUEUE);
        mean(curves.map(|curve| mean(AT_THE_END.values(&curve))))
    }

    /// Use of the link after the other's end, in percent.
    pub fn used(&self, sample: &Sample, contender: Contender) -> f64 {
        AFTERWARDS.utilisation(sample, &self.beside.by(contender))
    }

    /// As [`drained_s`], with tide.
    pub fn drained_s(&self, sample: &Sample) -> f64 {
        let alone = self.alone.by(self.company.alone());
        let level_ms = level_ms(sample.mean(&alone, |run| run.link.queue_delay_ms.mean));
        let curves = sample.curves(&self.beside.by(self.company.ours()), QUEUE);
        mean(curves.map(|curve| drained_s(&curve, level_ms)))
    }
}

/// The companies of these meetings, each once.
pub fn companies(meetings: &[Meeting]) -> Vec<Company> {
    let mut companies = Vec::new();
    for meeting in meetings {
        if !companies.contains(&meeting.company) {
            companies.push(meeting.company);
        }
    }
    companies
}

/// As [`Meeting::kept`], from shares in percent.
fn kept(ours: f64, linux: f64, even: Option<f64>) -> f64 {
    let due = even.map_or(linux, |even| linux.min(even));
    // On a slow link with a full buffer Linux may fail to connect.
    if ours >= due {
        100.0
    } else {
        100.0 * ours / due
    }
}

/// As [`Meeting::excess`], from shares in percent.
fn excess(ours: f64, linux: f64, even: f64) -> f64 {
    ours - linux.max(even + TENTH)
}

/// The mean of a curve while both send; a flow that has not begun has no points.
fn together_bps(curve: &[(f64, f64)]) -> f64 {
    TOGETHER.values(curve).sum::<f64>() * BIN_S / TOGETHER.length_s()
}

#[cfg(test)]
mod tests;
