//! TCP's rate under random loss, over a link that is never the bottleneck.
//!
//! Rates are packets in a round trip. The formulas have a `b`, the packets that are acknowledged together, since Reno
//! of their time grew by acknowledgements. Linux counts the packets that one acknowledges (`tcp_cong_avoid_ai`, in the
//! spirit of RFC 3465), so its `b` is 1 although our receivers acknowledge every other packet. With b = 2 we would lie
//! 1.4 to 1.7 times above each formula.

mod common;

use common::{assert_near, mean_and_error, session};
use std::time::Duration;

const MSS: f64 = 1448.0;
const SEEDS: u64 = 6;

/// Probabilities of loss, and packets of a run: at least some six losses, which is few (the spread of six runs shows
/// the error), and more where they are cheap.
const LOSSES: [(f64, f64); 7] = [
    (1e-5, 5e5),
    (1e-4, 2e5),
    (1e-3, 1e5),
    (3e-3, 1e5),
    (0.01, 5e4),
    (0.03, 3e4),
    (0.05, 2e4),
];

/// A sender's result after the warm-up.
struct Measured {
    /// Packets in a round trip, and the round trip in seconds.
    window: f64,
    rtt_s: f64,
    losses: u64,
    timeouts: u64,
}

/// A download of about `packets` packets with a receive window that is never full, where each packet is lost with probability
/// `p`.
fn download(sender: &str, p: f64, one_way_ms: f64, packets: f64, seed: u64) -> Measured {
    let rounds = packets / (1.3 / libm::sqrt(p));
    let seconds = rounds * 2.0 * one_way_ms / 1e3;
    // The receive window ends slow start. From there a few losses bring the window down.
    let warmup = 0.25 * seconds;
    let link = format!("rate = {{ constant_mbps = 1000 }}, delay_ms = {one_way_ms}");
    let text = format!(
        "duration_s = {}
         seed = {seed}
         down = {{ {link}, loss = {{ random = {p} }}, queue = {{ packets = 100000 }} }}
         up = {{ {link} }}
         hosts = {{ congestion_control = '{sender}' }}
         workload = [{{ name = 'bulk', does = {{ bulk = {{}} }} }}]
         run = [{{ name = 'linux', window = 4000000 }}]",
        warmup + seconds
    );
    let mut session = session(&text);
    session.advance(Duration::from_secs_f64(warmup));
    let flow = session.flow(0).expect("the download");
    let lost = session.link(0).expect("down").lost_packets;
    let mut rtts = Vec::new();
    while !session.is_over() {
        session.advance(Duration::from_millis(100));
        let srtt = session.flow(0).and_then(|flow| flow.srtt);
        rtts.push(srtt.expect("it has begun").as_secs_f64());
    }
    let end = session.flow(0).expect("the download");
    let (rtt_s, _) = mean_and_error(&rtts);
    let received = (end.received_bytes - flow.received_bytes) as f64 / MSS;
    Measured {
        window: received / seconds * rtt_s,
        rtt_s,
        losses: session.link(0).expect("down").lost_packets - lost,
        timeouts: end.timeouts - flow.timeouts,
    }
}

fn downloads(sender: &str, p: f64, one_way_ms: f64, packets: f64) -> Vec<Measured> {
    let seeds = 1..=SEEDS;
    seeds
        .map(|seed| download(sender, p, one_way_ms, packets, seed))
        .collect()
}

fn windows(runs: &[Measured]) -> (f64, f64) {
    mean_and_error(&runs.iter().map(|run| run.window).collect::<Vec<_>>())
}

/// The constant c of TCP's rate of c / √p packets a round trip, where each packet is lost with probability p by itself, and the
/// window grows by `alpha` packets a round trip and is `beta` times as large after a loss: Reno's is 1.31, as in
/// T. Ott, J. Kemperman, M. Mathis, "The stationary behavior of ideal TCP congestion avoidance" (1996), and in table 1
/// of M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm",
/// CCR 27(3), 1997, which has 1.22 for losses at equal distances.
///
/// From packet to packet the square of the window grows by 2·alpha, and with probability p becomes beta² times itself. So it is
/// Z·2·alpha / p, where Z is the sum of exponential variables of the rates 1, β⁻², β⁻⁴ …, and the rate is the harmonic mean
/// of the window over packets: √(2·alpha / p) / E[Z^(−1/2)]. Z's density is a sum of exponentials' by partial fractions.
fn random_loss_constant(alpha: f64, beta: f64) -> f64 {
    const TERMS: i32 = 60;
    // r_j / (r_j − r_k) for rates r_j and r_k = q^−j and q^−k.
    let q = beta * beta;
    let fraction = |j: i32, k: i32| 1.0 / (1.0 - libm::pow(q, f64::from(j - k)));
    let share = |k: i32| -> f64 {
        let others = (0..TERMS).filter(|&j| j != k);
        others.map(|j| fraction(j, k)).product()
    };
    // E[X^(−1/2)] of an exponential X of rate r is √(π·r).
    let terms = (0..TERMS)
        .map(|k| share(k) * libm::sqrt(std::f64::consts::PI * libm::pow(q, f64::from(-k))));
    libm::sqrt(2.0 * alpha) / terms.sum::<f64>()
}

/// Equation 3 of that paper with the constant for random losses and b = 1.
fn mathis(p: f64) -> f64 {
    random_loss_constant(1.0, 0.5) / libm::sqrt(p)
}

/// Factor on Mathis' rate for effects that he leaves out and that matter with small windows. A window is whole
/// packets, so half of it is a quarter of a packet less on average. And in recovery the window stands still for a
/// round trip, in which further losses do not count. Teeth of equal size give the factor: from m = M/2 − 1/4 to M by a
/// packet a round trip, 1/p packets in all, and then m packets in a round trip of recovery.
fn of_whole_packets(p: f64) -> f64 {
    // M² − m² = 2/p
    let top = (libm::sqrt(1.0 / 16.0 + 3.0 * (2.0 / p + 1.0 / 16.0)) - 0.25) / 1.5;
    let bottom = top / 2.0 - 0.25;
    let rate = (1.0 / p + bottom) / (top - bottom + 1.0);
    rate / libm::sqrt(1.5 / p)
}

/// Equation 32 of J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput: a simple model and its empirical
/// validation", SIGCOMM 1998, with b = 1 and without a limit of the window. The timeout is Linux's: a round trip and 200 ms.
fn padhye(p: f64, rtt_s: f64) -> f64 {
    let timeout = (rtt_s + 0.2) / rtt_s;
    let halvings = libm::sqrt(2.0 * p / 3.0);
    let timeouts = f64::min(1.0, 3.0 * libm::sqrt(3.0 * p / 8.0)) * p * (1.0 + 32.0 * p * p);
    1.0 / (halvings + timeout * timeouts)
}

/// Within a twentieth of Mathis' rate for whole packets, since lost retransmissions lengthen a recovery, by 3 % at a
/// loss of 0.05; plus chance, four standard errors of six runs.
///
/// Mathis is the ceiling. Padhye is a floor: we lie 3 to 7 % above him up to a loss of 0.01, 12 % at 0.03 and 23 % at
/// 0.05. He assumes losses at equal distances, and counts all losses of a round trip as one (1.22 in place of 1.31).
/// And with small windows his Reno times out for many losses, two in five at 0.05, while with SACK, RACK and the tail
/// loss probe we time out for one in hundreds.
#[test]
fn reno_lies_between_padhye_and_mathis() {
    for (p, packets) in LOSSES {
        let runs = downloads("reno", p, 50.0, packets);
        let (ours, error) = windows(&runs);
        let rtt_s = runs[0].rtt_s;
        let expected = mathis(p) * of_whole_packets(p);
        let (floor, ceiling) = (padhye(p, rtt_s), mathis(p));
        let chance = 4.0 * error / expected;
        assert_near(ours, expected, 0.05 + chance);
        assert!(ours > floor * (1.0 - chance) && ours < 1.25 * floor * (1.0 + chance));
        assert!(ours < ceiling * (1.0 + chance));
        let losses: u64 = runs.iter().map(|run| run.losses).sum();
        let timeouts: u64 = runs.iter().map(|run| run.timeouts).sum();
        assert!(timeouts * 100 <= losses, "{timeouts} for {losses} losses");
    }
}

/// In a short round trip CUBIC grows as a Reno that gives up less and gains less (RFC 9438 section 4.3): three tenths
/// of the window and 8/15 of a packet a round trip. The section promises Reno's rate for losses at equal distances;
/// with random losses 1.28 of 1.31 is left.
///
/// We lie two to four packets below: half a packet is rounded down at each loss, recovery costs a round trip, and the
/// window lags behind its curve as `cubic.rs` measures.
#[test]
fn cubic_in_a_short_round_trip_is_a_gentler_reno() {
    for (p, packets) in [(3e-4, 1e5), (1e-3, 1e5), (3e-3, 5e4)] {
        let (ours, error) = windows(&downloads("cubic", p, 10.0, packets));
        let expected = random_loss_constant(8.0 / 15.0, 0.7) / libm::sqrt(p);
        assert!(ours < expected + 4.0 * error, "{ours}, expected {expected}");
        assert!(
            ours > expected - 4.0 - 4.0 * error,
            "{ours}, expected {expected}"
        );
    }
}

/// The papers' printed numbers.
#[test]
fn constants_are_the_papers() {
    assert_near(random_loss_constant(1.0, 0.5), 1.3098, 1e-4);
    assert_near(random_loss_constant(0.5, 0.5), 0.93, 0.005);
    assert_near(random_loss_constant(8.0 / 15.0, 0.7), 1.28, 0.005);
}
