//! Links with known properties, as scenarios.

use crate::workloads::download;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tidegate_scenario::{
    CellKind, CellSpec, GenerateSpec, Law, LinkSpec, Loss, QueuePolicy, QueueSpec, RateSpec, Run,
    Scenario, SchedulerKind,
};
use tidegate_study::Case;

/// Share of packets that every link loses at random.
const CHANCE: f64 = 0.001;

/// Offset and drift of the client's clock.
pub const AHEAD_S: u64 = 10;
/// See [`AHEAD_S`].
pub const DRIFT_PPM: f64 = 50.0;

/// A buffer of the thesis's tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The device or network that has it.
    pub name: &'static str,
    /// Its size in its unit: packets, bytes or seconds.
    pub size: f64,
    /// Its unit and policy.
    pub kind: Kind,
}

/// A buffer's unit and policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Packets, drop-tail.
    PacketsTail,
    /// Packets, drop-head.
    PacketsHead,
    /// Bytes, drop-tail.
    BytesTail,
    /// Time, AQM.
    TimeAqm,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::PacketsTail,
        Self::PacketsHead,
        Self::BytesTail,
        Self::TimeAqm,
    ];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::PacketsTail => "packets, drop-tail",
            Self::PacketsHead => "packets, drop-head",
            Self::BytesTail => "bytes, drop-tail",
            Self::TimeAqm => "time, AQM",
        }
    }
}

const fn truth(name: &'static str, size: f64, kind: Kind) -> Truth {
    Truth { name, size, kind }
}

/// Table 4.1.
pub const DOWNLINKS: [Truth; 6] = [
    truth("ISP A, HSPA(+)", 4000.0, Kind::PacketsTail),
    truth("ISP A, LTE", 0.8, Kind::TimeAqm),
    truth("ISP B, HSPA(+)", 400.0, Kind::PacketsHead),
    truth("ISP B, LTE", 600.0, Kind::PacketsTail),
    truth("ISP C, HSPA(+)", 2000.0, Kind::PacketsTail),
    truth("ISP C, LTE", 2000.0, Kind::PacketsTail),
];

/// Table 4.2; the phones' kernel has a queue of its own.
pub const UPLINKS: [Truth; 7] = [
    truth("HTC Desire", 64e3, Kind::BytesTail),
    truth("Galaxy Nexus", 1.5e6, Kind::BytesTail),
    truth("Galaxy S3 and S4, HSPA+", 200e3, Kind::BytesTail),
    truth("Galaxy S3 and S4, LTE", 400e3, Kind::BytesTail),
    truth("Galaxy S3 and S4, kernel", 1000.0, Kind::PacketsTail),
    truth("Huawei E3131", 300.0, Kind::PacketsTail),
    truth("Huawei E3276", 1000.0, Kind::PacketsTail),
];

/// A link's rate over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carries {
    /// Packet after packet.
    Smoothly,
    /// In turns of that many milliseconds.
    InTurns(f64),
    /// As the generated cell does, whose rate changes.
    Generated(CellKind),
}

impl Carries {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::Smoothly => "smooth".into(),
            Self::InTurns(ms) => format!("turns of {ms} ms"),
            Self::Generated(CellKind::Lte) => "LTE trace".into(),
            Self::Generated(CellKind::Hspa) => "HSPA trace".into(),
            Self::Generated(CellKind::Evdo) => "EVDO trace".into(),
        }
    }

    /// The interval of its bursts, in milliseconds; 0 without.
    pub fn period_ms(self) -> f64 {
        match self {
            Self::Smoothly => 0.0,
            Self::InTurns(ms) => ms,
            Self::Generated(CellKind::Lte) => 4.0,
            Self::Generated(_) => 10.0,
        }
    }
}

/// A link to be measured, with known properties.
#[derive(Clone, Debug)]
pub struct Known {
    /// The test that is run on it.
    pub test: &'static str,
    /// Its buffer.
    pub truth: Truth,
    /// Its rate over time.
    pub carries: Carries,
    /// Its mean rate, in Mbit/s.
    pub mbps: f64,
    /// Round trip of the empty link, in ms.
    pub rtt_ms: f64,
}

impl Known {
    /// Identifies the link.
    pub fn name(&self) -> String {
        let Self {
            test,
            truth,
            carries,
            mbps,
            rtt_ms,
        } = self;
        let (name, carries) = (truth.name, carries.words());
        format!("{test}: {name}, {mbps} Mbit/s, {carries}, {rtt_ms} ms")
    }

    /// With those curves and numbers kept.
    pub fn case(&self, curves: &[&'static str]) -> Case {
        let links = [self.down(), self.up()];
        let linux = Run::new("linux", Law::None);
        let scenario = Scenario::new(self.name(), 60.0, links, vec![download()], vec![linux]);
        Case::new(scenario).curves(curves)
    }

    fn down(&self) -> LinkSpec {
        let rate = match self.carries {
            Carries::Generated(kind) => RateSpec::Generate(GenerateSpec {
                kind,
                mean_mbps: Some(self.mbps),
                seed: None,
            }),
            _ => RateSpec::ConstantMbps(self.mbps),
        };
        let cell = match self.carries {
            // A cell without other users.
            Carries::InTurns(tti_ms) => Some(CellSpec {
                users: 1,
                scheduler: SchedulerKind::RoundRobin,
                load_mbps: 0.1,
                on_s: 2.0,
                off_s: 2.0,
                tti_ms,
                time_constant_s: 1.67,
                seed: None,
            }),
            _ => None,
        };
        LinkSpec {
            queue: queue(self.truth),
            cell,
            ..self.link(rate)
        }
    }

    /// The uplink carries only reports.
    fn up(&self) -> LinkSpec {
        self.link(RateSpec::ConstantMbps(20.0))
    }

    fn link(&self, rate: RateSpec) -> LinkSpec {
        LinkSpec {
            loss: Some(Loss::Random(CHANCE)),
            ..LinkSpec::new(rate, self.rtt_ms / 2.0)
        }
    }
}

fn queue(truth: Truth) -> QueueSpec {
    let unlimited = QueueSpec {
        packets: None,
        ..QueueSpec::default()
    };
    match truth.kind {
        Kind::PacketsTail | Kind::PacketsHead => QueueSpec {
            packets: Some(truth.size as usize),
            policy: match truth.kind {
                Kind::PacketsHead => QueuePolicy::DropHead,
                _ => QueuePolicy::DropTail,
            },
            ..QueueSpec::default()
        },
        Kind::BytesTail => QueueSpec {
            bytes: Some(truth.size as usize),
            ..unlimited
        },
        // "A Codel-like mechanism"; "we were not able to exceed" any other limit.
        Kind::TimeAqm => QueueSpec {
            policy: QueuePolicy::Codel,
            codel_target_ms: truth.size * 1e3,
            bytes: Some(ROOM),
            ..unlimited
        },
    }
}

/// A buffer that no train fills.
const ROOM: usize = 1 << 30;

/// Seed of the links below, which were not looked at while the estimators were developed.
const HELD_OUT: u64 = 0x7469_6465;

/// `each` links for every row of the two tables: rates from 0.5 to 50 Mbit/s and round trips from 20 to 200 ms, drawn evenly
/// on logarithmic scales; two in five smooth, one in turns, two of changing rate.
pub fn held_out(each: usize) -> Vec<Known> {
    let mut rng = Pcg64Mcg::seed_from_u64(HELD_OUT);
    let mut between = |low: f64, high: f64| low * libm::pow(high / low, rng.random::<f64>());
    let mut links = Vec::new();
    for (row, truth) in DOWNLINKS.into_iter().chain(UPLINKS).enumerate() {
        for n in 0..each {
            links.push(Known {
                test: "held out",
                truth,
                carries: match (row + n) % 5 {
                    0 | 1 => Carries::Smoothly,
                    2 => Carries::InTurns(if n % 2 == 0 { 4.0 } else { 10.0 }),
                    3 => Carries::Generated(CellKind::Lte),
                    _ => Carries::Generated(CellKind::Hspa),
                },
                mbps: round(between(0.5, 50.0)),
                rtt_ms: round(between(20.0, 200.0)),
            });
        }
    }
    links
}

/// Seed of these links, which were looked at once, when the bound of an AQM was last changed.
const CHANGING: u64 = 0x6171_6d32;

/// Links with the AQM of Table 4.1 and changing rates only, for which its bound is hardest to find.
pub fn managed(number: usize) -> Vec<Known> {
    let mut rng = Pcg64Mcg::seed_from_u64(CHANGING);
    let mut between = |low: f64, high: f64| low * libm::pow(high / low, rng.random::<f64>());
    let link = |n: usize| Known {
        test: "aqm",
        truth: DOWNLINKS[1],
        carries: Carries::Generated([CellKind::Lte, CellKind::Hspa][n % 2]),
        mbps: round(between(0.5, 50.0)),
        rtt_ms: round(between(20.0, 200.0)),
    };
    (0..number).map(link).collect()
}

/// To two digits.
fn round(value: f64) -> f64 {
    let unit = libm::exp10(libm::log10(value).floor() - 1.0);
    ((value / unit).round() * unit * 1e3).round() / 1e3
}
