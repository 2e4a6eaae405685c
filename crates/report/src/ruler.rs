//! Rulers: an axis laid out for its values, with ticks at round numbers, in the form that plotters needs.

use crate::axis::{Axis, finite};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// A labelled place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Which value.
    pub(crate) at: f64,
    /// What it says.
    pub(crate) label: String,
}

/// An axis with ends and ticks.
#[derive(Clone, Debug)]
pub(crate) struct Ruler {
    log: bool,
    /// The value at either end.
    pub(crate) ends: (f64, f64),
    /// Labelled values.
    pub(crate) ticks: Vec<Tick>,
    /// Values that get a faint line and no label.
    pub(crate) minor: Vec<f64>,
}

impl Ruler {
    /// Lays out `axis` for `values`, with about `count` ticks.
    pub(crate) fn new(axis: &Axis, values: &[f64], count: usize) -> Self {
        let values = finite(values);
        if !axis.categories.is_empty() {
            return Self::named(axis);
        }
        let log = axis.is_log(&values);
        let bounds = axis.bounds(&values, log);
        if log {
            let (low, high) = bounds.filter(|(low, _)| *low > 0.0).unwrap_or((1.0, 10.0));
            Self::logarithmic(low, high, values.iter().any(|v| *v < low))
        } else {
            let fixed = axis.range.is_some();
            Self::linear(bounds.unwrap_or((0.0, 1.0)), count.max(2), fixed)
        }
    }

    /// Whether the ruler is logarithmic.
    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// Where a value stands: 0 at the first end, 1 at the last, and never outside.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let (low, high) = self.ends;
        let place = if self.log {
            libm::log(value / low) / libm::log(high / low)
        } else {
            (value - low) / (high - low)
        };
        // The logarithm of a value that is not positive is -∞ or NaN: below everything that can be shown.
        if place > 0.0 { place.min(1.0) } else { 0.0 }
    }

    fn named(axis: &Axis) -> Self {
        let count = axis.categories.len() as f64;
        let ticks = axis.categories.iter().enumerate();
        Self {
            log: false,
            ends: axis.range.unwrap_or((-0.5, count - 0.5)),
            ticks: ticks
                .map(|(i, name)| Tick {
                    at: i as f64,
                    label: name.clone(),
                })
                .collect(),
            minor: Vec::new(),
        }
    }

    fn linear((low, high): (f64, f64), count: usize, fixed: bool) -> Self {
        let (low, high) = if low < high {
            (low, high)
        } else {
            widened(low)
        };
        let step = lattice_above((high - low) / count as f64);
        let (first, last) = if fixed {
            ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor())
        } else {
            ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil())
        };
        let (divisor, prefix) = prefix_for(first.abs().max(last.abs()) * step);
        let decimals = decimals_for(step / divisor);
        let ticks = (first as i64..=last as i64).map(|index| {
            let at = index as f64 * step;
            let label = match index {
                0 => "0".to_owned(),
                _ => format!("{:.decimals$}{prefix}", at / divisor),
            };
            Tick { at, label }
        });
        Self {
            log: false,
            ends: if fixed {
                (low, high)
            } else {
                (first * step, last * step)
            },
            ticks: ticks.collect(),
            minor: Vec::new(),
        }
    }

    /// `clipped`: some values are below `low`.
    fn logarithmic(low: f64, high: f64, clipped: bool) -> Self {
        let (low, high) = (lattice_below(low), lattice_above(high.max(low * 2.0)));
        let labelled: &[i32] = if high / low <= 300.0 {
            &[1, 2, 5]
        } else {
            &[1]
        };
        let decades = libm::log10(low).floor() as i32..=libm::log10(high).ceil() as i32;
        let mut ticks = Vec::new();
        let mut minor = Vec::new();
        for (decade, multiple) in decades.flat_map(|d| (1..10).map(move |m| (d, m))) {
            let at = f64::from(multiple) * libm::exp10(f64::from(decade));
            if at < low * 0.999 || at > high * 1.001 {
                continue;
            }
            if labelled.contains(&multiple) {
                ticks.push(Tick {
                    at,
                    label: round_number(at),
                });
            } else {
                minor.push(at);
            }
        }
        if clipped {
            ticks.retain(|tick| tick.at > low * 1.001);
            ticks.insert(
                0,
                Tick {
                    at: low,
                    label: format!("≤{}", round_number(low)),
                },
            );
        }
        Self {
            log: true,
            ends: (low, high),
            ticks,
            minor,
        }
    }
}

impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first + (self.place(*value) * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            self.minor.clone()
        } else {
            self.ticks.iter().map(|tick| tick.at).collect()
        }
    }

    fn range(&self) -> Range<f64> {
        self.ends.0..self.ends.1
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|tick| tick.at == *value);
        tick.map_or_else(String::new, |tick| tick.label.clone())
    }
}

/// A range around a single value.
fn widened(value: f64) -> (f64, f64) {
    match value {
        0.0 => (0.0, 1.0),
        value => (value - value.abs() * 0.1, value + value.abs() * 0.1),
    }
}

/// Mantissas of round numbers.
const LATTICE: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

/// The round number that is at least `value`, which is positive.
pub(crate) fn lattice_above(value: f64) -> f64 {
    let decade = decade_of(value);
    let multiple = LATTICE.iter().find(|m| **m * decade >= value * 0.999);
    multiple.unwrap_or(&10.0) * decade
}

/// The power of ten at or below `value`, which is positive.
fn decade_of(value: f64) -> f64 {
    libm::exp10(libm::log10(value).floor())
}

fn lattice_below(value: f64) -> f64 {
    let decade = decade_of(value);
    let multiple = LATTICE.iter().rev().find(|m| **m * decade <= value * 1.001);
    multiple.unwrap_or(&1.0) * decade
}

/// SI prefixes from 10 000 on, below which figures are short enough.
fn prefix_for(largest: f64) -> (f64, &'static str) {
    match largest.abs() {
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    }
}

fn decimals_for(step: f64) -> usize {
    (-(libm::log10(step) + 1e-9).floor()).max(0.0) as usize
}

/// A number with one significant digit.
fn round_number(value: f64) -> String {
    let (divisor, prefix) = prefix_for(value * 1.001);
    let scaled = value / divisor;
    format!("{scaled:.*}{prefix}", decimals_for(scaled * 1.001))
}

#[cfg(test)]
mod tests;
