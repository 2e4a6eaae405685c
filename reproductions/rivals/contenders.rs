//! The contenders, and how an expert who knows a link sets them.

use crate::tide::paths::Path;
use crate::workloads::bulk;
use anyhow::Result;
use tidegate_scenario::{
    CakeSpec, Direction, EcnMode, Law, QueuePolicy, QueueSpec, Run, ShapedSpec, SproutSpec,
    Workload, WorkloadKind,
};

/// cake-autorate's defaults: 5, 20 and 80 Mbit/s down, 5, 20 and 35 up (its defaults.sh).
const DEFAULTS: CakeSpec = CakeSpec {
    down: steered(5.0, 20.0, 80.0),
    up: steered(5.0, 20.0, 35.0),
};

/// An expert's shaper takes this share of the uplink, which is steady.
const OF_UPLINK: f64 = 0.95;

/// A shaper set by hand, as a share of the link's mean rate.
const BY_HAND: f64 = 0.75;

/// The smallest base rate that an expert sets, in Mbit/s: a packet takes 60 ms.
const LEAST_MBPS: f64 = 0.2;

/// An expert's least rate, as a share of the base rate. With a least rate as low as the link's in an outage, the
/// shaper would collapse in each outage: the 5th percentile of a second's rate was tried, and used seven points less
/// of the links.
const OF_BASE: f64 = 0.5;

/// The marking step of an expert on cells, in milliseconds: longer than their scheduler keeps a lone packet waiting.
/// DCTCP's step is a seventh of the round trip if that is more (Alizadeh et al. 2010, equation 13).
const STEP_MS: f64 = 20.0;
const OF_RTT: f64 = 7.0;

/// A target for CoDel in milliseconds that no delay reaches, so that only the step marks.
const NEVER_MS: f64 = 60_000.0;

/// Why a shaper can have a shorter delay than tide, or more goodput.
const TRADE: &str = "where it shapes, it shapes to much less than the link carries, and no queue stands at the link; where it does \
                         not, on links slower than its least rate, it carries what Linux carries and waits as Linux does";

const fn steered(least: f64, base: f64, most: f64) -> ShapedSpec {
    ShapedSpec {
        mbps: base,
        min_mbps: Some(least),
        max_mbps: Some(most),
    }
}

/// A remedy against the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// None.
    Linux,
    /// Ours, at the receiver.
    Tide,
    /// cake-autorate at the client's router, as it comes.
    Autorate,
    /// cake-autorate, set by an expert for the link.
    Expert,
    /// CAKE at the client's router with three quarters of the link's mean rate.
    ByHand,
    /// The sender, by BBR.
    Bbr,
    /// The sender, by Copa.
    Copa,
    /// Both ends, by Sprout.
    Sprout,
    /// The link, by FQ-CoDel.
    FqCodel,
    /// CoDel, PIE or FQ-CoDel with marks on the link, and both ends, which answer them.
    EcnCodel,
    /// See [`Self::EcnCodel`].
    EcnPie,
    /// See [`Self::EcnCodel`].
    EcnFqCodel,
    /// A marking step on the link, and both ends.
    Dctcp,
    /// Two queues on the link, and both ends.
    Prague,
    /// The same, with a step that suits a cell's scheduler.
    PragueStep,
    /// ABC: the link tells each packet's sender to accelerate or to brake, and both ends answer.
    Abc,
}

impl Rival {
    /// All of them, in the order of pictures and tables.
    pub const ALL: [Self; 16] = [
        Self::Linux,
        Self::Tide,
        Self::Autorate,
        Self::Expert,
        Self::ByHand,
        Self::Bbr,
        Self::Copa,
        Self::Sprout,
        Self::FqCodel,
        Self::EcnCodel,
        Self::EcnPie,
        Self::EcnFqCodel,
        Self::Dctcp,
        Self::Prague,
        Self::PragueStep,
        Self::Abc,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Tide => "tide",
            Self::Autorate => "cake-autorate, defaults",
            Self::Expert => "cake-autorate, expert",
            Self::ByHand => "CAKE at 75 % of the mean",
            Self::Bbr => "BBR sender",
            Self::Copa => "Copa sender",
            Self::Sprout => "Sprout at both ends",
            Self::FqCodel => "FQ-CoDel in the bottleneck",
            Self::EcnCodel => "CUBIC with ECN, CoDel marks",
            Self::EcnPie => "CUBIC with ECN, PIE marks",
            Self::EcnFqCodel => "CUBIC with ECN, FQ-CoDel marks",
            Self::Dctcp => "DCTCP over a step",
            Self::Prague => "Prague over DualPI2, defaults",
            Self::PragueStep => "Prague over DualPI2, step of 20 ms",
            Self::Abc => "ABC at both ends, in the bottleneck",
        }
    }

    /// What it needs that `tide` does not.
    pub const fn needs(self) -> &'static str {
        match self {
            Self::Linux => "nothing",
            Self::Tide => "the receiver, or its router",
            Self::Autorate => "the router, 20 probes a second",
            Self::Expert => "the router, 20 probes a second, who knows the link",
            Self::ByHand => "the router, who knows the link",
            Self::Bbr => "every sender",
            Self::Copa => "every sender",
            Self::Sprout => "every sender and the receiver, over UDP",
            Self::FqCodel => "the operator",
            Self::EcnCodel | Self::EcnPie | Self::EcnFqCodel => {
                "the operator, every sender, every receiver: ECN"
            }
            Self::Dctcp => "the operator, every sender, every receiver: DCTCP",
            Self::Prague | Self::PragueStep => "the operator, every sender, every receiver: L4S",
            Self::Abc => "the operator, who knows the rate, every sender, every receiver: ABC",
        }
    }

    /// Why it can be ahead of `tide` in goodput or delay.
    pub const fn trades(self) -> &'static str {
        match self {
            Self::FqCodel => {
                "it stands where the queue is: a packet of the call passes those of the download, whose losses leave much of \
                 the link unused"
            }
            Self::EcnCodel | Self::EcnPie | Self::EcnFqCodel | Self::Dctcp => {
                "it stands where the queue is, and keeps that to milliseconds, which a link whose rate changes within a \
                 round trip runs out of"
            }
            Self::Prague | Self::PragueStep => {
                "a packet of the call passes those of the download, as the two have a queue each; a download whose every \
                 packet waits for the scheduler for longer than the step is told to slow down by each"
            }
            Self::Abc => {
                "it stands where the queue is and knows the link's rate, which it leaves a part of unused, and more of where that \
                 changes within a round trip"
            }
            Self::Linux => "untouched, it fills every buffer that there is",
            Self::Bbr => "it fills more of the buffer",
            Self::Copa => {
                "on a link that changes its queue does not empty often enough for its detector, and it competes with nobody"
            }
            Self::Sprout => {
                "it sends what is certain, which is less than half of what the link carries"
            }
            _ => TRADE,
        }
    }

    /// The queue discipline of the link.
    pub const fn policy(self) -> QueuePolicy {
        match self {
            Self::FqCodel | Self::EcnFqCodel => QueuePolicy::FqCodel,
            Self::EcnCodel | Self::Dctcp => QueuePolicy::Codel,
            Self::EcnPie => QueuePolicy::Pie,
            Self::Prague | Self::PragueStep => QueuePolicy::DualPi2,
            Self::Abc => QueuePolicy::Abc,
            _ => QueuePolicy::DropTail,
        }
    }

    /// Sets the marks of the path's queue, if it uses marks: for DCTCP a step only.
    pub fn mark(self, queue: &mut QueueSpec, path: &Path) {
        match self {
            Self::EcnCodel | Self::EcnPie | Self::EcnFqCodel => queue.ecn = true,
            Self::Dctcp => {
                queue.ce_threshold_ms = Some(STEP_MS.max(f64::from(path.rtt_ms) / OF_RTT));
                queue.codel_target_ms = NEVER_MS;
            }
            Self::PragueStep => queue.dualpi2_step_ms = STEP_MS,
            _ => {}
        }
    }

    /// Its run on a path; with `uploads` the link is the uplink.
    ///
    /// # Errors
    /// When the path's recording cannot be read.
    pub fn run(self, path: &Path, uploads: bool) -> Result<Run> {
        let law = match self {
            Self::Tide => Law::Tide,
            _ => Law::None,
        };
        let mut run = Run::new(self.name(), law);
        run.stampless = law == Law::Tide;
        run.congestion_control = match self {
            Self::Bbr => Some("bbr".into()),
            Self::Copa => Some("copa".into()),
            Self::Dctcp => Some("dctcp".into()),
            Self::Prague | Self::PragueStep => Some("prague".into()),
            Self::Abc => Some("abc".into()),
            _ => None,
        };
        if matches!(self, Self::EcnCodel | Self::EcnPie | Self::EcnFqCodel) {
            run.ecn = EcnMode::Classic;
        }
        run.cake = match self.cake(path)? {
            // Its defaults are for down and up, wherever the link is.
            Some(set) if uploads && self != Self::Autorate => Some(CakeSpec {
                down: set.up,
                up: set.down,
            }),
            set => set,
        };
        Ok(run)
    }

    /// Whether it is a sender, or brings its own sender beside its queue.
    pub const fn is_sender(self) -> bool {
        matches!(
            self,
            Self::Bbr
                | Self::Copa
                | Self::Sprout
                | Self::Dctcp
                | Self::Prague
                | Self::PragueStep
                | Self::Abc
        )
    }

    /// A bulk flow.
    pub fn bulk(self, direction: Direction) -> Workload {
        let name = match direction {
            Direction::Up => "upload",
            _ => "download",
        };
        match self {
            Self::Sprout => {
                let spec = SproutSpec {
                    direction,
                    ..SproutSpec::default()
                };
                Workload::new(name, WorkloadKind::Sprout(spec))
            }
            _ => bulk(name, direction, None, 1),
        }
    }

    fn cake(self, path: &Path) -> Result<Option<CakeSpec>> {
        let fixed = |mbps| ShapedSpec {
            mbps,
            min_mbps: None,
            max_mbps: None,
        };
        let up = fixed(OF_UPLINK * path.uplink_mbps());
        let down = match self {
            Self::Autorate => return Ok(Some(DEFAULTS)),
            Self::Expert => {
                let [base, most] = path.rates_mbps()?.map(|mbps| mbps.max(LEAST_MBPS));
                steered(OF_BASE * base, base, most)
            }
            Self::ByHand => fixed((BY_HAND * path.mean_mbps).max(LEAST_MBPS)),
            _ => return Ok(None),
        };
        Ok(Some(CakeSpec { down, up }))
    }
}
