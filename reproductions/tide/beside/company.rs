//! The traffic beside us.

use super::super::contenders::{Contender, DRWA, LINUX, Shown, TIDE};
use super::super::paths::Path;
use super::super::windowless::HOLD;
use super::{END_S, SECOND_S};
use crate::workloads::{bulk, download};
use tidegate_scenario::{Direction, Spacing, Workload, WorkloadKind};

/// Share of a link's mean rate that datagrams take.
const DATAGRAMS: f64 = 0.3;

/// The other's name.
pub const OTHER: &str = "other";

/// BBR at the server, for our flow and the other's.
const BBR: &str = "bbr";
const LINUX_BBR: Contender = Contender::linux(BBR);
const TIDE_BBR: Contender = Contender::tide(BBR);

/// The other's traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Other {
    /// That many flows that no law sees.
    Unseen(u64),
    /// Datagrams at a constant rate.
    Datagrams,
    /// A flow without a window on our own host: seen, and held.
    Held,
    /// The same, left alone.
    LeftAlone,
    /// An upload of another machine.
    Upload,
}

/// The traffic of both sides, and which side was first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Company {
    pub name: &'static str,
    pub other: Other,
    /// Whether the other was first.
    first: bool,
    /// How many flows are ours.
    ours: u64,
    /// Whether all senders are BBR; else they are CUBIC.
    bbr: bool,
}

pub const JOINS: Company = Company {
    name: "CUBIC joins",
    other: Other::Unseen(1),
    first: false,
    ours: 1,
    bbr: false,
};

pub const FIRST: Company = Company {
    name: "CUBIC first",
    first: true,
    ..JOINS
};

pub const FOUR_JOIN: Company = Company {
    name: "four CUBICs join",
    other: Other::Unseen(4),
    ..JOINS
};

pub const JOINS_FOUR: Company = Company {
    name: "CUBIC joins four of ours",
    ours: 4,
    ..JOINS
};

pub const BBR_JOINS: Company = Company {
    name: "BBR joins",
    bbr: true,
    ..JOINS
};

pub const BBR_FIRST: Company = Company {
    name: "BBR first",
    bbr: true,
    ..FIRST
};

const DATAGRAMS_JOIN: Company = Company {
    name: "datagrams join",
    other: Other::Datagrams,
    ..JOINS
};

const DATAGRAMS_FIRST: Company = Company {
    name: "datagrams first",
    other: Other::Datagrams,
    ..FIRST
};

pub const HELD_JOINS: Company = Company {
    name: "windowless CUBIC joins",
    other: Other::Held,
    ..JOINS
};

pub const HELD_FIRST: Company = Company {
    name: "windowless CUBIC first",
    other: Other::Held,
    ..FIRST
};

pub const QUIC_JOINS_TWO: Company = Company {
    name: "QUIC that is left alone joins two of ours",
    other: Other::LeftAlone,
    ours: 2,
    ..JOINS
};

pub const UPLOAD_JOINS: Company = Company {
    name: "another machine's upload joins",
    other: Other::Upload,
    ..JOINS
};

pub const COMPANIES: [Company; 10] = [
    JOINS,
    FIRST,
    FOUR_JOIN,
    JOINS_FOUR,
    BBR_JOINS,
    BBR_FIRST,
    DATAGRAMS_JOIN,
    DATAGRAMS_FIRST,
    HELD_JOINS,
    HELD_FIRST,
];

/// Those for the real kernel, over its constant link.
pub const ON_THE_KERNEL: [Company; 8] = [
    JOINS,
    FIRST,
    FOUR_JOIN,
    JOINS_FOUR,
    BBR_JOINS,
    BBR_FIRST,
    QUIC_JOINS_TWO,
    UPLOAD_JOINS,
];

/// Those for the real kernel, over its cell.
pub const ON_THE_KERNELS_CELLS: [Company; 4] = [JOINS, FIRST, BBR_JOINS, QUIC_JOINS_TWO];

impl Company {
    /// Our flows' even share of the link in percent, if the other can be given one.
    pub fn even(self) -> Option<f64> {
        let ours = self.ours as f64;
        match self.other {
            Other::Unseen(flows) => Some(100.0 * ours / (ours + flows as f64)),
            Other::LeftAlone => Some(100.0 * ours / (ours + 1.0)),
            Other::Datagrams | Other::Held | Other::Upload => None,
        }
    }

    /// Untouched Linux.
    pub const fn linux(self) -> Contender {
        if self.bbr { LINUX_BBR } else { LINUX }
    }

    /// tide, with its treatment of the other's flow.
    pub const fn ours(self) -> Contender {
        match self.other {
            Other::Held => HOLD,
            _ => self.alone(),
        }
    }

    /// tide without company.
    pub const fn alone(self) -> Contender {
        if self.bbr { TIDE_BBR } else { TIDE }
    }

    /// The contenders, from back to front. DRWA starves in every company alike, so one company shows it.
    pub fn contenders(self) -> Vec<Shown> {
        let drwa = (self == JOINS).then_some(("DRWA λ = 3", DRWA, 0));
        let linux = [("Linux", self.linux(), 2)].into_iter();
        linux
            .chain(drwa)
            .chain([("tide", self.ours(), 1)])
            .collect()
    }

    /// When we begin and when the other begins, in seconds.
    const fn starts_s(self) -> [f64; 2] {
        match self.first {
            true => [SECOND_S, 0.0],
            false => [0.0, SECOND_S],
        }
    }

    /// Our traffic without company.
    pub fn ours_alone(self) -> Workload {
        downloads(&download().name, self.ours)
    }

    /// Whether both have a share of the downlink worth a picture.
    pub const fn is_shown(self) -> bool {
        !matches!(self.other, Other::Datagrams | Other::Upload)
    }

    /// Both sides' traffic over that path.
    pub fn workloads(self, path: &Path) -> Vec<Workload> {
        let [ours_s, other_s] = self.starts_s();
        let of_our_host = matches!(self.other, Other::Held | Other::LeftAlone);
        let ours = Workload {
            start_s: ours_s,
            ..self.ours_alone()
        };
        let other = Workload {
            start_s: other_s,
            stop_s: Some(END_S),
            steered: of_our_host,
            windowless: of_our_host,
            ..self.other.workload(path)
        };
        vec![ours, other]
    }

    /// Our flows' names.
    pub fn our_flows(self) -> Vec<String> {
        names(&download().name, self.ours)
    }

    /// The other's flows' names.
    pub fn other_flows(self) -> Vec<String> {
        match self.other {
            Other::Unseen(flows) => names(OTHER, flows),
            Other::Datagrams | Other::Held | Other::LeftAlone | Other::Upload => names(OTHER, 1),
        }
    }
}

impl Other {
    /// The other's traffic over that path.
    fn workload(self, path: &Path) -> Workload {
        let datagrams = || WorkloadKind::Datagrams {
            direction: Direction::Down,
            mbps: path.mean_mbps * DATAGRAMS,
            packet_bytes: 1200,
            spacing: Spacing::Constant,
        };
        match self {
            Self::Unseen(flows) => downloads(OTHER, flows),
            Self::Held | Self::LeftAlone => downloads(OTHER, 1),
            Self::Upload => bulk(OTHER, Direction::Up, None, 1),
            Self::Datagrams => Workload::new(OTHER, datagrams()),
        }
    }
}

/// That many bulk downloads.
fn downloads(name: &str, flows: u64) -> Workload {
    bulk(name, Direction::Down, None, flows)
}

/// The names of a workload's flows.
fn names(workload: &str, flows: u64) -> Vec<String> {
    match flows {
        1 => vec![workload.into()],
        _ => (1..=flows).map(|nth| format!("{workload}#{nth}")).collect(),
    }
}
