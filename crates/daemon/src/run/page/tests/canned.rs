//! A stand-in for the agent: an LTE link with a television, a phone, and a machine with a strange name behind it.

use crate::about::About;
use crate::account::{Account, Part, Way};
use crate::compare::Compared;
use crate::devices::DeviceView;
use crate::fixtures::{START_US, download, end, path, quic, snapshot};
use crate::run::page::history::Observation;
use crate::run::page::source::{Past, Source};
use crate::snapshot::Snapshot;
use crate::spread::Spread;
use anyhow::Result;
use std::f64::consts::TAU;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tidegate_agent::{Direction, FlowView, Histogram, Histograms, Kind, Reason};

/// A name that a device may choose.
pub const NASTY: &str = "<img src=x onerror='window.broken=1'>\"&amp;</script>-a-name-of-a-device-that-is-longer-than-a-phone-is-wide";

const SECOND_US: u64 = 1_000_000;
/// Length of the recorded past.
const DAY_S: u64 = 25 * 3600;

#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Busy,
    Quiet,
    Crowded(u16),
    Ended,
}

#[derive(Clone)]
pub struct Canned {
    mood: Mood,
    began: Instant,
    looks: Arc<AtomicUsize>,
    link: Arc<Mutex<Link>>,
}

impl Canned {
    pub fn busy() -> Self {
        Self::new(Mood::Busy)
    }

    pub fn quiet() -> Self {
        Self::new(Mood::Quiet)
    }

    /// The agent with `flows` more connections.
    pub fn crowded(flows: u16) -> Self {
        Self::new(Mood::Crowded(flows))
    }

    pub fn ended() -> Self {
        Self::new(Mood::Ended)
    }

    fn new(mood: Mood) -> Self {
        Self {
            mood,
            began: Instant::now(),
            looks: Arc::default(),
            link: Arc::default(),
        }
    }

    /// How often the agent's tables were read.
    pub fn looks(&self) -> usize {
        self.looks.load(Ordering::Relaxed)
    }

    /// A sample for every second of the last two minutes, and every ten seconds before.
    pub fn samples(&self) -> impl Iterator<Item = Observation> {
        let days = if self.mood == Mood::Busy { DAY_S } else { 200 };
        let seconds = (DAY_S - days..DAY_S).filter(|s| s % 10 == 0 || s + 130 > DAY_S);
        let busy = self.mood != Mood::Quiet;
        let link = Arc::clone(&self.link);
        seconds.map(move |s| lock(&link).at(s, busy))
    }

    fn elapsed_us(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Totals of a link: more traffic in the evening than at night, and none for a while in the morning.
struct Link {
    second: u64,
    queue_us: [Histogram; 2],
    bytes: [u64; 2],
}

impl Default for Link {
    fn default() -> Self {
        let nothing = Histograms::default().queue_us;
        Self {
            second: 0,
            queue_us: [nothing.clone(), nothing],
            bytes: [0; 2],
        }
    }
}

impl Link {
    fn at(&mut self, second: u64, busy: bool) -> Observation {
        let passed = second.saturating_sub(self.second).clamp(1, 10);
        self.second = second;
        let day = libm::sin(second as f64 / DAY_S as f64 * TAU);
        let wave = libm::sin(second as f64 / 11.0);
        let asleep = second > 20_000 && second < 36_000;
        let passes = second % 5400 < 14 || (DAY_S - 60..DAY_S - 46).contains(&second);
        if busy && !asleep {
            let slow = if passes { 12.0 } else { 1.0 };
            let middle = slow * (22.0 + 9.0 * wave + 6.0 * day);
            let burst = ((second * 7919) % 13) as f64;
            for (way, part) in [(0, 1.0), (1, 0.45)] {
                let us = (middle * part * 1e3) as u64;
                self.queue_us[way].insert(us, 900 * passed);
                self.queue_us[way].insert((us as f64 * (1.6 + burst / 10.0)) as u64, 90 * passed);
                let mbps = part * part * (17.0 + 3.0 * wave + 4.0 * day - burst / 4.0);
                self.bytes[way] += (mbps * 125e3) as u64 * passed;
            }
        }
        Observation {
            at_us: second * SECOND_US,
            passes,
            queue_us: self.queue_us.clone(),
            bytes: self.bytes,
        }
    }
}

impl Source for Canned {
    fn now_us(&self) -> u64 {
        DAY_S * SECOND_US + self.elapsed_us()
    }

    fn observe(&self) -> Option<Result<Observation>> {
        let mut link = lock(&self.link);
        let second = DAY_S + self.elapsed_us() / SECOND_US;
        let observation = link.at(second, self.mood != Mood::Quiet);
        let at_us = self.now_us();
        Some(Ok(Observation {
            at_us,
            ..observation
        }))
    }

    fn snapshot(&self) -> Option<Result<Snapshot>> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        let at_us = START_US + self.elapsed_us();
        match self.mood {
            Mood::Ended => None,
            Mood::Quiet => Some(Ok(snapshot(at_us, vec![]))),
            Mood::Busy => Some(Ok(busy(at_us))),
            Mood::Crowded(more) => {
                let mut snapshot = busy(at_us);
                let ports = 20_000..20_000 + more;
                snapshot
                    .flows
                    .extend(ports.map(|port| download(port, 9000, at_us)));
                snapshot.flows.truncate(usize::from(more));
                Some(Ok(snapshot))
            }
        }
    }

    fn past(&self) -> Option<Result<Past>> {
        let past = |about: About, day, week| Some(Ok(Past { about, day, week }));
        match self.mood {
            Mood::Ended => None,
            Mood::Quiet => past(About::default(), Account::default(), Account::default()),
            _ => past(
                busy(START_US).agent,
                account(24 * 3600),
                account(7 * 24 * 3600),
            ),
        }
    }

    fn mark_hour(&self) -> Option<Result<()>> {
        Some(Ok(()))
    }
}

fn busy(at_us: u64) -> Snapshot {
    let s = (at_us - START_US) as f64 * 1e-6 + 100.0;
    let brought = |mbps: f64| (s * mbps * 125e3) as u64;
    let of = |device, address: &str, flow: FlowView| FlowView {
        device: Some(device),
        remote: end(address, 443),
        ..flow
    };
    let flows = vec![
        of(1, "198.51.100.9", download(40_001, brought(9.3), at_us)),
        of(
            2,
            "2001:db8:85a3:8d3:1319:8a2e:370:7348",
            download(40_002, brought(6.1), at_us),
        ),
        FlowView {
            wanted_bytes: None,
            queue_us: None,
            ..of(3, "203.0.113.77", download(40_003, brought(0.7), at_us))
        },
        FlowView {
            denied: true,
            ..of(3, "203.0.113.22", download(40_004, brought(0.4), at_us))
        },
        FlowView {
            direction: Direction::Up,
            queue_us: Some(9_100),
            ..of(1, "198.51.100.9", download(40_005, brought(3.5), at_us))
        },
        of(
            4,
            "192.0.2.200",
            download(40_006, 90_000, at_us - 20_000_000),
        ),
    ];
    let mut snapshot = snapshot(at_us, flows);
    snapshot.windowless = vec![quic(brought(2.2), at_us)];
    snapshot.agent.by_device = true;
    snapshot.devices = [
        (1, Some("television")),
        (2, Some(NASTY)),
        (3, None),
        (4, Some("telephone")),
    ]
    .map(|(number, name)| device(number, name))
    .into();
    let up = [(Kind::Tcp, brought(3.7)), (Kind::Quic, brought(0.1))];
    snapshot.paths = vec![
        path(&[
            (Kind::Tcp, brought(16.4)),
            (Kind::Quic, brought(2.3)),
            (Kind::TcpLeft, brought(0.4)),
        ]),
        upward(path(&up)),
    ];
    snapshot.account = account(3600);
    snapshot
}

fn upward(path: tidegate_agent::PathView) -> tidegate_agent::PathView {
    tidegate_agent::PathView {
        direction: Direction::Up,
        queue_us: 9_100,
        groups: vec![],
        ..path
    }
}

fn device(number: u32, name: Option<&str>) -> DeviceView {
    DeviceView {
        number,
        name: name.map(Into::into),
        mac: Some("02:00:5e:10:00:01".parse().unwrap()),
        address: format!("192.168.1.{number}").parse().unwrap(),
        own: false,
        weight: 1,
    }
}

fn account(seconds: u64) -> Account {
    let part = |kind, mbps: f64, reached| Part {
        kind,
        bytes: (mbps * 125e3 * seconds as f64) as u64,
        reached,
    };
    let spread = |median_us, p95_us| Spread {
        median_us,
        p95_us,
        packets: 900 * seconds,
    };
    let way = |direction, queue, kinds: Vec<Part>, left, compared| Way {
        direction,
        bytes: kinds.iter().map(|part| part.bytes).sum(),
        queue: Some(queue),
        kinds,
        left,
        compared,
    };
    let compared = Compared {
        pairs: 6,
        slots_us: 48_000_000,
        with: spread(14_000, 61_000),
        without: spread(420_000, 1_200_000),
    };
    Account {
        elapsed_us: seconds * SECOND_US,
        ways: vec![
            way(
                Direction::Down,
                spread(14_000, 61_000),
                vec![
                    part(Kind::Tcp, 8.4, true),
                    part(Kind::Quic, 1.3, false),
                    part(Kind::TcpLeft, 0.05, false),
                    part(Kind::Udp, 0.01, false),
                ],
                vec![Reason::NoScale, Reason::Denied],
                Some(compared),
            ),
            way(
                Direction::Up,
                spread(6_000, 21_000),
                vec![
                    part(Kind::Tcp, 1.4, true),
                    part(Kind::NoTimestamps, 0.1, false),
                ],
                vec![],
                None,
            ),
        ],
    }
}
