use super::path::{LossInterval, Path};
use super::paths::Paths;
use super::{ProxyId, Sender, Transmission, shared_bottleneck};
use crate::{Config, Feedback, Gap, PathGap, PathId, PathReport};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_basics::time::Instant;

const RTT: Duration = Duration::from_millis(100);

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// A path whose last loss lies between those two times.
fn lossy(id: u32, window: f64, sent: u64, detected: u64) -> Path {
    let mut path = Path::new(PathId(id), (id > 0).then_some(0), window, at(0));
    path.loss = Some(LossInterval {
        sent: at(sent),
        detected: at(detected),
    });
    path
}

fn report(path: u32, largest: u64, lost: u64) -> PathReport {
    PathReport {
        path: PathId(path),
        largest,
        lost,
        delay: Duration::ZERO,
    }
}

/// All packets that may leave at `now`.
fn all(sender: &mut Sender, now: Instant) -> Vec<Transmission> {
    std::iter::from_fn(|| sender.transmit(now)).collect()
}

/// A sender that has had its first window acknowledged after one round trip.
fn established(config: Config, proxies: u32) -> Sender {
    let mut sender = Sender::new(config);
    sender.add_proxies((0..proxies).map(ProxyId));
    sender.write(1 << 40);
    assert_eq!(all(&mut sender, at(0)).len(), 10);
    sender.receive(
        at(100),
        &Feedback {
            next: 10,
            limit: 10_000,
            reports: vec![report(0, 9, 0)],
            ..Feedback::default()
        },
    );
    sender
}

/// Equation 3.6: x₀/2 + α·xₚ/2 and (1 − α)·xₚ/2, where both have been halved already.
#[test]
fn a_shared_loss_moves_alpha_of_the_proxied_window() {
    let mut direct = lossy(0, 40.0, 100, 200);
    let mut proxied = [lossy(1, 20.0, 150, 260)];
    let emptied = shared_bottleneck::aggregate(0.5, &mut direct, &mut proxied);
    assert!(emptied.is_empty());
    assert_eq!((direct.window, proxied[0].window), (50.0, 10.0));
    // Once for each loss.
    shared_bottleneck::aggregate(0.5, &mut direct, &mut proxied);
    assert_eq!((direct.window, proxied[0].window), (50.0, 10.0));
}

/// "The upper bound w₀/Σwⱼ": the direct path doubles at most.
#[test]
fn the_direct_window_at_most_doubles() {
    let mut direct = lossy(0, 5.0, 100, 200);
    let mut proxied = [lossy(1, 60.0, 100, 200), lossy(2, 40.0, 100, 200)];
    shared_bottleneck::aggregate(0.5, &mut direct, &mut proxied);
    assert_eq!(direct.window, 10.0);
    assert_eq!(proxied.map(|path| path.window), [57.0, 38.0]);
}

#[test]
fn losses_at_other_times_move_nothing() {
    let mut direct = lossy(0, 40.0, 100, 200);
    let mut proxied = [lossy(1, 20.0, 201, 300), lossy(2, 20.0, 0, 99)];
    assert!(shared_bottleneck::aggregate(0.5, &mut direct, &mut proxied).is_empty());
    assert_eq!(direct.window, 40.0);
}

#[test]
fn less_than_a_packet_is_no_path() {
    let mut direct = lossy(0, 40.0, 100, 200);
    let mut proxied = [lossy(1, 1.5, 100, 200), lossy(2, 4.0, 100, 200)];
    let emptied = shared_bottleneck::aggregate(0.5, &mut direct, &mut proxied);
    assert_eq!(emptied, [PathId(1)]);
}

/// Windows of the direct and two proxied paths after many increases from 10, 10 and 10.
fn grown(clean: [bool; 2]) -> [f64; 3] {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut paths = Paths::new(10);
    for place in 0..2 {
        paths.create(at(0), place, RTT);
    }
    let (direct, proxied) = paths.split_mut();
    direct.threshold = 0.0;
    let loss = lossy(1, 1.0, 0, 1).loss;
    for (path, clean) in proxied.iter_mut().zip(clean) {
        path.window = 10.0;
        path.heard = Some(at(5));
        path.loss = loss.filter(|_| !clean);
    }
    for _ in 0..30_000 {
        paths.grow(at(6), PathId::DIRECT, 1, RTT, &mut random);
    }
    let mut windows = paths.iter().map(|path| path.window);
    [(); 3].map(|()| windows.next().unwrap())
}

/// Equation 3.1: with ρ = 1, P = 1; with ρ = 0 in proportion to the windows.
#[test]
fn increases_go_where_equation_3_1_says() {
    let [direct, first, second] = grown([true, true]);
    assert_eq!(direct, 10.0);
    assert!((first / second - 1.0).abs() < 0.2, "{first} {second}");
    // The sum grows by one for each W delivered: W² grows by 2 with each packet.
    let total = direct + first + second;
    assert!(
        (total - (900.0_f64 + 60_000.0).sqrt()).abs() < 2.0,
        "{total}"
    );
    // Paths without a loss go before those with one.
    let [_, first, second] = grown([true, false]);
    assert!(first > 100.0 && second == 10.0, "{first} {second}");
    let [direct, ..] = grown([false, false]);
    assert!(direct > 20.0, "{direct}");
}

/// Section 3.1.1: a probe each 250 ms, twice for each proxy that does not answer within τ.
#[test]
fn proxies_are_probed_twice_and_given_up() {
    let mut sender = established(Config::default(), 1);
    let mut probes = Vec::new();
    for ms in (100..3000).step_by(10) {
        sender.expire(at(ms));
        let sent = all(&mut sender, at(ms));
        probes.extend(sent.iter().filter(|t| t.proxy.is_some()).map(|_| ms));
    }
    let [first, second] = probes[..] else {
        panic!("{probes:?}")
    };
    assert_eq!(first, 100);
    assert!((250..=260).contains(&(second - first)), "{probes:?}");
    assert!(sender.wants_proxies());
    assert_eq!(sender.info().usable_proxies, 0);
}

/// β of the direct path's window, and only when all that exist have had a loss.
#[test]
fn a_loss_creates_paths_through_available_proxies() {
    let config = Config {
        beta: 0.05,
        ..Config::default()
    };
    let mut sender = established(config, 40);
    let mut now = 100;
    let mut next = 10;
    // Long enough for forty probes, a packet of the direct path for each.
    while sender.info().usable_proxies < 40 {
        now += 100;
        for Transmission { data, .. } in all(&mut sender, at(now)) {
            next = next.max(data.path_seq + 1);
            sender.receive(
                at(now + 100),
                &Feedback {
                    limit: 1 << 20,
                    reports: vec![report(data.path.0, data.path_seq, 0)],
                    ..Feedback::default()
                },
            );
        }
    }
    while sender
        .transmit(at(now + 200))
        .is_none_or(|t| t.proxy.is_some())
    {
        now += 1;
    }
    all(&mut sender, at(now + 200));
    // In slow start some are paced.
    all(&mut sender, at(now + 250));
    let lost = PathGap {
        path: PathId::DIRECT,
        gap: Gap {
            first: next,
            count: 1,
        },
    };
    let window = sender.info().window;
    sender.receive(
        at(now + 300),
        &Feedback {
            reports: vec![report(0, next + 1, 1)],
            lost: vec![lost],
            ..Feedback::default()
        },
    );
    let proxied = sender.paths().count() - 1;
    assert_eq!(proxied, (window * 0.05).ceil() as usize);
    let direct = sender.paths().next().unwrap();
    assert_eq!(direct.window, window / 2.0);
}

/// Section 3.1.2: the count of losses shows when there were none.
#[test]
fn a_late_packet_gives_the_window_back() {
    let mut sender = established(Config::default(), 0);
    for ms in 100..200 {
        all(&mut sender, at(ms));
    }
    let before = sender.info().window;
    let lost = |lost| Feedback {
        next: 10,
        limit: 10_000,
        reports: vec![report(0, 12, lost)],
        ..Feedback::default()
    };
    sender.receive(at(210), &lost(2));
    assert_eq!(sender.info().window, before / 2.0);
    sender.receive(at(215), &lost(0));
    assert_eq!(sender.info().window, before);
}

/// "When the sender receives a SNACK, it retransmits … but does not modify the congestion window."
#[test]
fn a_request_for_what_is_gone_is_answered_and_for_what_is_under_way_not() {
    let mut sender = established(Config::default(), 0);
    for ms in 100..200 {
        all(&mut sender, at(ms));
    }
    let window = sender.info().window;
    let missing = |first, count| Feedback {
        next: 10,
        limit: 10_000,
        missing: vec![Gap { first, count }],
        ..Feedback::default()
    };
    sender.receive(at(200), &missing(10, 5));
    assert!(!all(&mut sender, at(200)).iter().any(|t| t.data.stream < 15));
    // The path has reported later packets: these are no longer in flight, whatever became of them.
    let told = Feedback {
        reports: vec![report(0, 14, 0)],
        ..missing(10, 2)
    };
    sender.receive(at(210), &told);
    let again: Vec<u64> = (210..230)
        .flat_map(|ms| all(&mut sender, at(ms)))
        .map(|t| t.data.stream)
        .filter(|&stream| stream < 15)
        .collect();
    assert_eq!(again, [10, 11]);
    assert!(sender.info().window >= window);
}

#[test]
fn a_timeout_starts_the_direct_path_slowly() {
    let mut sender = established(Config::default(), 0);
    all(&mut sender, at(150));
    let due = sender.timeout().unwrap();
    for ms in 100..2000 {
        sender.expire(at(ms));
    }
    assert!(due < at(2000));
    assert_eq!(sender.info().timeouts, 1);
    assert_eq!(sender.info().window, 1.0);
}

/// A flow of five packets a round trip does not grow a window from which a burst could come.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut sender = established(Config::default(), 0);
    let mut largest = 9;
    for round in 1..50 {
        for n in 0..5 {
            let sent = sender.transmit(at(100 * round + 10 * n));
            largest = sent.expect("the window is open").data.path_seq;
        }
        let feedback = Feedback {
            limit: 10_000,
            reports: vec![report(0, largest, 0)],
            ..Feedback::default()
        };
        sender.receive(at(100 * round + 99), &feedback);
    }
    let window = sender.info().window;
    assert!((20.0..40.0).contains(&window), "{window}");
}

/// For a near receiver τ is shorter than the time for which the receiver may delay its answer.
#[test]
fn a_probe_is_waited_for_longer_than_its_answer_may_be_kept_back() {
    let mut sender = Sender::new(Config::default());
    sender.add_proxies([ProxyId(0)]);
    sender.write(1 << 20);
    let acknowledge = |sender: &mut Sender, now, path, largest| {
        let feedback = Feedback {
            limit: 10_000,
            reports: vec![report(path, largest, 0)],
            ..Feedback::default()
        };
        sender.receive(now, &feedback);
    };
    all(&mut sender, at(0));
    acknowledge(&mut sender, at(1), 0, 9);
    let sent = all(&mut sender, at(1));
    let probe = sent.iter().find(|t| t.proxy.is_some()).expect("a probe");
    sender.expire(at(12));
    acknowledge(&mut sender, at(12), probe.data.path.0, 0);
    assert_eq!(sender.info().usable_proxies, 1);
}

/// After a timeout the receiver's count also includes losses from before it.
#[test]
fn losses_that_a_timeout_has_dealt_with_do_not_count_again() {
    let mut sender = established(Config::default(), 0);
    let (mut now, mut lost) = (at(200), 0);
    while sender.info().timeouts == 0 {
        lost += all(&mut sender, now).len() as u64;
        now = now.max(sender.timeout().unwrap());
        sender.expire(now);
    }
    assert!(lost > 5);
    let mut windows = Vec::new();
    for _ in 0..3 {
        // At the pace of slow start they need half a round trip to leave.
        let sent = [now, now + RTT / 2].map(|at| all(&mut sender, at));
        let largest = sent.concat().last().unwrap().data.path_seq;
        now += RTT;
        let feedback = Feedback {
            next: 10,
            limit: 10_000,
            reports: vec![report(0, largest, lost)],
            ..Feedback::default()
        };
        sender.receive(now, &feedback);
        windows.push(sender.info().window);
    }
    assert!(windows.is_sorted() && windows[2] > 3.0, "{windows:?}");
}
