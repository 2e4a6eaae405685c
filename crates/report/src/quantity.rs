//! Recorded quantities: title, unit and place on a page.

use crate::colour::Colour;
use crate::plot::{Axis, Mark, Scale};

/// How a quantity is drawn over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// Its name in the results.
    pub(crate) name: String,
    /// The figure's title.
    pub(crate) title: String,
    /// Unit on the axis.
    pub(crate) unit: String,
    /// Factor from a recorded value to that unit.
    pub(crate) factor: f64,
    /// The ping that it belongs to, if it does not belong to a flow with payload.
    pub(crate) echo: Option<String>,
}

/// Another quantity, drawn behind this one for reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Backdrop {
    /// Its name in the results.
    pub(crate) quantity: &'static str,
    /// What the legend calls it.
    pub(crate) label: &'static str,
    /// How it is drawn.
    pub(crate) mark: Mark,
    /// In which colour.
    pub(crate) colour: Colour,
}

/// Quantities that tell the story, in the order of the page.
const MAIN: [(&str, &str); 6] = [
    ("queue_delay_ms", "Queueing delay"),
    ("rtt_ms", "Round-trip time at the sender"),
    ("window_bytes", "Advertised window"),
    ("goodput_bps", "Goodput"),
    ("cwnd_packets", "Congestion window"),
    ("agent_rtt_ms", "The agent's RTT against the truth"),
];

/// Quantities to look up when the story raises questions.
const MORE: [(&str, &str); 11] = [
    ("up_queue_delay_ms", "Queueing delay of the uplink"),
    ("true_rtt_ms", "Round-trip time that the link made"),
    ("delivered_bps", "Delivered by the downlink"),
    ("up_delivered_bps", "Delivered by the uplink"),
    ("shaper_bps", "Rate of the shaper behind the downlink"),
    ("up_shaper_bps", "Rate of the shaper in front of the uplink"),
    ("agent_queue_ms", "Queueing delay that the agent saw"),
    ("agent_window_bytes", "Window that the agent allowed"),
    (
        "kernel_window_bytes",
        "Window of the receiver's kernel, before anybody lowered it",
    ),
    ("kernel_rtt_ms", "RTT that the receiver's kernel saw"),
    (
        "kernel_space_bytes",
        "Bytes in a round trip, as the receiver's kernel counts them",
    ),
];

/// Units by the ending of the name: on the axis, and the factor.
const UNITS: [(&str, &str, f64); 5] = [
    ("_ms", "ms", 1.0),
    ("_s", "s", 1.0),
    ("_bytes", "bytes", 1.0),
    ("_packets", "packets", 1.0),
    ("_bps", "Mbit/s", 1e-6),
];

const CAPACITY: Backdrop = Backdrop {
    quantity: "capacity_bps",
    label: "what the link could carry",
    mark: Mark::Area,
    colour: crate::svg::GRID,
};

const TRUTH: Backdrop = Backdrop {
    quantity: "true_rtt_ms",
    label: "truth",
    mark: Mark::Area,
    colour: crate::svg::GRID,
};

impl Quantity {
    /// The quantity with that name; an unknown one is described by its name.
    pub(crate) fn named(name: &str) -> Self {
        let unit = UNITS.iter().find(|(ending, ..)| name.ends_with(ending));
        let (ending, unit, factor) = unit.copied().unwrap_or(("", "", 1.0));
        let known = MAIN.iter().chain(&MORE).find(|(known, _)| *known == name);
        let title = match known {
            Some((_, title)) => (*title).to_owned(),
            None => sentence(name.trim_end_matches(ending)),
        };
        Self {
            name: name.to_owned(),
            title,
            unit: unit.to_owned(),
            factor,
            echo: None,
        }
    }

    /// The round trip of a ping.
    pub(crate) fn echo(flow: &str) -> Self {
        Self {
            title: format!("Round trip of {flow}"),
            echo: Some(flow.to_owned()),
            ..Self::named("rtt_ms")
        }
    }

    /// Its place on the page: known quantities come first.
    pub(crate) fn rank(name: &str) -> usize {
        let mut known = MAIN.iter().chain(&MORE);
        known
            .position(|(known, _)| *known == name)
            .unwrap_or(usize::MAX)
    }

    /// Whether it tells the story.
    pub(crate) fn is_main(&self) -> bool {
        Self::rank(&self.name) < MAIN.len()
    }

    /// Whether it is a rate, so that means over time make sense.
    pub(crate) fn is_rate(&self) -> bool {
        self.name.ends_with("_bps")
    }

    /// The quantity that records the largest values where this one records means.
    pub(crate) fn shadow(&self) -> Option<&'static str> {
        (self.name == "queue_delay_ms").then_some("queue_delay_max_ms")
    }

    /// The quantity drawn behind it.
    pub(crate) fn backdrop(&self) -> Option<Backdrop> {
        match self.name.as_str() {
            "goodput_bps" => Some(CAPACITY),
            "agent_rtt_ms" => Some(TRUTH),
            _ => None,
        }
    }

    /// Whether each run has a backdrop of its own, so that runs cannot share a figure.
    pub(crate) fn is_apart(&self) -> bool {
        self.backdrop() == Some(TRUTH)
    }

    /// The vertical axis.
    pub(crate) fn axis(&self) -> Axis {
        let scale = if self.is_rate() {
            Scale::FromZero
        } else {
            Scale::Fit
        };
        Axis::new(self.unit.clone(), scale)
    }
}

/// `forecast_margin` as `Forecast margin`.
fn sentence(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests;
