//! What the names of recorded quantities mean to a reader.

use crate::plot::{Axis, Scale};

/// How a quantity is drawn over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// Its name in the results.
    pub(crate) name: String,
    /// The figure's title.
    pub(crate) title: String,
    /// Unit on the axis.
    pub(crate) unit: String,
    /// What a recorded value is multiplied by to have that unit.
    pub(crate) factor: f64,
    /// How values are laid out.
    pub(crate) scale: Scale,
}

/// The quantities that every laboratory and simulator records, in the order of the page.
const KNOWN: [(&str, &str, Scale); 5] = [
    ("queue_delay_ms", "Queueing delay", Scale::Fit),
    ("rtt_ms", "Round-trip time at the sender", Scale::Fit),
    ("window_bytes", "Advertised window", Scale::Fit),
    ("goodput_bps", "Goodput", Scale::FromZero),
    ("cwnd_packets", "Congestion window", Scale::Fit),
];

/// Units by the ending of the name: on the axis, and the factor.
const UNITS: [(&str, &str, f64); 6] = [
    ("_ms", "ms", 1.0),
    ("_s", "s", 1.0),
    ("_bytes", "bytes", 1.0),
    ("_packets", "packets", 1.0),
    ("_bps", "Mbit/s", 1e-6),
    ("_share", "%", 100.0),
];

impl Quantity {
    /// The quantity of that name; one that is not known is described by the name itself.
    pub(crate) fn named(name: &str) -> Self {
        let unit = UNITS.iter().find(|(ending, ..)| name.ends_with(ending));
        let (ending, unit, factor) = unit.copied().unwrap_or(("", "", 1.0));
        let known = KNOWN.iter().find(|(known, ..)| *known == name);
        let (title, scale) = match known {
            Some((_, title, scale)) => ((*title).to_owned(), *scale),
            None => (sentence(name.trim_end_matches(ending)), Scale::Fit),
        };
        Self {
            name: name.to_owned(),
            title,
            unit: unit.to_owned(),
            factor,
            scale,
        }
    }

    /// Its place on the page: known ones first.
    pub(crate) fn rank(name: &str) -> usize {
        KNOWN
            .iter()
            .position(|(known, ..)| *known == name)
            .unwrap_or(KNOWN.len())
    }

    /// The quantity that holds the largest values where this one holds means.
    pub(crate) fn shadow(&self) -> Option<&'static str> {
        (self.name == "queue_delay_ms").then_some("queue_delay_max_ms")
    }

    /// Whether it is something each second, of which means over time make sense.
    pub(crate) fn is_rate(&self) -> bool {
        self.name.ends_with("_bps")
    }

    /// The vertical axis.
    pub(crate) fn axis(&self) -> Axis {
        Axis::new(self.unit.clone(), self.scale)
    }
}

/// `up_queue_delay` as `Up queue delay`.
fn sentence(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests;
