//! What a measurement found, for people and for programs.

use crate::analysis::buffer::{Buffer, Unit};
use crate::analysis::clock::ClockEstimate;
use crate::analysis::gain::Gain;
use crate::analysis::latency::LoadedLatency;
use crate::analysis::period::Period;
use crate::analysis::rate::{RateSummary, summary};
use crate::analysis::{bursts, latency};
use crate::examine::Overflows;
use crate::{Arrival, Echo};
use serde::{Deserialize, Serialize};
use tidegate_time::Instant;

/// All of it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Results {
    /// The server's name.
    pub server: String,
    /// Least round trip, in milliseconds.
    pub base_rtt_ms: f64,
    /// How the client's clock stands to the server's.
    pub clock: Option<ClockEstimate>,
    /// To the client.
    pub down: Option<Way>,
    /// From the client.
    pub up: Option<Way>,
    /// Bytes sent, both directions together.
    pub bytes: u64,
}

/// One direction.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Way {
    /// What it carried while it was busy.
    pub rate: Option<RateSummary>,
    /// The interval of bursts; none were seen without.
    pub period: Option<Period>,
    /// The buffer; without, nothing overflowed within the data allowed.
    pub buffer: Option<Buffer>,
    /// Round trips while its queue was filled.
    pub latency: Option<LoadedLatency>,
    /// What steering would gain.
    pub gain: Option<Gain>,
}

impl Way {
    /// From what its trains did, and round trips of the idle link and beside the trains. `to_client`: it is the downlink.
    pub fn of(found: &Overflows, idle: &[Echo], beside: &[Echo], to_client: bool) -> Self {
        let busy = while_full(found, beside, to_client);
        let rate = found
            .trains
            .first()
            .and_then(|t| summary(&bursts::backlogged(t)));
        let base_ms = base_rtt_ms(idle);
        let gain =
            |(buffer, rate): (Buffer, RateSummary)| Gain::of(base_ms, &buffer, rate.median_bps);
        Self {
            rate,
            period: found.period,
            buffer: found.buffer,
            latency: latency::loaded(idle, &busy),
            gain: found.buffer.zip(rate).map(gain),
        }
    }

    /// The buffer in words: "2000 packets, drop-tail".
    pub fn buffer_words(&self) -> String {
        let Some(buffer) = self.buffer else {
            return "did not overflow within the data allowed".into();
        };
        let size = match buffer.unit {
            Unit::Packets => format!("{:.0} packets", buffer.size),
            Unit::Bytes => format!("{:.0} KB", buffer.size / 1e3),
            Unit::Time => format!("{:.0} ms", buffer.size * 1e3),
            Unit::Unclear => format!("about {:.0} KB, in an unclear unit", buffer.size / 1e3),
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

    /// What `tidegate run` would gain, in words.
    pub fn gain_words(&self) -> String {
        match self.gain {
            Some(gain) if gain.is_worth_it() => format!(
                "what fills the buffer takes round trips from {:.0} to {:.0} ms; steered, to {:.0} ms at most: {:.1} times shorter",
                gain.base_ms,
                gain.full_ms,
                gain.steered_ms,
                gain.factor()
            ),
            Some(gain) => format!(
                "little: a full buffer makes round trips of {:.0} ms from {:.0}",
                gain.full_ms, gain.base_ms
            ),
            None => "not known: the buffer did not overflow".into(),
        }
    }
}

/// Round trips that began while at least half of the longest queue stood, of the largest packets.
fn while_full(found: &Overflows, beside: &[Echo], to_client: bool) -> Vec<Echo> {
    let train = found.trains.first().map_or(&[][..], Vec::as_slice);
    let ways = || train.iter().map(Arrival::one_way_ns);
    let (Some(least), Some(most)) = (ways().min(), ways().max()) else {
        return Vec::new();
    };
    // By the client's clock, which is the echoes'.
    let full = train
        .iter()
        .filter(|a| a.one_way_ns() - least >= (most - least) / 2);
    let times: Vec<Instant> = full
        .map(|a| if to_client { a.arrived } else { a.sent })
        .collect();
    let (Some(&first), Some(&last)) = (times.iter().min(), times.iter().max()) else {
        return Vec::new();
    };
    let within = |echo: &&Echo| echo.asked >= first && echo.asked <= last;
    beside.iter().filter(within).copied().collect()
}

/// The least round trip, in milliseconds; not a number of none.
pub fn base_rtt_ms(echoes: &[Echo]) -> f64 {
    let trips = echoes.iter().map(|e| e.round_trip().as_secs_f64() * 1e3);
    trips.reduce(f64::min).unwrap_or(f64::NAN)
}
