//! A packet model in virtual time, just enough to judge a law: bulk senders that are never
//! loss-limited, one emulated link towards the receiver, a plain delay back.
//!
//! A sender doubles its congestion window every round trip and has nothing else to hold it back
//! than the window that the receiver's [`Flow`] advertises. Real congestion controls meet the laws
//! in the laboratory.

use std::collections::VecDeque;
use std::time::Duration;
use tidegate_laws::{Ack, Flow, Params, Path, Segment};
use tidegate_link::{Config, Instant, Link, Packet};

pub const MSS: u32 = 1448;
const HEADERS: usize = 52;
const SCALE: u8 = 10;
const KERNEL_MAX: u64 = 32 << 20;

/// The window field of a kernel that steers nothing: it begins with 64 KB and opens by two bytes
/// for each that arrives, as `tcp_grow_window` does, up to Linux's 32 MB.
fn kernel_raw(received: u64) -> u16 {
    ((64 * 1024 + 2 * received).min(KERNEL_MAX) >> SCALE) as u16
}

/// One sender.
#[derive(Clone, Debug)]
pub struct Source {
    /// When it starts; late enough for a handshake before.
    pub start: Duration,
    /// `Some((bytes, period))`: so many bytes at the start of every period; `None`: no end of data.
    pub chunks: Option<(u64, Duration)>,
}

impl Source {
    pub fn bulk(start_s: u64) -> Self {
        Self {
            start: Duration::from_secs(start_s) + Duration::from_secs(1),
            chunks: None,
        }
    }
}

/// The experiment.
pub struct Model {
    pub down: Config,
    /// Delay of the way back, and its later values.
    pub back: Vec<(Duration, Duration)>,
    pub params: Params,
    pub sources: Vec<Source>,
    pub duration: Duration,
    /// Not counted.
    pub warmup: Duration,
    /// How much faster the senders' clocks run than the receiver's, in parts per million.
    pub sender_ppm: i64,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    pub utilisation: f64,
    pub mean_delay_ms: f64,
    pub p95_delay_ms: f64,
    pub peak_delay_ms: f64,
    /// Bytes received after the warm-up, by flow.
    pub bytes: Vec<u64>,
    /// Times at which each flow's chunks were complete, in s.
    pub chunk_s: Vec<Vec<f64>>,
    /// Times that `tide` drained the queue to learn its floors.
    pub drains: u32,
    /// Mean delay in ms and delivered bytes of every 100 ms.
    pub bins: Vec<(f64, u64)>,
}

struct Data {
    flow: usize,
    seq: u32,
    tsval: u32,
    tsecr: u32,
}

impl Packet for Data {
    fn wire_bytes(&self) -> usize {
        MSS as usize + HEADERS
    }
}

struct AckOnWire {
    due: Instant,
    flow: usize,
    ack: u32,
    edge: u32,
    tsval: u32,
}

#[derive(Default)]
struct Sender {
    started: bool,
    una: u32,
    nxt: u32,
    edge: u32,
    cwnd: u64,
    available: u64,
    sent: u64,
    ts_recent: u32,
    next_chunk: Duration,
}

struct Receiver {
    flow: Flow,
    nxt: u32,
    unacked: u32,
    ts_recent: u32,
    chunk_left: u64,
    received: u64,
}

/// The receiver's timestamp; it wraps soon after the start.
fn receiver_tsval(now: Instant) -> u32 {
    ((now.as_nanos() / 1_000_000) as u32).wrapping_add(0xffff_f000)
}

/// A sender's: its clock has nothing to do with the receiver's.
fn sender_tsval(flow: usize, now: Instant, ppm: i64) -> u32 {
    let ns = now.as_nanos() as i64;
    let own_ns = ns + ns / 1_000_000 * ppm;
    ((own_ns / 1_000_000) as u32).wrapping_add(77_000 + 1_000_003 * flow as u32)
}

impl Model {
    fn back_delay(&self, now: Instant) -> Duration {
        let past = Duration::from_nanos(now.as_nanos());
        self.back
            .iter()
            .rev()
            .find(|(at, _)| *at <= past)
            .expect("begins at 0")
            .1
    }

    pub fn run(&self) -> Outcome {
        let mut link: Link<Data> = Link::new(self.down.clone(), 1);
        let mut path = Path::default();
        let mut acks: VecDeque<AckOnWire> = VecDeque::new();
        let mut senders: Vec<Sender> = self.sources.iter().map(|_| Sender::default()).collect();
        let mut receivers: Vec<Receiver> = self
            .sources
            .iter()
            .map(|s| Receiver {
                flow: Flow::default(),
                nxt: 0,
                unacked: 0,
                ts_recent: 0,
                chunk_left: s.chunks.map_or(u64::MAX, |c| c.0),
                received: 0,
            })
            .collect();
        let mut out = Outcome {
            bytes: vec![0; self.sources.len()],
            chunk_s: vec![Vec::new(); self.sources.len()],
            ..Outcome::default()
        };
        let mut delays: Vec<f64> = Vec::new();
        let mut delivered = 0u64;
        let end = Instant::ZERO + self.duration;
        let warm = Instant::ZERO + self.warmup;
        let mut now = Instant::ZERO;
        while now < end {
            // Whatever is due now: starts, acknowledgements, deliveries.
            for (i, source) in self.sources.iter().enumerate() {
                let s = &mut senders[i];
                let past = Duration::from_nanos(now.as_nanos());
                if !s.started && past >= source.start {
                    s.started = true;
                    s.cwnd = 10 * u64::from(MSS);
                    s.edge = 64 * 1024;
                    s.available = if source.chunks.is_some() {
                        0
                    } else {
                        u64::MAX / 2
                    };
                    s.next_chunk = source.start;
                    // The handshake's last acknowledgement left when its way back began.
                    let left = Instant::from_nanos(
                        now.as_nanos() - self.back_delay(now).as_nanos() as u64,
                    );
                    s.ts_recent = receiver_tsval(left);
                    let ack = Ack {
                        now_us: left.as_nanos() / 1000,
                        raw: 64,
                        scale: SCALE,
                        bare: true,
                        tsval: Some(s.ts_recent),
                        ..Ack::default()
                    };
                    receivers[i].flow.leaves(&path, &ack);
                }
                if let (true, Some((bytes, period))) = (s.started, source.chunks) {
                    if past >= s.next_chunk {
                        s.available += bytes;
                        s.next_chunk += period;
                        s.cwnd = s.cwnd.min(40 * u64::from(MSS)).max(10 * u64::from(MSS));
                    }
                }
                transmit(i, s, now, self.sender_ppm, &mut link);
            }
            while acks.front().is_some_and(|a| a.due <= now) {
                let a = acks.pop_front().expect("not empty");
                let s = &mut senders[a.flow];
                s.cwnd += u64::from(a.ack.wrapping_sub(s.una));
                s.una = a.ack;
                s.edge = a.edge;
                s.ts_recent = a.tsval;
                transmit(a.flow, s, now, self.sender_ppm, &mut link);
            }
            while let Some(d) = link.poll(now) {
                let queued_ms = d.queued.as_secs_f64() * 1e3;
                let bin = (d.due.as_nanos() / 100_000_000) as usize;
                if out.bins.len() <= bin {
                    out.bins.resize(bin + 1, (0.0, 0));
                }
                let (mean, bytes) = &mut out.bins[bin];
                *mean += (queued_ms - *mean) / (*bytes / u64::from(MSS) + 1) as f64;
                *bytes += u64::from(MSS);
                if now >= warm {
                    delays.push(queued_ms);
                    delivered += d.packet.wire_bytes() as u64;
                    out.bytes[d.packet.flow] += u64::from(MSS);
                }
                let r = &mut receivers[d.packet.flow];
                let chunk_bytes = self.sources[d.packet.flow].chunks.map_or(0, |c| c.0);
                r.chunk_left = r.chunk_left.saturating_sub(u64::from(MSS));
                let chunk_done = r.chunk_left == 0;
                if chunk_done {
                    out.chunk_s[d.packet.flow].push(now.as_nanos() as f64 / 1e9);
                    r.chunk_left = chunk_bytes;
                }
                r.nxt = d.packet.seq.wrapping_add(MSS);
                r.ts_recent = d.packet.tsval;
                r.flow.arrives(
                    &mut path,
                    &self.params,
                    &Segment {
                        now_us: now.as_nanos() / 1000,
                        seq: d.packet.seq,
                        len: MSS,
                        mss: MSS,
                        timestamps: Some((d.packet.tsval, d.packet.tsecr)),
                    },
                );
                r.unacked += 1;
                r.received += u64::from(MSS);
                if r.unacked >= 2 || chunk_done {
                    r.unacked = 0;
                    let stamp = receiver_tsval(now);
                    let raw = r.flow.leaves(
                        &path,
                        &Ack {
                            now_us: now.as_nanos() / 1000,
                            ack: r.nxt,
                            raw: kernel_raw(r.received),
                            scale: SCALE,
                            bare: true,
                            sack: false,
                            tsval: Some(stamp),
                        },
                    );
                    let mut due = now + self.back_delay(now);
                    if let Some(last) = acks.back() {
                        due = due.max(last.due);
                    }
                    acks.push_back(AckOnWire {
                        due,
                        flow: d.packet.flow,
                        ack: r.nxt,
                        edge: r.nxt.wrapping_add(u32::from(raw) << SCALE),
                        tsval: stamp,
                    });
                }
            }
            now = self.next(now, &link, &acks, &senders).min(end);
        }
        let capacity = link.capacity_bytes(warm, end) as f64;
        out.utilisation = delivered as f64 / capacity;
        out.drains = path.raw().drains;
        delays.sort_by(f64::total_cmp);
        out.mean_delay_ms = delays.iter().sum::<f64>() / delays.len().max(1) as f64;
        out.p95_delay_ms = delays.get(delays.len() * 95 / 100).copied().unwrap_or(0.0);
        out.peak_delay_ms = delays.last().copied().unwrap_or(0.0);
        out
    }

    fn next(
        &self,
        now: Instant,
        link: &Link<Data>,
        acks: &VecDeque<AckOnWire>,
        senders: &[Sender],
    ) -> Instant {
        let timers = self.sources.iter().zip(senders).filter_map(|(source, s)| {
            if !s.started {
                Some(Instant::ZERO + source.start)
            } else {
                source.chunks.map(|_| Instant::ZERO + s.next_chunk)
            }
        });
        let all = timers
            .chain(link.next_event())
            .chain(acks.front().map(|a| a.due));
        let next = all.min().unwrap_or(Instant::ZERO + self.duration);
        next.max(now)
    }
}

fn transmit(flow: usize, s: &mut Sender, now: Instant, ppm: i64, link: &mut Link<Data>) {
    while s.started && s.sent + u64::from(MSS) <= s.available {
        let outstanding = s.nxt.wrapping_sub(s.una);
        let room = s.edge.wrapping_sub(s.nxt) as i32;
        if u64::from(outstanding + MSS) > s.cwnd || room < MSS as i32 {
            return;
        }
        let data = Data {
            flow,
            seq: s.nxt,
            tsval: sender_tsval(flow, now, ppm),
            tsecr: s.ts_recent,
        };
        link.push(now, data);
        s.nxt = s.nxt.wrapping_add(MSS);
        s.sent += u64::from(MSS);
    }
}
