//! Runs the judges of each value.

use crate::variable::Variable;
use anyhow::{Result, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use tidegate_reproductions::judge::{Better, Judge, Measure};
use tidegate_sim::{Options, in_order};
use tidegate_study::{Case, Results};
use tidegate_terminal::Bar;

/// Differences up to this part of a rate, a share or a part of a link count as chance.
const CHANCE_OF_MORE: f64 = 0.01;

/// The same for a delay or a time, which differ more between seeds.
const CHANCE_OF_LESS: f64 = 0.05;

/// The longest time that hosts take to wake: without it a link without randomness has one history, whatever the seed.
const WAKE: Duration = Duration::from_micros(100);

/// How to sweep.
pub struct Sweep<'a> {
    pub judges: &'a [Judge],
    pub seeds: u64,
    pub threads: usize,
    /// Only half and twice of each.
    pub coarse: bool,
}

/// The results of a constant before one judge.
#[derive(Debug, Serialize)]
pub struct Swept {
    pub constant: &'static str,
    pub place: &'static str,
    pub says: &'static str,
    pub in_use: f64,
    pub judge: &'static str,
    pub measures: Vec<String>,
    /// The first is the one in use.
    pub values: Vec<Value>,
}

/// The results of a value.
#[derive(Debug, Serialize)]
pub struct Value {
    pub value: f64,
    /// Means over the seeds.
    pub measured: Vec<f64>,
    /// Half of the 95 % interval of the mean difference from the value in use, paired by seed; infinite with one seed.
    pub certain: Vec<f64>,
    /// By how much each measure is better, in multiples of what counts as chance; 0 where we do not know which
    /// direction is better.
    pub gains: Vec<f64>,
    pub verdict: Verdict,
}

/// A value compared with the one in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is the one in use.
    InUse,
    /// Nothing differs by more than chance.
    Same,
    /// Something is better, nothing worse.
    Better,
    /// Something is worse, nothing better.
    Worse,
    /// Some of both.
    Trade,
    /// We do not know which direction is better.
    Unjudged,
}

impl Sweep<'_> {
    /// The scenarios' total time.
    pub fn milliseconds(&self, variables: &[Variable]) -> u64 {
        let of = |judge: &Judge| {
            let cases = judge
                .cases
                .iter()
                .map(|case| case.scenario.duration_s * 1e3);
            cases.sum::<f64>() as u64 * self.seeds
        };
        let asked = self
            .judges
            .iter()
            .filter(|judge| self.is_asked(judge, variables));
        let tried = variables.iter().flat_map(|variable| {
            let values = variable.tried(self.coarse).len() as u64;
            self.of(variable).map(move |judge| values * of(judge))
        });
        asked.map(of).sum::<u64>() + tried.sum::<u64>()
    }

    /// Sweeps one after another.
    pub fn run(&self, variables: &[Variable], bar: &Bar) -> Result<Vec<Swept>> {
        let mut in_use = BTreeMap::new();
        for judge in self
            .judges
            .iter()
            .filter(|judge| self.is_asked(judge, variables))
        {
            bar.message(format_args!("as it is: {}", judge.id));
            in_use.insert(judge.id, self.measure(judge, bar)?);
        }
        let mut swept = Vec::new();
        for variable in variables {
            for judge in self.of(variable) {
                swept.push(self.one(variable, judge, &in_use[judge.id], bar)?);
            }
        }
        Ok(swept)
    }

    fn of<'a>(&'a self, variable: &'a Variable) -> impl Iterator<Item = &'a Judge> {
        let judges = self.judges.iter();
        judges.filter(|judge| variable.judges.contains(&judge.id))
    }

    fn is_asked(&self, judge: &Judge, variables: &[Variable]) -> bool {
        variables
            .iter()
            .any(|variable| variable.judges.contains(&judge.id))
    }

    fn one(&self, variable: &Variable, judge: &Judge, in_use: &Seeds, bar: &Bar) -> Result<Swept> {
        let mut values = vec![Value {
            value: variable.in_use,
            measured: in_use.means(),
            certain: vec![0.0; judge.measures.len()],
            gains: vec![0.0; judge.measures.len()],
            verdict: Verdict::InUse,
        }];
        for value in variable.tried(self.coarse) {
            bar.message(format_args!("{} = {value}: {}", variable.name, judge.id));
            variable.set(value);
            let measured = self.measure(judge, bar);
            variable.set(variable.in_use);
            let measured = measured?;
            let gains = gains(&judge.measures, in_use, &measured);
            values.push(Value {
                value,
                verdict: verdict(&judge.measures, &gains),
                gains,
                certain: in_use.certain(&measured),
                measured: measured.means(),
            });
        }
        Ok(Swept {
            constant: variable.name,
            place: variable.place,
            says: variable.says,
            in_use: variable.in_use,
            judge: judge.id,
            measures: judge
                .measures
                .iter()
                .map(|measure| measure.name.clone())
                .collect(),
            values,
        })
    }

    /// Runs a judge's cases with the constants as they are now.
    fn measure(&self, judge: &Judge, bar: &Bar) -> Result<Seeds> {
        let cases: &[Case] = &judge.cases;
        let jobs = cases.len() * self.seeds as usize;
        let mut results: Vec<Results> = (0..self.seeds).map(|_| Results::default()).collect();
        let done = in_order(
            jobs,
            self.threads,
            |job| {
                let options = Options {
                    progress: &|further| bar.further(further.as_millis() as u64),
                    wake: WAKE,
                    ..Options::default()
                };
                cases[job % cases.len()].run(1 + (job / cases.len()) as u64, &options)
            },
            |job, result| {
                results[job / cases.len()].add(&cases[job % cases.len()].name, result);
                Ok(())
            },
            || bar.tick(),
        )?;
        if done < jobs {
            bail!("{}: stopped", judge.id);
        }
        let measured = |results: &Results| {
            let sample = results.all();
            let read = judge.measures.iter().map(|measure| (measure.read)(&sample));
            read.collect()
        };
        Ok(Seeds(results.iter().map(measured).collect()))
    }
}

/// The measurements, seed by seed.
struct Seeds(Vec<Vec<f64>>);

impl Seeds {
    fn means(&self) -> Vec<f64> {
        let seeds = self.0.len() as f64;
        let sum = |n: usize| self.0.iter().map(|seed| seed[n]).sum::<f64>();
        (0..self.0[0].len()).map(|n| sum(n) / seeds).collect()
    }

    /// Half of the 95 % interval of each mean difference from `other`, as a part of this one's mean.
    fn certain(&self, other: &Self) -> Vec<f64> {
        let means = self.means();
        let of = |n: usize| {
            let pairs = self.0.iter().zip(&other.0);
            let differences: Vec<f64> = pairs.map(|(own, other)| other[n] - own[n]).collect();
            half_interval(&differences) / means[n].abs().max(f64::MIN_POSITIVE)
        };
        (0..means.len()).map(of).collect()
    }
}

/// Half of the 95 % interval of a mean, by Student's t.
fn half_interval(values: &[f64]) -> f64 {
    const T: [f64; 9] = [12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26];
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    match values.len() {
        0 | 1 => f64::INFINITY,
        count => T.get(count - 2).copied().unwrap_or(2.0) * (variance / n).sqrt(),
    }
}

/// By how much a measure changes, as a part of its value in use.
pub fn change(before: f64, after: f64) -> f64 {
    (after - before) / before.abs().max(f64::MIN_POSITIVE)
}

/// By how much each measure is better than in use, in multiples of what counts as chance: with several seeds, also of
/// the difference between seeds.
fn gains(measures: &[Measure], in_use: &Seeds, measured: &Seeds) -> Vec<f64> {
    let (before, after) = (in_use.means(), measured.means());
    let certain = in_use.certain(measured);
    let gain = |(n, measure): (usize, &Measure)| {
        let more = change(before[n], after[n]);
        let (gain, chance) = match measure.better {
            Some(Better::More) => (more, CHANCE_OF_MORE),
            Some(Better::Less) => (-more, CHANCE_OF_LESS),
            None => return 0.0,
        };
        let uncertain = if certain[n].is_finite() {
            certain[n]
        } else {
            0.0
        };
        gain / chance.max(uncertain)
    };
    measures.iter().enumerate().map(gain).collect()
}

fn verdict(measures: &[Measure], gains: &[f64]) -> Verdict {
    let better = gains.iter().any(|&gain| gain > 1.0);
    let worse = gains.iter().any(|&gain| gain < -1.0);
    match (better, worse) {
        _ if measures.iter().all(|measure| measure.better.is_none()) => Verdict::Unjudged,
        (true, true) => Verdict::Trade,
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        (false, false) => Verdict::Same,
    }
}

#[cfg(test)]
mod tests;
