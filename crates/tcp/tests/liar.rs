//! A peer that lies about how fast it reads, beside an honest one, on a bottleneck that both share.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tidegate_tcp::{Config, Connection, FlowControl, Instant, ReadReport, ReceiveBuffer, Segment};

/// Bytes of a full packet, and microseconds it takes at 12 Mbit/s.
const PACKET: u64 = 1500;
const SERIALISATION: Duration = Duration::from_micros(1000);
/// Both ways, without the queue.
const ROUND_TRIP: Duration = Duration::from_millis(40);
/// The bottleneck's queue: a bandwidth-delay product.
const QUEUE: usize = 40;
const SECONDS: u64 = 60;

/// Changes an ACK on its way: the ACK, how many came before it, and how many of the packets to its sender were lost.
type Lie = fn(&mut Segment, u32, u32);

/// One download: a server that sends without end, and a client that reads all at once.
struct Download {
    server: Connection,
    client: Connection,
    lie: Lie,
    acks: u32,
    /// Packets that the bottleneck has dropped.
    lost: u32,
    read: u64,
}

/// Everything that has a time, in its order: arrivals at a client or a server.
#[derive(Clone, Copy)]
enum Arrival {
    Client(usize, Segment),
    Server(usize, Segment),
}

struct Bottleneck {
    now: Instant,
    downloads: Vec<Download>,
    queue: VecDeque<(usize, Segment)>,
    /// When the packet in transmission is through.
    free: Option<Instant>,
    on_the_way: BTreeMap<(Instant, u64), Arrival>,
    number: u64,
}

fn config() -> Config {
    Config {
        receive_buffer: ReceiveBuffer::Fixed(100_000),
        flow_control: FlowControl::Adaptive,
        ..Config::default()
    }
}

impl Bottleneck {
    fn new(lies: &[Lie]) -> Self {
        let now = Instant::from_millis(1000);
        let mut bottleneck = Self {
            now,
            downloads: Vec::new(),
            queue: VecDeque::new(),
            free: None,
            on_the_way: BTreeMap::new(),
            number: 0,
        };
        for &lie in lies {
            let mut client = Connection::connect(config(), now);
            let syn = client.transmit(now).unwrap();
            let mut server = Connection::accept(config(), now, &syn).unwrap();
            let answer = server.transmit(now).unwrap();
            client.receive(now, &answer);
            let ack = client.transmit(now).unwrap();
            server.receive(now, &ack);
            assert!(server.uses_afc());
            bottleneck.downloads.push(Download {
                server,
                client,
                lie,
                acks: 0,
                lost: 0,
                read: 0,
            });
        }
        bottleneck
    }

    fn post(&mut self, at: Instant, arrival: Arrival) {
        self.number += 1;
        self.on_the_way.insert((at, self.number), arrival);
    }

    /// Sends all segments that may leave.
    fn pump(&mut self) {
        for which in 0..self.downloads.len() {
            let download = &mut self.downloads[which];
            download.server.write(1 << 20);
            download.read += download.client.read(self.now, u64::MAX);
            while let Some(segment) = self.downloads[which].server.transmit(self.now) {
                if self.queue.len() < QUEUE {
                    self.queue.push_back((which, segment));
                } else {
                    self.downloads[which].lost += 1;
                }
            }
            while let Some(mut ack) = self.downloads[which].client.transmit(self.now) {
                let download = &mut self.downloads[which];
                if ack.read_rate.is_some() {
                    (download.lie)(&mut ack, download.acks, download.lost);
                    download.acks += 1;
                }
                self.post(self.now + ROUND_TRIP / 2, Arrival::Server(which, ack));
            }
        }
        if self.free.is_none_or(|free| free <= self.now) {
            self.free = self.queue.pop_front().map(|(which, segment)| {
                let full = u64::from(segment.len) + 52;
                let through = self.now + SERIALISATION * full as u32 / PACKET as u32;
                self.post(through + ROUND_TRIP / 2, Arrival::Client(which, segment));
                through
            });
        }
    }

    fn next(&self) -> Option<Instant> {
        let timers = self
            .downloads
            .iter()
            .flat_map(|d| [d.server.timeout(), d.client.timeout()])
            .flatten();
        let arrival = self.on_the_way.keys().next().map(|key| key.0);
        timers.chain(arrival).chain(self.free).min()
    }

    /// Mbit/s of each.
    fn run(mut self) -> Vec<f64> {
        let end = self.now + Duration::from_secs(SECONDS);
        self.pump();
        while let Some(next) = self.next().filter(|&at| at < end) {
            self.now = self.now.max(next);
            while let Some(first) = self
                .on_the_way
                .first_entry()
                .filter(|e| e.key().0 <= self.now)
            {
                match first.remove() {
                    Arrival::Client(which, segment) => {
                        self.downloads[which].client.receive(self.now, &segment);
                    }
                    Arrival::Server(which, segment) => {
                        self.downloads[which].server.receive(self.now, &segment);
                    }
                }
            }
            for download in &mut self.downloads {
                download.server.expire(self.now);
                download.client.expire(self.now);
            }
            self.pump();
        }
        let mbps = |d: &Download| d.read as f64 * 8.0 / 1e6 / SECONDS as f64;
        self.downloads.iter().map(mbps).collect()
    }
}

const MOST: u32 = ReadReport::MOST_KBPS;

fn reads(ack: &mut Segment, kbps: u32) {
    let told = ack.read_rate.unwrap_or_default();
    ack.read_rate = Some(ReadReport { kbps, ..told });
}

/// Claims to read fast, and to have refused `so_many`.
fn refuses(ack: &mut Segment, so_many: u32) {
    ack.read_rate = Some(ReadReport {
        kbps: MOST,
        refused: so_many as u8,
    });
}

const HONEST: Lie = |_, _, _| ();

#[test]
fn who_lies_about_its_reading_takes_nothing_from_others() {
    let lies: [(&str, Lie); 8] = [
        ("zero", |ack, _, _| reads(ack, 0)),
        ("most", |ack, _, _| reads(ack, MOST)),
        ("swings", |ack, n, _| {
            reads(ack, if n % 200 < 100 { MOST } else { 0 });
        }),
        ("most, refuses everything", |ack, n, _| refuses(ack, n)),
        ("most, refuses what is lost", |ack, _, lost| {
            refuses(ack, lost);
        }),
        ("shut, refuses everything", |ack, n, _| {
            ack.window = 0;
            refuses(ack, n);
        }),
        ("shut, refuses a few", |ack, n, _| {
            ack.window = 0;
            refuses(ack, n / 20);
        }),
        ("shut, refuses what is lost", |ack, _, lost| {
            ack.window = 0;
            refuses(ack, lost);
        }),
    ];
    let half = Bottleneck::new(&[HONEST, HONEST]).run().iter().sum::<f64>() / 2.0;
    assert!(half > 5.5, "{half} of 6 Mbit/s");
    for (name, lie) in lies {
        let mbps = Bottleneck::new(&[HONEST, lie]).run();
        eprintln!("{name}: {mbps:.2?} Mbit/s");
        assert!(mbps[0] > 0.9 * half, "{name}: {mbps:?}, half is {half}");
    }
}
