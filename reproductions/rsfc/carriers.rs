//! The three ISPs, derived once from chapter 4 and the text of chapter 5, and used unchanged in every figure.
//!
//! The thesis prints no table of rates, so we use the rates that its text names. They are the throughput of a TCP
//! flow, spread over the experiments: the n-th of `count` experiments has the rate at (n + ½) ÷ count of the way
//! between the named rates, on a logarithmic scale.
//!
//! **Device.** HTC Desire: 64 KB before the radio, in bytes, nothing in the kernel (Table 4.2). It is the
//! phone of section 4.4's example, "64 KB at 50 kbit/s".
//!
//! **Uplink of ISP A.** From 50 kbit/s (section 4.4) to 400 kbit/s, below which "RSFC achieves the
//! greatest improvement" (5.2.2). Half of the uploads have an RTT above 6 s (5.2.1): that is 64 KB
//! of packets at 84 kbit/s of payload. So the share of CUBIC's uploads above 6 s is an input of the model, and has no verdict; all else that is
//! compared is not.
//!
//! **Uplinks of ISP B and C.** "Relatively high" (5.2), on HSPA networks of 2 Mbit/s up (4.2.2). B's is
//! "consistently high" (4.4): from half of that; C's starts where A's ends.
//!
//! **Downlinks.** A: downloads of "more than 1,000 Kbps" (chapter 4); the best beside an RSFC upload has
//! 1400, "not as good as" alone (5.2.2): up to 2000. B and C: from there to the 7.2 Mbit/s of the
//! plans, which are "rarely" exceeded (4.2.3). Uplink and downlink are drawn independently of each other.
//!
//! **Downlink buffers.** Table 4.1, HSPA(+).
//!
//! **Latency.** With RSFC the RTT is "close to 1 s" (5.2.1), which is at most 4 RTTmin (5.1.2, T = RTTmin):
//! RTTmin is 250 ms. The segment itself takes 137 ms of that on the median uplink. What remains is the way
//! there and back, the same for all three.
//!
//! **Radio.** A phone on a desk (chapter 5 was measured in the lab): HSPA, in good signal. Retransmission
//! on the link is modelled packet by packet, so on the downlink alone: on these uplinks a packet takes
//! longer than the blocks of 10 ms that are retransmitted, and what that costs is part of the rate.

use crate::radio::{self, GOOD_DB, HSPA_HARQ_MS};
use tidegate_scenario::{LinkSpec, QueuePolicy, QueueSpec};

/// The model in words, for the page.
pub const INTRODUCTION: &str = "Every figure is run in the simulator, from one model of each ISP that is derived from \
     chapter 4's tables and the rates that the text names, and never tuned to a figure. The phone is an HTC Desire with \
     64 KB before its radio, and sends with CUBIC as it is in Linux 6.18 from an initial window of 3 segments; with RSFC \
     the server that receives the upload steers it. A fading HSPA radio carries both directions. What the thesis repeated \
     every 15 minutes for days is repeated here over the ISP's range of rates and over the seeds. ± is the 95 % \
     confidence interval over seeds.";

/// Buffer before the radio of an HTC Desire, in bytes (Table 4.2).
pub const HTC_DESIRE: usize = 64 << 10;
/// Buffer of a Galaxy S3 or S4 on LTE; the kernel's queue before it is [`KERNEL_PACKETS`] long.
pub const GALAXY_S3_LTE: usize = 400 << 10;
/// Packets in the kernel's queue of a Galaxy S3 or S4.
pub const KERNEL_PACKETS: usize = 1000;

/// Length of a full packet, in bytes.
pub const PACKET_BYTES: usize = 1500;

/// Median rate of ISP A's uplink, in kbit/s: 64 KB take 6 s; and the payload's part of it.
const MEDIAN_LINK_KBPS: f64 = HTC_DESIRE as f64 * 8.0 / 6e3;
const MEDIAN_KBPS: f64 = MEDIAN_LINK_KBPS / radio::HEADERS;

/// RTTmin by RSFC's bound, in ms.
const RTT_MIN_MS: f64 = 250.0;

/// One-way delay, in ms.
pub const DELAY_MS: f64 = (RTT_MIN_MS - PACKET_BYTES as f64 * 8.0 / MEDIAN_LINK_KBPS) / 2.0;

/// An ISP as the phones in the lab saw it.
#[derive(Debug)]
pub struct Isp {
    /// Its name.
    pub name: &'static str,
    /// Rates that the text names for its uplink, in kbit/s.
    pub uplink_kbps: &'static [f64],
    /// For its downlink.
    pub downlink_kbps: &'static [f64],
    /// Packets that its downlink's buffer holds.
    pub buffer: usize,
    /// The buffer's policy when it is full.
    pub policy: QueuePolicy,
}

/// The poor uplink.
pub static A: Isp = Isp {
    name: "ISP A",
    uplink_kbps: &[50.0, MEDIAN_KBPS, 400.0],
    downlink_kbps: &[1000.0, 2000.0],
    buffer: 4000,
    policy: QueuePolicy::DropTail,
};

/// The consistently fast one.
pub static B: Isp = Isp {
    name: "ISP B",
    uplink_kbps: &[1000.0, 2000.0],
    downlink_kbps: &[2000.0, 7200.0],
    buffer: 400,
    policy: QueuePolicy::DropHead,
};

/// The third.
pub static C: Isp = Isp {
    name: "ISP C",
    uplink_kbps: &[400.0, 2000.0],
    downlink_kbps: &[2000.0, 7200.0],
    buffer: 2000,
    policy: QueuePolicy::DropTail,
};

/// The links of one experiment.
#[derive(Clone, Debug)]
pub struct Place {
    /// Identifies the place.
    pub name: String,
    /// The uplink's rate, in kbit/s of payload.
    pub uplink_kbps: f64,
    /// The link from the server to the phone.
    pub down: LinkSpec,
    /// The link from the phone to the server.
    pub up: LinkSpec,
}

impl Isp {
    /// The places of `count` experiments.
    pub fn places(&self, count: usize) -> Vec<Place> {
        (0..count).map(|nth| self.place(nth, count)).collect()
    }

    fn place(&self, nth: usize, count: usize) -> Place {
        // Multiples of the golden ratio are spread evenly, in an order independent of the uplinks'.
        const GOLDEN: f64 = 0.618_033_988_75;
        let share = (nth as f64 + 0.5) / count as f64;
        let uplink_kbps = between(self.uplink_kbps, share);
        let downlink_kbps = between(self.downlink_kbps, (nth as f64 + 0.5) * GOLDEN % 1.0);
        let downlink = QueueSpec {
            packets: Some(self.buffer),
            policy: self.policy,
            ..QueueSpec::default()
        };
        Place {
            name: format!("{}, {uplink_kbps} up, {downlink_kbps} down", self.name),
            uplink_kbps,
            down: LinkSpec {
                arq: Some(radio::arq(HSPA_HARQ_MS)),
                ..hspa(downlink_kbps, downlink)
            },
            up: hspa(uplink_kbps, device(HTC_DESIRE)),
        }
    }
}

/// A device's buffer before the radio, in bytes.
pub fn device(bytes: usize) -> QueueSpec {
    QueueSpec {
        packets: None,
        bytes: Some(bytes),
        ..QueueSpec::default()
    }
}

/// A radio link that carries `kbps` kbit/s of payload.
fn hspa(kbps: f64, queue: QueueSpec) -> LinkSpec {
    let rate = radio::rate(radio::peak_mbps(kbps / 1e3), vec![[0.0, GOOD_DB]]);
    LinkSpec {
        queue,
        ..LinkSpec::new(rate, DELAY_MS)
    }
}

/// The middle of a range of rates, in kbit/s.
pub fn middle(named: &[f64]) -> f64 {
    between(named, 0.5)
}

/// The rate at that share of the way along `named`, by ratio, in whole kbit/s.
fn between(named: &[f64], share: f64) -> f64 {
    let place = share * (named.len() - 1) as f64;
    let (low, high) = (named[place as usize], named[place as usize + 1]);
    (low * libm::pow(high / low, place.fract())).round()
}
