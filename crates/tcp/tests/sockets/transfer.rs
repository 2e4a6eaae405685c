//! Whatever the network does, the bytes read are the bytes written.

use crate::network::{CLIENT, Network, SERVER, Weather, v4, v6};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_tcp::cc::Algorithm;
use tidegate_tcp::wire::Addresses;
use tidegate_tcp::{Config, FlowControl, Instant, ReceiveBuffer, State};

fn data(seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Pcg64Mcg::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

/// One end of a transfer: what it writes and what it has read.
struct End {
    addresses: Addresses,
    to_write: Vec<u8>,
    written: usize,
    read: Vec<u8>,
    /// The application takes breaks as long as it reads.
    breaks: Duration,
}

impl End {
    fn new(addresses: Addresses, to_write: Vec<u8>) -> Self {
        Self {
            addresses,
            to_write,
            written: 0,
            read: Vec::new(),
            breaks: Duration::ZERO,
        }
    }

    fn is_reading(&self, now: Instant) -> bool {
        let turn = now.as_nanos().checked_div(self.breaks.as_nanos() as u64);
        turn.is_none_or(|turn| turn % 2 == 0)
    }

    /// Writes and reads as much as possible, and closes when all is written; returns whether it is done.
    fn serve(&mut self, network: &mut Network, which: usize) -> bool {
        let now = network.now;
        let socket = network.socket(which, &self.addresses);
        self.written += socket.write(&self.to_write[self.written..]);
        if self.written == self.to_write.len() {
            socket.close();
        }
        if !self.is_reading(now) {
            return false;
        }
        let socket = network.socket(which, &self.addresses);
        let mut chunk = [0; 10_000];
        loop {
            match socket.read(now, &mut chunk) {
                0 => return socket.connection().at_end() && socket.connection().all_acknowledged(),
                len => self.read.extend_from_slice(&chunk[..len]),
            }
        }
    }
}

/// `len` bytes each way; how long it took.
fn transfer(
    weather: Weather,
    seed: u64,
    config: Config,
    addresses: Addresses,
    len: usize,
) -> Duration {
    let mut network = Network::new(weather, seed, config.clone());
    let start = network.now;
    let accepted = network.connected(config, addresses);
    let (up, down) = (data(seed, len), data(!seed, len));
    let mut ends = [
        End::new(addresses, up.clone()),
        End::new(accepted, down.clone()),
    ];
    loop {
        let done = [CLIENT, SERVER].map(|which| ends[which].serve(&mut network, which));
        if done == [true; 2] {
            break;
        }
        assert!(
            network.step(),
            "nothing is on the way and nothing is waited for"
        );
        assert!(
            network.now - start < Duration::from_secs(600),
            "{:?}",
            ends.map(|end| end.read.len())
        );
    }
    assert!(
        ends[SERVER].read == up && ends[CLIENT].read == down,
        "contents"
    );
    let took = network.now - start;
    both_end_well(&mut network, addresses, accepted);
    took
}

fn both_end_well(network: &mut Network, client: Addresses, server: Addresses) {
    network.run_for(Duration::from_secs(200));
    assert_eq!(network.state(CLIENT, &client), State::Closed);
    assert_eq!(network.state(SERVER, &server), State::Closed);
    network.stacks[CLIENT].release(network.now, &client);
    network.stacks[SERVER].release(network.now, &server);
    assert!(!network.step(), "nothing is left");
    assert!(network.stacks[CLIENT].socket(&client).is_none());
}

#[test]
fn a_megabyte_each_way_in_fine_weather() {
    for addresses in [v4(), v6()] {
        let took = transfer(Weather::FINE, 1, Config::default(), addresses, 1 << 20);
        // Slow start from ten segments doubles seven times or so; 8 Mbit take 90 ms at 100 Mbit/s.
        assert!(took < Duration::from_millis(500), "{took:?}");
    }
}

#[test]
fn a_megabyte_each_way_in_every_weather() {
    for loss in [0.0, 0.01, 0.03] {
        for (reordering, duplication) in [(0.0, 0.0), (0.05, 0.0), (0.0, 0.05), (0.05, 0.05)] {
            let weather = Weather {
                loss,
                duplication,
                reordering,
            };
            for addresses in [v4(), v6()] {
                transfer(weather, 7, Config::default(), addresses, 1 << 20);
            }
        }
    }
}

#[test]
fn without_each_option() {
    let weather = Weather {
        loss: 0.02,
        duplication: 0.02,
        reordering: 0.05,
    };
    let without = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        transfer(weather, 3, config, v4(), 300_000);
    };
    without(|config| config.timestamps = false);
    without(|config| config.sack = false);
    without(|config| config.window_scaling = false);
    without(|config| {
        (config.timestamps, config.sack, config.window_scaling) = (false, false, false)
    });
}

#[test]
fn with_each_congestion_control() {
    let weather = Weather {
        loss: 0.02,
        duplication: 0.02,
        reordering: 0.05,
    };
    for &congestion_control in Algorithm::ALL {
        let config = Config {
            congestion_control: congestion_control.into(),
            ..Config::default()
        };
        transfer(weather, 13, config, v4(), 300_000);
    }
}

#[test]
fn through_small_windows_and_small_segments() {
    let weather = Weather {
        loss: 0.02,
        duplication: 0.02,
        reordering: 0.05,
    };
    for window in [3000, 20_000] {
        for mss in [100, 536, 1460] {
            let config = Config {
                mss,
                receive_buffer: ReceiveBuffer::Fixed(window),
                send_buffer: 10_000,
                ..Config::default()
            };
            transfer(weather, 5, config, v4(), 100_000);
        }
    }
}

/// Readers that stop for three round trips, with adaptive flow control and buffers that overflow: refused and
/// retransmitted bytes come once, and in order.
#[test]
fn through_adaptive_flow_control() {
    let stormy = Weather {
        loss: 0.01,
        duplication: 0.01,
        reordering: 0.02,
    };
    let config = Config {
        receive_buffer: ReceiveBuffer::Fixed(50_000),
        flow_control: FlowControl::Adaptive,
        ..Config::default()
    };
    for weather in [Weather::FINE, stormy] {
        let mut network = Network::new(weather, 17, config.clone());
        let accepted = network.connected(config.clone(), v4());
        let down = data(17, 3 << 20);
        let mut server = End::new(accepted, down.clone());
        let mut client = End::new(v4(), Vec::new());
        client.breaks = Duration::from_millis(60);
        let end = network.now + Duration::from_secs(60);
        let mut refused = 0;
        while !(client.serve(&mut network, CLIENT) & server.serve(&mut network, SERVER)) {
            let tick = network.now + Duration::from_millis(1);
            network.step_until(tick);
            let receiver = network.socket(CLIENT, &v4()).connection().receiver();
            refused = receiver.info().dropped;
            assert!(network.now < end, "{} bytes", client.read.len());
        }
        assert!(client.read == down, "contents");
        assert!(refused > 0, "the buffer never overflowed");
    }
}

#[test]
fn the_same_seed_takes_the_same_time() {
    let weather = Weather {
        loss: 0.02,
        duplication: 0.02,
        reordering: 0.05,
    };
    let times = [0; 2].map(|_| transfer(weather, 11, Config::default(), v4(), 300_000));
    assert_eq!(times[0], times[1]);
}
