//! The paths of the paper's emulations: one constant link, with a buffer in bandwidth-delay products.

use crate::workloads::download;
use tidegate_link::Loss;
use tidegate_scenario::{Law, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Run, Scenario, Workload};
use tidegate_study::Case;

/// Bits of a packet.
const PACKET_BITS: f64 = 12_000.0;

/// A link and its propagation.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Its rate in Mbit/s.
    pub mbps: f64,
    /// Base round trip in ms.
    pub rtt_ms: f64,
    /// Its buffer, in bandwidth-delay products.
    pub products: f64,
    /// Packets lost on it at random.
    pub loss: f64,
}

impl Path {
    /// A path without loss whose buffer is never full.
    pub const fn new(mbps: f64, rtt_ms: f64) -> Self {
        Self {
            mbps,
            rtt_ms,
            products: 20.0,
            loss: 0.0,
        }
    }

    /// With a buffer of that many bandwidth-delay products.
    pub fn buffer(self, products: f64) -> Self {
        Self { products, ..self }
    }

    /// With that share of packets lost at random.
    pub fn loss(self, loss: f64) -> Self {
        Self { loss, ..self }
    }

    /// Its name.
    pub fn name(&self) -> String {
        format!("{} Mbit/s, {} ms", self.mbps, self.rtt_ms)
    }

    /// Transmission time of a packet, in ms.
    pub fn packet_ms(&self) -> f64 {
        PACKET_BITS / (self.mbps * 1e3)
    }

    /// Packets of a bandwidth-delay product.
    pub fn product(&self) -> f64 {
        self.rtt_ms / self.packet_ms()
    }

    /// A run of that many seconds with these workloads and this congestion control, without the warm-up.
    pub fn case(
        &self,
        what: &str,
        control: &str,
        workloads: Vec<Workload>,
        seconds: [f64; 2],
    ) -> Case {
        let [duration_s, warmup_s] = seconds;
        let name = format!("{}, {what}, {control}", self.name());
        let mut run = Run::new(control, Law::None);
        run.congestion_control = Some(control.into());
        let packets = (self.product() * self.products).max(10.0) as usize;
        let down = LinkSpec {
            queue: QueueSpec {
                packets: Some(packets),
                policy: QueuePolicy::DropTail,
                ..QueueSpec::default()
            },
            loss: (self.loss > 0.0).then_some(Loss::Random(self.loss)),
            ..LinkSpec::new(RateSpec::ConstantMbps(self.mbps), self.rtt_ms / 2.0)
        };
        let up = LinkSpec::new(RateSpec::ConstantMbps(self.mbps), self.rtt_ms / 2.0);
        Case {
            once: self.loss == 0.0,
            ..Case::new(Scenario {
                warmup_s,
                ..Scenario::new(name, duration_s, [down, up], workloads, vec![run])
            })
        }
    }
}

/// Bulk downloads, each begun `apart_s` seconds after the one before.
pub fn downloads(count: usize, apart_s: f64) -> Vec<Workload> {
    let one = |nth: usize| Workload {
        name: format!("download {}", nth + 1),
        start_s: nth as f64 * apart_s,
        ..download()
    };
    (0..count).map(one).collect()
}
