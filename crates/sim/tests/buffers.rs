//! How much of a link a lone Reno uses, by the buffer in front of it.
//!
//! The pipe is P = C·T packets, at a rate of C and a round trip of T. A buffer of B = β·P overflows at a window of W = (1 + β)·P
//! (G. Appenzeller, I. Keslassy, N. McKeown, "Sizing router buffers", SIGCOMM 2004, section 2). From W/2 on the window grows by a
//! packet a round trip. Below P a round trip takes T, and the link carries w packets in it; above P it is full, and a round
//! trip takes w/C. So a tooth carries
//!
//! ```text
//!     ∫ w dw = ⅜·W²    packets from W/2 to W,    in    (P − W/2)·T + (W² − P²)/(2·C)    seconds
//! ```
//!
//! and the utilisation is this over C times the tooth's length:
//!
//! ```text
//!     U(β) = ¾·(1 + β)² / (1 + β + β²)    up to β = 1, and 1 above:    ¾ without a buffer
//! ```

mod common;

use common::{assert_near, run};

const PACKET: f64 = 1500.0;

/// Utilisation with a buffer of `beta` pipes.
fn sawtooth(beta: f64) -> f64 {
    match beta < 1.0 {
        true => 0.75 * (1.0 + beta) * (1.0 + beta) / (1.0 + beta + beta * beta),
        false => 1.0,
    }
}

/// A link's rate in packets a second and its delay each way.
struct Path {
    mbps: f64,
    one_way_ms: f64,
}

impl Path {
    fn rate(&self) -> f64 {
        self.mbps * 1e6 / 8.0 / PACKET
    }

    /// Packets in flight, and the one in transmission.
    fn pipe(&self) -> f64 {
        self.rate() * 2.0 * self.one_way_ms / 1e3 + 1.0
    }

    /// Packets that Linux sends in one piece: what 1.2 times the window a round trip carries in 1/1024 s, two at least
    /// (`tcp_tso_autosize`). They come at once, so that the buffer overflows when all but one of them find no room any more.
    fn train(&self) -> f64 {
        libm::floor(1.2 * self.rate() / 1024.0).max(2.0)
    }

    /// Utilisation by one download, over eight teeth after the first two.
    fn utilisation(&self, packets: f64) -> f64 {
        let top = self.pipe() + packets;
        let tooth_s = 0.375 * top * top / self.rate() + 0.01 * self.one_way_ms;
        let warmup = 10.0 + 2.0 * tooth_s;
        let link = format!("delay_ms = {}", self.one_way_ms);
        let text = format!(
            "duration_s = {}
             warmup_s = {warmup}
             down = {{ rate = {{ constant_mbps = {} }}, {link}, queue = {{ packets = {packets} }} }}
             up = {{ rate = {{ constant_mbps = 1000 }}, {link} }}
             hosts = {{ congestion_control = 'reno' }}
             workload = [{{ name = 'bulk', does = {{ bulk = {{}} }} }}]
             run = [{{ name = 'linux', window = 20000000 }}]",
            warmup + 8.0 * tooth_s,
            self.mbps
        );
        run(&text).link.utilisation
    }
}

/// Within a hundredth. A loss costs a round trip at half the window: one of at least fifty in a tooth, in which at
/// most half of the link is idle. A packet more or less in the buffer is up to 0.9 % of the pipe.
fn assert_uses(path: &Path, beta: f64) {
    let packets = libm::round(beta * path.pipe()) + path.train();
    let expected = sawtooth((packets - path.train() + 1.0) / path.pipe());
    let ours = path.utilisation(packets);
    assert_near(ours, expected, 0.01);
}

#[test]
fn without_a_buffer_reno_uses_three_quarters_and_with_a_pipe_everything() {
    for (mbps, one_way_ms) in [(5.0, 100.0), (10.0, 50.0)] {
        for beta in [0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 2.0] {
            assert_uses(&Path { mbps, one_way_ms }, beta);
        }
    }
}

/// With long trains the smallest buffer is a tenth of the pipe. A buffer that hardly holds a train overflows whenever
/// two trains meet, before the pipe is full: four packets at 50 Mbit/s and 40 ms leave 0.57.
#[test]
fn where_trains_are_long_it_is_the_rest_of_the_buffer_that_counts() {
    for (mbps, one_way_ms) in [(50.0, 20.0), (100.0, 10.0)] {
        for beta in [0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 2.0] {
            assert_uses(&Path { mbps, one_way_ms }, beta);
        }
    }
}
