//! Axes: how a quantity is shown, and the range and scale for given values.

use crate::ruler::Ruler;

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from the smallest value to the largest.
    Linear,
    /// Evenly, from zero.
    FromZero,
    /// By ratio. Values too small to show, zero among them, are drawn on the edge, which is then
    /// labelled `≤`.
    Log,
    /// By ratio if the values spread over more than a factor of [`WIDE`], else evenly from zero.
    Fit,
}

/// Spread of values from which on [`Scale::Fit`] is logarithmic.
pub const WIDE: f64 = 20.0;

/// Largest ratio that a logarithmic axis spans: values smaller than the largest by more than this are noise.
const LOG_SPAN: f64 = 1e4;

/// Share of the smallest values that do not stretch a logarithmic axis.
const LOG_TAIL: f64 = 0.02;

/// Ticks on an axis that several figures share.
const SHARED_TICKS: usize = 4;

/// What an axis shows.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity and its unit: `delay, ms`.
    pub label: String,
    /// How values are laid out.
    pub scale: Scale,
    /// Fixed ends of the axis; none: those of the values.
    pub range: Option<(f64, f64)>,
    /// Names of the places 0, 1, 2 … instead of numbers: the groups of a bar chart.
    pub categories: Vec<String>,
}

impl Axis {
    /// An axis that fits its values.
    pub fn new(label: impl Into<String>, scale: Scale) -> Self {
        Self {
            label: label.into(),
            scale,
            range: None,
            categories: Vec::new(),
        }
    }

    /// An axis with a name at each of 0, 1, 2 …
    pub fn categories(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let categories: Vec<String> = names.into_iter().map(Into::into).collect();
        Self {
            label: String::new(),
            scale: Scale::Linear,
            range: Some((-0.5, categories.len() as f64 - 0.5)),
            categories,
        }
    }

    /// The same axis from `low` to `high`, whatever the values.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// The same axis with the scale and ends that suit `values`: for figures that are to be
    /// compared with each other.
    #[must_use]
    pub fn suiting(mut self, values: &[f64]) -> Self {
        if self.range.is_none() && self.categories.is_empty() {
            let ruler = Ruler::new(&self, values, SHARED_TICKS);
            self.scale = if ruler.is_log() {
                Scale::Log
            } else {
                Scale::Linear
            };
            self.range = Some(ruler.ends);
        }
        self
    }

    pub(crate) fn is_log(&self, values: &[f64]) -> bool {
        match self.scale {
            Scale::Linear | Scale::FromZero => false,
            Scale::Log => true,
            Scale::Fit => log_floor(values).is_some_and(|(low, high)| high > low * WIDE),
        }
    }

    /// The smallest and the largest value to show; `None` if there is nothing to show.
    pub(crate) fn bounds(&self, values: &[f64], log: bool) -> Option<(f64, f64)> {
        if self.range.is_some() {
            return self.range;
        }
        if log {
            return log_floor(values);
        }
        let low = values.iter().copied().min_by(f64::total_cmp)?;
        let high = values.iter().copied().max_by(f64::total_cmp)?;
        Some(match self.scale {
            Scale::Linear => (low, high),
            _ => (low.min(0.0), high.max(0.0)),
        })
    }
}

pub(crate) fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|v| v.is_finite()).collect()
}

/// The range of the positive values, without the tail of small ones that would squeeze the rest.
fn log_floor(values: &[f64]) -> Option<(f64, f64)> {
    let mut positive: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
    positive.sort_unstable_by(f64::total_cmp);
    let high = *positive.last()?;
    let tail = (positive.len() as f64 * LOG_TAIL) as usize;
    Some((positive[tail].max(high / LOG_SPAN), high))
}

#[cfg(test)]
mod tests;
