//! Who is held against whom, and how somebody who knows a link sets them.

use crate::tide::paths::Path;
use crate::workloads::download;
use anyhow::Result;
use tidegate_scenario::{
    CakeSpec, Law, QueuePolicy, Run, ShapedSpec, SproutSpec, Workload, WorkloadKind,
};

/// cake-autorate as it comes: 5, 20 and 80 Mbit/s down, 5, 20 and 35 up (its defaults.sh).
const DEFAULTS: CakeSpec = CakeSpec {
    down: steered(5.0, 20.0, 80.0),
    up: steered(5.0, 20.0, 35.0),
};

/// Of the uplink, which is steady, an expert's shaper takes so much.
const OF_UPLINK: f64 = 0.95;

/// A shaper set by hand: so much of the link's mean rate.
const BY_HAND: f64 = 0.75;

/// The least that an expert's base rate is, in Mbit/s: a packet takes 60 ms.
const LEAST_MBPS: f64 = 0.2;

/// An expert's least rate, as part of the base rate. Down to what a link carries at its worst, in an outage, it would collapse
/// with each of them: the 5th percentile of a second's rate was tried, and used seven points less of the links.
const OF_BASE: f64 = 0.5;

/// Why a shaper's delay may be shorter than tide's, or its goodput more.
const TRADE: &str = "where it shapes, it shapes to much less than the link carries, and no queue stands at the link; where it does \
                         not, on links slower than its least rate, it carries what Linux carries and waits as Linux does";

const fn steered(least: f64, base: f64, most: f64) -> ShapedSpec {
    ShapedSpec {
        mbps: base,
        min_mbps: Some(least),
        max_mbps: Some(most),
    }
}

/// Who does something against the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// Nobody.
    Linux,
    /// Ours, at the receiver.
    Tide,
    /// cake-autorate at the client's router, as it comes.
    Autorate,
    /// The same, set for the link by somebody who knows it.
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
}

impl Rival {
    /// All of them, as pictures and tables list them.
    pub const ALL: [Self; 9] = [
        Self::Linux,
        Self::Tide,
        Self::Autorate,
        Self::Expert,
        Self::ByHand,
        Self::Bbr,
        Self::Copa,
        Self::Sprout,
        Self::FqCodel,
    ];

    /// What it is called.
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
        }
    }

    /// What it needs, that `tide` does not.
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
        }
    }

    /// Why it may be ahead of `tide` in one of the two.
    pub const fn trades(self) -> &'static str {
        match self {
            Self::FqCodel => {
                "it stands where the queue is: a packet of the call passes those of the download, whose losses leave much of \
                 the link unused"
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
            Self::FqCodel => QueuePolicy::FqCodel,
            _ => QueuePolicy::DropTail,
        }
    }

    /// Its run on a path.
    ///
    /// # Errors
    /// When the path's recording cannot be read.
    pub fn run(self, path: &Path) -> Result<Run> {
        let law = match self {
            Self::Tide => Law::Tide,
            _ => Law::None,
        };
        let mut run = Run::new(self.name(), law);
        run.stampless = law == Law::Tide;
        run.congestion_control = match self {
            Self::Bbr => Some("bbr".into()),
            Self::Copa => Some("copa".into()),
            _ => None,
        };
        run.cake = self.cake(path)?;
        Ok(run)
    }

    /// Its download.
    pub fn download(self) -> Workload {
        match self {
            Self::Sprout => Workload::new("download", WorkloadKind::Sprout(SproutSpec::default())),
            _ => download(),
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
