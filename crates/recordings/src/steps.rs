//! Turns samples into a rate at every time: how long each holds, repeated times, gaps.

use crate::Refused;
use crate::samples::Sample;
use std::time::Duration;

/// A sample holds until the next one, but at most for this multiple of the usual interval.
const HOLDS: f64 = 1.5;

/// How long a lone sample holds.
const ALONE_NS: i128 = 1_000_000_000;

/// Longest recording in nanoseconds: a year, so that all sums fit.
const LONGEST_NS: i128 = 366 * 86_400 * 1_000_000_000;

/// A rate for some time, following the previous one without a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// How long, in nanoseconds, at least 1.
    pub length_ns: u64,
    /// The rate in bit/s.
    pub bps: f64,
}

/// How long a sample without an end of its own holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// For the usual interval of the file's samples; a longer time without one is a gap.
    AsARule,
    /// Until the next one, whenever that comes.
    UntilTheNext,
}

/// The rate at every time from the first sample on, and notes of what was changed.
pub fn steps(
    samples: Vec<Sample>,
    holds: Holds,
    longest_gap: Duration,
) -> Result<(Vec<Step>, Vec<String>), Refused> {
    let mut notes = Vec::new();
    let samples = without_repetitions(samples, &mut notes)?;
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Err(Refused::whole("no row, expected at least one sample"));
    };
    if samples.iter().all(|sample| sample.bps.is_none()) {
        return Err(Refused::line(
            first.line,
            "no sample has a rate, expected at least one",
        ));
    }
    if last.at_ns - first.at_ns > LONGEST_NS {
        let message = "more than a year after the first sample, expected a single session; is the time wrong?";
        return Err(Refused::line(last.line, message));
    }
    let rule = rule_ns(&samples);
    let mut steps = Steps::default();
    for (index, sample) in samples.iter().enumerate() {
        let next = samples.get(index + 1).map(|next| next.at_ns);
        steps.sample(sample, next, rule, holds, longest_gap)?;
    }
    steps.tell(&mut notes);
    Ok((steps.steps, notes))
}

/// Merges samples of the same time into their mean.
fn without_repetitions(
    samples: Vec<Sample>,
    notes: &mut Vec<String>,
) -> Result<Vec<Sample>, Refused> {
    let mut kept: Vec<Sample> = Vec::with_capacity(samples.len());
    // How many rates have been merged into the last sample.
    let (mut rates, mut repeated) = (0.0, 0);
    for sample in samples {
        match kept.last_mut() {
            Some(last) if last.at_ns == sample.at_ns => {
                repeated += 1;
                if let Some(bps) = sample.bps {
                    let mean = last.bps.unwrap_or(0.0);
                    rates += 1.0;
                    last.bps = Some(mean + (bps - mean) / rates);
                }
                last.until_ns = last.until_ns.max(sample.until_ns);
            }
            Some(last) if last.at_ns > sample.at_ns => return Err(back(last, &sample)),
            _ => {
                rates = f64::from(u8::from(sample.bps.is_some()));
                kept.push(sample);
            }
        }
    }
    if repeated > 0 {
        notes.push(format!(
            "samples with the time of the one before, averaged with it: {repeated}"
        ));
    }
    Ok(kept)
}

fn back(before: &Sample, now: &Sample) -> Refused {
    let back = (before.at_ns - now.at_ns) as f64 / 1e9;
    Refused::line(
        now.line,
        format!(
            "the time goes back by {back} s, expected times that do not decrease; \
             sort the file, or cut it where another session begins"
        ),
    )
}

/// The usual interval between samples: the median, of two the smaller.
fn rule_ns(samples: &[Sample]) -> i128 {
    let mut between: Vec<_> = samples
        .windows(2)
        .map(|two| two[1].at_ns - two[0].at_ns)
        .collect();
    if between.is_empty() {
        return ALONE_NS;
    }
    let middle = (between.len() - 1) / 2;
    *between.select_nth_unstable(middle).1
}

/// Steps so far.
#[derive(Default)]
struct Steps {
    steps: Vec<Step>,
    /// Nanoseconds of the current gap.
    open_ns: i128,
    gaps: usize,
    gaps_ns: i128,
    longest_ns: i128,
}

impl Steps {
    fn sample(
        &mut self,
        sample: &Sample,
        next: Option<i128>,
        rule: i128,
        holds: Holds,
        longest_gap: Duration,
    ) -> Result<(), Refused> {
        let held = match (sample.until_ns, holds) {
            (Some(until), _) => until - sample.at_ns,
            (None, Holds::UntilTheNext) => next.map_or(rule, |next| next - sample.at_ns),
            (None, Holds::AsARule) => match next {
                Some(next) if (next - sample.at_ns) as f64 <= HOLDS * rule as f64 => {
                    next - sample.at_ns
                }
                _ => rule,
            },
        };
        let all = next.map_or(held, |next| next - sample.at_ns);
        let held = held.clamp(0, all);
        match sample.bps {
            Some(bps) => {
                self.open_ns = 0;
                self.push(held, bps);
            }
            None => self.gap(held, sample.line, longest_gap)?,
        }
        self.gap(all - held, sample.line, longest_gap)
    }

    fn push(&mut self, length: i128, bps: f64) {
        if length > 0 {
            self.steps.push(Step {
                length_ns: length as u64,
                bps,
            });
        }
    }

    fn gap(&mut self, length: i128, line: u64, longest_gap: Duration) -> Result<(), Refused> {
        if length == 0 {
            return Ok(());
        }
        self.gaps += usize::from(self.open_ns == 0);
        self.open_ns += length;
        self.gaps_ns += length;
        self.longest_ns = self.longest_ns.max(self.open_ns);
        if self.open_ns > longest_gap.as_nanos() as i128 {
            return Err(Refused::line(
                line,
                format!(
                    "nothing was measured for {} s from about here on, expected {} s at most; \
                     cut the file there, or have such gaps filled with no rate by --longest-gap",
                    self.open_ns as f64 / 1e9,
                    longest_gap.as_secs_f64()
                ),
            ));
        }
        self.push(length, 0.0);
        Ok(())
    }

    fn tell(&self, notes: &mut Vec<String>) {
        if self.gaps > 0 {
            notes.push(format!(
                "gaps that have rate 0, since nothing was measured: {}, of {} s in all, the longest of {} s",
                self.gaps,
                self.gaps_ns as f64 / 1e9,
                self.longest_ns as f64 / 1e9
            ));
        }
    }
}
