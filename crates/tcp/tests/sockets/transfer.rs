//! Whatever the network does, the bytes read are the bytes written.

use crate::network::{CLIENT, Network, PORT, SERVER, Weather, v4, v6};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_tcp::cc::Algorithm;
use tidegate_tcp::steer::{Arrival, LawFactory, OwnLaw};
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
    both_ways(&mut network, (addresses, accepted), seed, len) - start
}

/// `len` bytes each way between a client and a server that are connected; when that had ended.
fn both_ways(
    network: &mut Network,
    (client, server): (Addresses, Addresses),
    seed: u64,
    len: usize,
) -> Instant {
    let start = network.now;
    let (up, down) = (data(seed, len), data(!seed, len));
    let mut ends = [End::new(client, up.clone()), End::new(server, down.clone())];
    loop {
        let done = [CLIENT, SERVER].map(|which| ends[which].serve(network, which));
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
    let end = network.now;
    both_end_well(network, client, server);
    end
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

/// Windows of up to this many bytes, as chance has it; counts what it was told.
#[derive(Debug)]
struct Whims {
    random: Pcg64Mcg,
    most: u32,
    in_order: u64,
}

impl OwnLaw for Whims {
    fn arrives(&mut self, arrival: &Arrival) -> Option<u32> {
        assert!(arrival.in_order_bytes >= self.in_order && arrival.bytes > 0);
        assert!(arrival.read_bytes <= arrival.in_order_bytes);
        self.in_order = arrival.in_order_bytes;
        Some(self.random.random_range(0..=self.most))
    }
}

/// Laws of the caller's own at both ends: no byte is lost, and 20 kB a round trip of 20 ms take a second for 1 MB.
#[test]
fn with_laws_of_the_callers_own() {
    let stormy = Weather {
        loss: 0.01,
        duplication: 0.02,
        reordering: 0.03,
    };
    let law = |most| {
        LawFactory::new("whims", move || {
            let random = Pcg64Mcg::seed_from_u64(19);
            Box::new(Whims {
                random,
                most,
                in_order: 0,
            })
        })
    };
    for (weather, most) in [(Weather::FINE, 20_000), (stormy, 60_000)] {
        let mut network = Network::new(weather, 19, Config::default());
        network.stacks[SERVER].listen(PORT, Config::default(), Some(law(most)));
        let start = network.now;
        network.connect_steered(Config::default(), Some(&law(most)), v4());
        let accepted = network.accepted();
        let took = both_ways(&mut network, (v4(), accepted), 19, 1 << 20) - start;
        assert!(
            took > Duration::from_secs(1),
            "with at most {most} bytes: {took:?}"
        );
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
