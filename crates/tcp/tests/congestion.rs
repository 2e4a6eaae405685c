//! Every congestion control over the whole of TCP: two connections and a bottleneck between them.

use std::collections::VecDeque;
use std::time::Duration;
use tidegate_tcp::cc::Algorithm;
use tidegate_tcp::{Config, Connection, Instant, Segment};

/// 12 Mbit/s: a full segment of 1500 bytes each ms.
const BYTES_PER_MS: u64 = 1500;
const IP_HEADER: u64 = 20;
const ONE_WAY: Duration = Duration::from_millis(25);
/// Bandwidth times round trip, in segments.
const PIPE: u64 = 50;

/// The path of the data: a queue that drops what does not fit. The ACKs' path only takes time.
struct Path {
    sender: Connection,
    receiver: Connection,
    now: Instant,
    /// Data that may wait, as time.
    buffer: Duration,
    idle_at: Instant,
    data: VecDeque<(Instant, Segment)>,
    acks: VecDeque<(Instant, Segment)>,
    drops: u64,
    /// Time that the segments of the second half waited, and how many these are.
    waited: Duration,
    segments: u32,
    measuring: bool,
}

impl Path {
    fn new(congestion_control: Algorithm, buffer: u64) -> Self {
        let config = Config {
            congestion_control: congestion_control.into(),
            ..Config::default()
        };
        let now = Instant::ZERO;
        let mut receiver = Connection::connect(config.clone(), now);
        let syn = receiver.transmit(now).expect("a SYN");
        Self {
            sender: Connection::accept(config, now, &syn).expect("a SYN"),
            receiver,
            now,
            buffer: Duration::from_millis(buffer),
            idle_at: now,
            data: VecDeque::new(),
            acks: VecDeque::new(),
            drops: 0,
            waited: Duration::ZERO,
            segments: 0,
            measuring: false,
        }
    }

    fn exchange(&mut self) {
        while let Some(segment) = self.sender.transmit(self.now) {
            let wait = self.idle_at - self.now;
            if wait > self.buffer {
                self.drops += 1;
                continue;
            }
            if self.measuring {
                self.waited += wait;
                self.segments += 1;
            }
            let bytes = u64::from(segment.len) + segment.header_bytes() as u64 + IP_HEADER;
            let service = Duration::from_nanos(bytes * 1_000_000 / BYTES_PER_MS);
            self.idle_at = self.now.max(self.idle_at) + service;
            self.data.push_back((self.idle_at + ONE_WAY, segment));
        }
        while let Some(segment) = self.receiver.transmit(self.now) {
            self.acks.push_back((self.now + ONE_WAY, segment));
        }
    }

    /// Bytes that the receiver reads within `time`.
    fn run(&mut self, time: Duration) -> u64 {
        let end = self.now + time;
        let mut read = 0;
        loop {
            self.sender.write(self.sender.writable());
            self.exchange();
            let next = [
                self.data.front().map(|&(at, _)| at),
                self.acks.front().map(|&(at, _)| at),
                self.sender.timeout(),
                self.receiver.timeout(),
            ];
            self.now = next
                .into_iter()
                .flatten()
                .min()
                .expect("data flow")
                .max(self.now);
            if self.now >= end {
                return read;
            }
            while let Some((_, segment)) = self.data.pop_front_if(|(at, _)| *at <= self.now) {
                self.receiver.receive(self.now, &segment);
                read += self.receiver.read(self.now, u64::MAX);
            }
            while let Some((_, segment)) = self.acks.pop_front_if(|(at, _)| *at <= self.now) {
                self.sender.receive(self.now, &segment);
            }
            self.sender.expire(self.now);
            self.receiver.expire(self.now);
        }
    }
}

/// The results of a flow alone in the second of two halves of `seconds`.
struct Outcome {
    /// Share of what the link carries.
    utilisation: f64,
    /// Mean wait in the queue, in ms.
    wait: f64,
    /// In the second half, too.
    drops: u64,
}

fn outcome(algorithm: Algorithm, buffer: u64, seconds: u64) -> Outcome {
    let mut path = Path::new(algorithm, buffer);
    let half = Duration::from_secs(seconds / 2);
    path.run(half);
    let drops = path.drops;
    path.measuring = true;
    let bytes = path.run(half);
    let capacity = (seconds / 2) as f64 * 1000.0 * 1448.0;
    Outcome {
        utilisation: bytes as f64 / capacity,
        wait: path.waited.as_secs_f64() * 1000.0 / f64::from(path.segments),
        drops: path.drops - drops,
    }
}

/// With a buffer of a pipe, halving drains the queue and no more.
#[test]
fn those_that_need_losses_fill_the_pipe_and_see_some() {
    for algorithm in [
        Algorithm::Reno,
        Algorithm::Cubic,
        Algorithm::Bic,
        Algorithm::Htcp,
        Algorithm::HighSpeed,
        Algorithm::Westwood,
    ] {
        let o = outcome(algorithm, PIPE, 120);
        assert!(o.utilisation > 0.97, "{algorithm}: {}", o.utilisation);
        assert!(o.utilisation <= 1.001, "{algorithm}: {}", o.utilisation);
        assert!(o.drops > 0, "{algorithm}");
    }
}

#[test]
fn vegas_keeps_a_few_segments_waiting_and_loses_none() {
    let o = outcome(Algorithm::Vegas, PIPE, 60);
    assert!(o.utilisation > 0.97, "{}", o.utilisation);
    assert!((1.0..=5.0).contains(&o.wait), "{} ms", o.wait);
    assert_eq!(o.drops, 0);
}

#[test]
fn ledbat_keeps_its_target_and_loses_none() {
    let o = outcome(Algorithm::Ledbat, 1000, 120);
    assert!(o.utilisation > 0.99, "{}", o.utilisation);
    assert!((85.0..=115.0).contains(&o.wait), "{} ms", o.wait);
    assert_eq!(o.drops, 0);
}
