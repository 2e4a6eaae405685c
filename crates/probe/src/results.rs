//! The results of a measurement, for people and for programs.

mod both;
mod devices;
mod minutes;

use crate::analysis::buffer::{Buffer, Unit};
use crate::analysis::clock::{ClockEstimate, clock};
use crate::analysis::gain::Gain;
use crate::analysis::latency::LoadedLatency;
use crate::analysis::period::Period;
use crate::analysis::rate::{RateSummary, summary};
use crate::analysis::responsiveness::Responsiveness;
use crate::analysis::{bursts, latency};
use crate::examine::Overflows;
use crate::{Arrival, Echo};
pub use both::{BothWays, OneWay, Trains, longer_up_s};
pub use devices::{Devices, Shares};
pub use minutes::Minutes;
use serde::{Deserialize, Serialize};
use tidegate_basics::time::Instant;

/// All results.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Results {
    /// The server's name.
    pub server: String,
    /// Least round trip, in milliseconds.
    pub base_rtt_ms: f64,
    /// The client's clock against the server's.
    pub clock: Option<ClockEstimate>,
    /// To the client.
    pub down: Option<Way>,
    /// From the client.
    pub up: Option<Way>,
    /// A download beside an upload.
    pub both: Option<BothWays>,
    /// This device beside others.
    pub devices: Option<Devices>,
    /// Round trips under TCP's load, to the client and from it.
    pub responsiveness: Option<[Responsiveness; 2]>,
    /// The downlink's rate over minutes.
    pub minutes: Option<Minutes>,
    /// Bytes sent, both directions together.
    pub bytes: u64,
    /// Tests that were requested but not finished, and why: one sentence each.
    #[serde(default)]
    pub missing: Vec<String>,
}

impl Results {
    /// Adds the results that are known only at the end: the clocks' estimate, from all pongs, and by it the results of
    /// `trains` of the test of both ways; `idle` are round trips of the idle link.
    pub fn conclude(&mut self, echoes: &[Echo], idle: &[Echo], trains: Option<&Trains>) {
        let rate = |way: &Option<Way>| Some(way.as_ref()?.rate?.median_bps);
        let uploaded = || Some(summary(&bursts::backlogged(&trains?.up))?.median_bps);
        let up_bps = rate(&self.up).or_else(uploaded).unwrap_or(f64::INFINITY);
        let down_bps = rate(&self.down).unwrap_or(f64::INFINITY);
        let longer_s = longer_up_s(up_bps, down_bps);
        self.clock = clock(echoes).map(|clock| clock.longer_up(longer_s));
        self.both = (trains.zip(self.clock.as_ref()))
            .and_then(|(trains, clock)| BothWays::of(trains, idle, clock));
    }
}

/// One direction.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Way {
    /// The rate that it carried while it was busy.
    pub rate: Option<RateSummary>,
    /// The interval of bursts; none if none were seen.
    pub period: Option<Period>,
    /// The buffer; none if nothing overflowed within the data allowed.
    pub buffer: Option<Buffer>,
    /// Round trips while its queue was filled.
    pub latency: Option<LoadedLatency>,
    /// The gain of steering, if it was predicted.
    pub gain: Option<Gain>,
}

impl Way {
    /// From the results of its trains, and round trips of the idle link and beside the trains. `to_client`: it is the
    /// downlink.
    pub fn of(found: &Overflows, idle: &[Echo], beside: &[Echo], to_client: bool) -> Self {
        let train = found.trains.first().map_or(&[][..], Vec::as_slice);
        let busy = while_full(train, beside, to_client);
        let rate = found
            .trains
            .first()
            .and_then(|t| summary(&bursts::backlogged(t)));
        Self {
            rate,
            period: found.period,
            buffer: found.buffer,
            latency: latency::loaded(idle, &busy),
            gain: None,
        }
    }

    /// The buffer in words: "2000 packets, drop-tail".
    pub fn buffer_words(&self) -> String {
        let Some(buffer) = self.buffer else {
            return "did not overflow within the data allowed".into();
        };
        let size = match buffer.unit {
            Unit::Packets => format!("{:.0} packets", buffer.size),
            Unit::Bytes => kilobytes(buffer.size),
            Unit::Time => format!("{:.0} ms", buffer.size * 1e3),
            Unit::Unclear => format!("about {}, in an unclear unit", kilobytes(buffer.size)),
        };
        format!("{size}, {}", buffer.policy.words())
    }

    /// The bursts in words.
    pub fn bursts_words(&self) -> String {
        match self.period {
            Some(period) => format!("every {:.1} ms", period.ms),
            None => "none".into(),
        }
    }

    /// The gain of `tidegate run`, in words.
    pub fn gain_words(&self) -> String {
        self.gain.as_ref().map_or_else(
            || "not known: the buffer did not overflow".into(),
            Gain::words,
        )
    }
}

/// With at least two digits.
fn kilobytes(bytes: f64) -> String {
    match bytes / 1e3 {
        kilobytes if kilobytes < 9.95 => format!("{kilobytes:.1} KB"),
        kilobytes => format!("{kilobytes:.0} KB"),
    }
}

/// A rate with a suitable unit: 16 kbit/s, 4.80 Mbit/s.
pub(crate) fn rate(bps: f64) -> String {
    match bps {
        bps if bps < 9_950.0 => format!("{:.1} kbit/s", bps / 1e3),
        bps if bps < 999_500.0 => format!("{:.0} kbit/s", bps / 1e3),
        bps => format!("{:.2} Mbit/s", bps / 1e6),
    }
}

/// Round trips that began while the train's queue was full.
fn while_full(train: &[Arrival], beside: &[Echo], to_client: bool) -> Vec<Echo> {
    let Some((first, last)) = full_time(train, to_client) else {
        return Vec::new();
    };
    let within = |echo: &&Echo| echo.asked >= first && echo.asked <= last;
    beside.iter().filter(within).copied().collect()
}

/// The time in which at least half of the longest queue stood, by the client's clock.
fn full_time(train: &[Arrival], to_client: bool) -> Option<(Instant, Instant)> {
    let ways = || train.iter().map(Arrival::one_way_ns);
    let (least, most) = (ways().min()?, ways().max()?);
    // By the client's clock, as the pings are.
    let full = train
        .iter()
        .filter(|a| a.one_way_ns().saturating_sub(least) >= most.saturating_sub(least) / 2);
    let times: Vec<Instant> = full
        .map(|a| if to_client { a.arrived } else { a.sent })
        .collect();
    times.iter().min().copied().zip(times.iter().max().copied())
}

/// The least round trip, in milliseconds; NaN without any.
pub fn base_rtt_ms(echoes: &[Echo]) -> f64 {
    let trips = echoes.iter().map(|e| e.round_trip().as_secs_f64() * 1e3);
    trips.reduce(f64::min).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{kilobytes, rate};

    #[test]
    fn slow_rates_and_small_buffers_keep_their_figures() {
        let told = [2_400.0, 16e3, 64e3, 999_400.0, 999_600.0, 48e6].map(rate);
        let expected = [
            "2.4 kbit/s",
            "16 kbit/s",
            "64 kbit/s",
            "999 kbit/s",
            "1.00 Mbit/s",
            "48.00 Mbit/s",
        ];
        assert_eq!(told, expected);
        assert_eq!([420.0, 9_951.0].map(kilobytes), ["0.4 KB", "10 KB"]);
    }
}
