//! The receiver against recordings of Linux's.
//!
//! `kernel/*.txt` are the segments that Linux 6.18 received and sent over an emulated link (TUN, 20 Mbit/s down, 5 up,
//! 20 ms each way, CUBIC at the other end, an application that reads at once). Our receiver gets the same segments at
//! the same times, and must answer as the kernel did.
//!
//! Lines: `s µs` the SYN-ACK; `d µs offset length flags age` data, with the age of the echoed timestamp in ms or `-`;
//! `r µs bytes` bytes that the application read, without such lines everything at once; `a µs offset window [left-right
//! …]` an ACK of the kernel's, with its window field.

use std::time::Duration;
use tidegate_tcp::receive::{Arrival, Receiver, Terms};
use tidegate_tcp::{Config, Instant, Seq};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    at: u64,
    ack: u64,
    window: u16,
    sack: Vec<(u64, u64)>,
}

enum Event {
    Arrival(Arrival),
    Read(u64),
}

struct Recording {
    began: u64,
    events: Vec<(u64, Event)>,
    reads: bool,
    timestamps: bool,
    answers: Vec<Answer>,
}

fn instant(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

impl Recording {
    fn parse(text: &str) -> Self {
        let mut r = Recording {
            began: 0,
            events: Vec::new(),
            reads: false,
            timestamps: false,
            answers: Vec::new(),
        };
        for line in text.lines() {
            let f: Vec<&str> = line.split(' ').collect();
            let n = |i: usize| f[i].parse::<u64>().expect("a number");
            match f[0] {
                "s" => r.began = n(1),
                "r" => {
                    r.reads = true;
                    r.events.push((n(1), Event::Read(n(2))));
                }
                "d" => r.events.push((
                    n(1),
                    Event::Arrival(Arrival {
                        offset: n(2),
                        len: n(3) as u32,
                        fin: f[4].contains('F'),
                        push: f[4].contains('P'),
                        echo_age: f[5].parse().ok(),
                        ..Arrival::default()
                    }),
                )),
                "a" => r.answers.push(Answer {
                    at: n(1),
                    ack: n(2),
                    window: n(3) as u16,
                    sack: f[4..]
                        .iter()
                        .map(|b| {
                            let (left, right) = b.split_once('-').expect("a block");
                            (left.parse().expect("left"), right.parse().expect("right"))
                        })
                        .collect(),
                }),
                other => panic!("line of kind {other}"),
            }
        }
        r.timestamps = r
            .events
            .iter()
            .any(|(_, event)| matches!(event, Event::Arrival(a) if a.echo_age.is_some()));
        r
    }

    /// Our receiver's answers to the same segments.
    fn replay(&self) -> (Vec<Answer>, Receiver) {
        let mut receiver = Receiver::new(&Config::default());
        let scale = receiver.scale_to_offer();
        let window = receiver.syn_window(false);
        receiver.establish(
            instant(self.began),
            Terms {
                initial: Seq(0),
                mss: if self.timestamps { 1448 } else { 1460 },
                sack: true,
                timestamps: self.timestamps,
                scale,
                window,
                rtt: Some(Duration::from_millis(40)),
            },
        );
        receiver.acknowledge();
        let mut answers = Vec::new();
        let mut answer = |receiver: &mut Receiver, at: u64| {
            if receiver.ack_due() {
                let ad = receiver.advertise(instant(at), true);
                let blocks = ad.sack.as_slice().iter();
                answers.push(Answer {
                    at,
                    ack: ad.ack,
                    window: ad.window,
                    sack: blocks.map(|b| (b.0.0.into(), b.1.0.into())).collect(),
                });
            }
        };
        answer(&mut receiver, self.began);
        for (at, event) in &self.events {
            while let Some(due) = receiver.timeout().filter(|due| *due <= instant(*at)) {
                receiver.expire(due);
                answer(&mut receiver, due.as_nanos() / 1000);
            }
            match event {
                Event::Arrival(a) if receiver.acceptable(a.offset, a.len) => {
                    receiver.segment(instant(*at), a);
                }
                Event::Arrival(a) => receiver.refuse(instant(*at), a.offset, a.len),
                Event::Read(bytes) => assert_eq!(receiver.read(instant(*at), *bytes), *bytes),
            }
            answer(&mut receiver, *at);
            if !self.reads {
                receiver.read(instant(*at), u64::MAX);
                answer(&mut receiver, *at);
            }
        }
        (answers, receiver)
    }
}

impl Recording {
    /// The answers of both, by their place.
    fn pairs<'a>(&'a self, ours: &'a [Answer]) -> impl Iterator<Item = (&'a Answer, &'a Answer)> {
        self.answers.iter().zip(ours)
    }

    /// How many acknowledge the same, from the first on.
    fn agree(&self, ours: &[Answer]) -> usize {
        let same = |(k, o): &(&Answer, &Answer)| (k.ack, &k.sack) == (o.ack, &o.sack);
        self.pairs(ours).take_while(same).count()
    }

    /// Largest difference of the windows, as a share of the kernel's.
    fn worst_window(&self, ours: &[Answer]) -> f64 {
        self.pairs(ours)
            .map(|(k, o)| f64::from(k.window.abs_diff(o.window)) / f64::from(k.window))
            .fold(0.0, f64::max)
    }
}

/// 1.6 s from the first byte: quick ACKs, then every second segment, and a window that follows the
/// sender's slow start. Where the kernel saw a round trip end a segment earlier, its window grows a
/// segment earlier, and the pairs of segments that it acknowledges are shifted by one from then on.
#[test]
fn acknowledges_a_start_as_linux_does() {
    let recording = Recording::parse(include_str!("kernel/start.txt"));
    let (ours, receiver) = recording.replay();
    let agree = recording.agree(&ours);
    assert!(agree >= 100, "the first {agree}");
    let (kernel, count) = (recording.answers.len(), ours.len());
    assert!(
        kernel.abs_diff(count) * 100 <= kernel,
        "{count} for {kernel}"
    );
    let worst = recording.worst_window(&ours);
    assert!(worst < 0.05, "windows differ by {worst}");
    assert_eq!(receiver.info().mss, 1448);
}

/// 5 s at 2 % loss: duplicate ACKs, SACK blocks, ACKs that cover several segments, and a window that leaves room for
/// the data beyond the holes.
#[test]
fn acknowledges_losses_as_linux_does() {
    let recording = Recording::parse(include_str!("kernel/loss.txt"));
    let (ours, receiver) = recording.replay();
    assert_eq!(recording.answers.len(), ours.len());
    let differences = recording
        .pairs(&ours)
        .filter(|(k, o)| (k.ack, &k.sack) != (o.ack, &o.sack));
    assert!(differences.count() <= 2);
    let worst = recording.worst_window(&ours);
    assert!(worst < 0.02, "windows differ by {worst}");
    // The last line of `ss`: rb3846307, rcv_space:144800.
    let info = receiver.info();
    assert!(info.buffer.abs_diff(3_846_307) < 3_846_307 / 50, "{info:?}");
    assert!(info.space.abs_diff(144_800) < 144_800 / 20, "{info:?}");
}

/// An application that reads 20 000 bytes every 20 ms, less than arrives: windows that close as it falls behind and
/// open again, and a buffer that need not grow. The kernel frees a segment's memory with its last byte, which makes a
/// difference of up to a segment.
#[test]
fn acknowledges_a_slow_reader_as_linux_does() {
    let recording = Recording::parse(include_str!("kernel/slow-reader.txt"));
    let (ours, receiver) = recording.replay();
    let (kernel, count) = (recording.answers.len(), ours.len());
    assert!(kernel.abs_diff(count) <= 1, "{count} for {kernel}");
    let worst = recording.worst_window(&ours);
    assert!(worst < 0.05, "windows differ by {worst}");
    // The line of `ss`: rb216851, rcv_space:26064.
    let info = receiver.info();
    assert_eq!((info.buffer, info.space), (216_851, 26_064));
}

/// 0.6 s without timestamps, so that the smallest time of a window's worth is the round trip, and
/// with a hole of half a megabyte.
#[test]
fn acknowledges_without_timestamps_as_linux_does() {
    let recording = Recording::parse(include_str!("kernel/no-timestamps.txt"));
    let (ours, receiver) = recording.replay();
    let agree = recording.agree(&ours);
    assert!(agree >= 300, "the first {agree}");
    // The line of `ss`: rb5474383, rcv_space:353320, rcv_rtt:48.818. A round trip that ends two segments earlier makes
    // 2 % of the buffer.
    let info = receiver.info();
    assert_eq!(info.rtt, Some(Duration::from_micros(48_818)));
    assert!(info.space.abs_diff(353_320) <= 2 * 1460, "{info:?}");
    assert!(info.buffer.abs_diff(5_474_383) < 5_474_383 / 40, "{info:?}");
}
