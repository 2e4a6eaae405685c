//! The receiver against recordings of Linux's.
//!
//! `kernel/*.txt` is what Linux 6.18 received and answered over an emulated link (TUN, 20 Mbit/s
//! down, 5 up, 20 ms each way, CUBIC at the other end, an application that reads at once). The
//! same segments go into our receiver at the same times; what it answers must be what the kernel
//! answered.
//!
//! Lines: `s µs` the SYN-ACK; `d µs offset length flags age` data, with the age of the echoed
//! timestamp in ms; `a µs offset window [left-right …]` what the kernel sent, window field as it is.

use std::collections::BTreeMap;
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

struct Recording {
    began: u64,
    arrivals: Vec<(u64, Arrival)>,
    answers: Vec<Answer>,
}

fn instant(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

impl Recording {
    fn parse(text: &str) -> Self {
        let mut r = Recording {
            began: 0,
            arrivals: Vec::new(),
            answers: Vec::new(),
        };
        for line in text.lines() {
            let f: Vec<&str> = line.split(' ').collect();
            let n = |i: usize| f[i].parse::<u64>().expect("a number");
            match f[0] {
                "s" => r.began = n(1),
                "d" => r.arrivals.push((
                    n(1),
                    Arrival {
                        offset: n(2),
                        len: n(3) as u32,
                        fin: f[4].contains('F'),
                        push: f[4].contains('P'),
                        echo_age: Some(n(5) as u32),
                    },
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
        r
    }

    /// What our receiver answers to the same.
    fn replay(&self) -> (Vec<Answer>, Receiver) {
        let mut receiver = Receiver::new(&Config::default());
        let scale = receiver.scale_to_offer();
        let window = receiver.syn_window(false);
        receiver.establish(
            instant(self.began),
            Terms {
                initial: Seq(0),
                mss: 1448,
                sack: true,
                timestamps: true,
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
        for (at, arrival) in &self.arrivals {
            while let Some(due) = receiver.timeout().filter(|due| *due <= instant(*at)) {
                receiver.expire(due);
                answer(&mut receiver, due.as_nanos() / 1000);
            }
            if receiver.acceptable(arrival.offset, arrival.len) {
                receiver.segment(instant(*at), arrival);
            } else {
                receiver.refuse(instant(*at), arrival.offset, arrival.len);
            }
            answer(&mut receiver, *at);
            receiver.read(instant(*at), u64::MAX);
            answer(&mut receiver, *at);
        }
        (answers, receiver)
    }
}

#[test]
fn explore() {
    let Ok(path) = std::env::var("KTRACE") else {
        return;
    };
    let r = Recording::parse(&std::fs::read_to_string(path).unwrap());
    let (ours, _) = r.replay();
    println!("kernel {} ours {}", r.answers.len(), ours.len());
    let skip: usize = std::env::var("SKIP")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(0);
    let mut shown = 0;
    for (i, (k, o)) in r.answers.iter().zip(&ours).enumerate().skip(skip) {
        if (k.ack, k.window, &k.sack) != (o.ack, o.window, &o.sack) {
            println!("{i}\n  kernel {k:?}\n  ours   {o:?}");
            shown += 1;
            if shown > 6 {
                break;
            }
        }
    }
    let by: BTreeMap<u64, u16> = ours.iter().map(|a| (a.ack, a.window)).collect();
    for k in r.answers.iter().step_by((r.answers.len() / 60).max(1)) {
        println!(
            "{:>9} ack {:>9} kernel {:>6} ours {:?}",
            k.at,
            k.ack,
            k.window,
            by.range(..=k.ack).next_back().map(|x| x.1)
        );
    }
}
