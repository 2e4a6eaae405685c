//! The paths: every link there is, at every base RTT.

use super::links::{self, Link};
use crate::workloads::download;
use anyhow::Result;
use std::path::Path as FilePath;
use tidegate_link::{Capacity, Instant};
use tidegate_scenario::{LinkSpec, QueuePolicy, RateSpec, Run, Scenario};
use tidegate_study::Extent;

/// Base RTTs in milliseconds; with `--quick` the second and the fourth.
const RTTS_MS: [u32; 5] = [20, 50, 100, 200, 400];
const QUICK_RTTS_MS: [u32; 2] = [50, 200];

/// Stride over the recordings with `--quick`.
const QUICK_STRIDE: usize = 3;

/// Length of a download in seconds.
const DURATION_S: f64 = 60.0;
/// When it begins to count, in seconds.
pub const WARMUP_S: f64 = 5.0;

/// Packets of the downlink's buffer, unless it holds one bandwidth-delay product; and of the uplink's.
const DOWNLINK_PACKETS: usize = 2000;
const UPLINK_PACKETS: usize = 1000;

/// Bytes of a full packet.
const PACKET_BYTES: f64 = 1500.0;

/// The uplink's smallest rate in Mbit/s, and its share of the downlink's mean rate: ACKs never wait.
const UPLINK_MBPS: f64 = 5.0;
const UPLINK_SHARE: f64 = 0.1;

/// A link at a base RTT.
#[derive(Clone, Debug)]
pub struct Path {
    /// Identifies the path: `hspa-2, 100 ms`.
    pub name: String,
    /// Its base RTT in milliseconds.
    pub rtt_ms: u32,
    /// The link's mean rate, in Mbit/s.
    pub mean_mbps: f64,
    /// Packets that the downlink's buffer holds.
    buffer_packets: usize,
    link: Link,
}

/// All paths of that extent: the shipped cells first, then the recordings in the order of their names.
///
/// # Errors
/// When a recording cannot be read.
pub fn all(extent: &Extent) -> Result<Vec<Path>> {
    let (stride, rtts): (_, &[u32]) = match extent.quick {
        true => (QUICK_STRIDE, &QUICK_RTTS_MS),
        false => (1, &RTTS_MS),
    };
    over(links::all(extent, stride)?, rtts)
}

/// Each of `links` at each of these base RTTs, without those that carry nothing.
///
/// # Errors
/// When a recording cannot be read.
pub fn over(links: impl IntoIterator<Item = Link>, rtts_ms: &[u32]) -> Result<Vec<Path>> {
    let mut paths = Vec::new();
    for link in links {
        let mean_mbps = mean_mbps(&link)?;
        if mean_mbps > 0.0 {
            let at = |&rtt_ms| Path::new(&link, mean_mbps, rtt_ms);
            paths.extend(rtts_ms.iter().map(at));
        }
    }
    Ok(paths)
}

/// The link's mean rate while a download counts, in Mbit/s.
///
/// # Errors
/// When its recording cannot be read.
pub fn mean_mbps(link: &Link) -> Result<f64> {
    let down = link.down(0.0);
    let config = down.resolve(FilePath::new(""), 1)?;
    let [from, to] = [WARMUP_S, DURATION_S].map(Instant::from_secs_f64);
    let bytes = Capacity::new(&config.rate).bytes(from, to);
    Ok(bytes as f64 * 8e-6 / (DURATION_S - WARMUP_S))
}

impl Path {
    /// That link at that base RTT.
    ///
    /// # Errors
    /// When a recording cannot be read.
    pub fn over(link: &Link, rtt_ms: u32) -> Result<Self> {
        Ok(Self::new(link, mean_mbps(link)?, rtt_ms))
    }

    fn new(link: &Link, mean_mbps: f64, rtt_ms: u32) -> Self {
        Self {
            name: format!("{}, {rtt_ms} ms", link.name),
            rtt_ms,
            mean_mbps,
            buffer_packets: DOWNLINK_PACKETS,
            link: link.clone(),
        }
    }

    /// The same path with a buffer of one bandwidth-delay product, at the link's mean rate and the base RTT.
    pub fn shallow(&self) -> Self {
        let bdp_bytes = self.mean_mbps * 1e6 / 8.0 * f64::from(self.rtt_ms) / 1e3;
        Self {
            name: format!("{}, 1 BDP", self.name),
            buffer_packets: (bdp_bytes / PACKET_BYTES).ceil() as usize,
            ..self.clone()
        }
    }

    /// Whether its buffer is larger than one bandwidth-delay product.
    pub const fn is_deep(&self) -> bool {
        self.buffer_packets == DOWNLINK_PACKETS
    }

    /// The uplink's rate, in Mbit/s.
    pub fn uplink_mbps(&self) -> f64 {
        UPLINK_MBPS.max(self.mean_mbps * UPLINK_SHARE)
    }

    /// Capacity of the downlink over a second while a download counts, in Mbit/s: the median, and the maximum.
    ///
    /// # Errors
    /// When its recording cannot be read.
    pub fn rates_mbps(&self) -> Result<[f64; 2]> {
        let down = self.link.down(0.0);
        let config = down.resolve(FilePath::new(""), 1)?;
        let mut capacity = Capacity::new(&config.rate);
        let second = |from: u32| {
            let [from, to] = [from, from + 1].map(|s| Instant::from_secs_f64(s.into()));
            capacity.bytes(from, to) as f64 * 8e-6
        };
        let mut rates: Vec<f64> = (WARMUP_S as u32..DURATION_S as u32).map(second).collect();
        rates.sort_by(f64::total_cmp);
        let at = |share: f64| rates[((rates.len() - 1) as f64 * share) as usize];
        Ok([at(0.5), at(1.0)])
    }

    /// A download over it, through that queue discipline.
    pub fn scenario(&self, policy: QueuePolicy, run: Run) -> Scenario {
        let delay_ms = f64::from(self.rtt_ms) / 2.0;
        let down = LinkSpec {
            queue: links::queue(self.buffer_packets, policy),
            ..self.link.down(delay_ms)
        };
        let up = LinkSpec {
            queue: links::queue(UPLINK_PACKETS, QueuePolicy::DropTail),
            ..LinkSpec::new(RateSpec::ConstantMbps(self.uplink_mbps()), delay_ms)
        };
        let workloads = vec![download()];
        Scenario {
            warmup_s: WARMUP_S,
            ..Scenario::new(&self.name, DURATION_S, [down, up], workloads, vec![run])
        }
    }
}
