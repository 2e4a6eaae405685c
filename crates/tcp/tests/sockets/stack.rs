//! Which socket gets a packet.

use crate::network::{CLIENT, Network, PORT, SERVER, Weather, v4, v6};
use std::net::SocketAddr;
use std::time::Duration;
use tidegate_tcp::wire::{self, Addresses, Malformed};
use tidegate_tcp::{Config, Ending, Flags, Segment, Seq, State};

fn packet(addresses: &Addresses, segment: Segment) -> Vec<u8> {
    let mut packet = Vec::new();
    let payload = vec![b'x'; segment.len as usize];
    wire::write(&mut packet, addresses, &segment, [&payload, &[]]);
    packet
}

/// The only answer to `segment`, at a server without connections.
fn answer(addresses: &Addresses, segment: Segment) -> Option<Segment> {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    let answers = network.inject(SERVER, &packet(addresses, segment));
    assert!(answers.len() <= 1);
    let parsed = wire::parse(answers.first()?).unwrap();
    assert_eq!(parsed.addresses, addresses.reversed());
    Some(parsed.segment)
}

fn unheard() -> Addresses {
    let to = SocketAddr::new(v4().destination().ip(), PORT + 1);
    Addresses::new(v4().source(), to).unwrap()
}

/// RFC 9293 §3.10.7.1.
#[test]
fn ports_that_nobody_listens_on_refuse() {
    let syn = Segment {
        seq: Seq(u32::MAX),
        flags: Flags::SYN,
        len: 3,
        ..Segment::default()
    };
    let reset = Segment {
        ack: Seq(3),
        flags: Flags::RST.with(Flags::ACK),
        ..Segment::default()
    };
    assert_eq!(
        answer(&unheard(), syn),
        Some(reset),
        "three bytes and the SYN"
    );

    let ack = Segment {
        seq: Seq(5),
        ack: Seq(77),
        flags: Flags::ACK,
        ..Segment::default()
    };
    let reset = Segment {
        seq: Seq(77),
        flags: Flags::RST,
        ..Segment::default()
    };
    assert_eq!(answer(&unheard(), ack), Some(reset));

    let rst = Segment {
        flags: Flags::RST,
        ..ack
    };
    assert_eq!(answer(&unheard(), rst), None, "a reset is never answered");
}

/// RFC 9293 §3.10.7.2.
#[test]
fn a_listening_port_wants_a_syn() {
    let ack = Segment {
        seq: Seq(5),
        ack: Seq(77),
        flags: Flags::ACK,
        ..Segment::default()
    };
    let reset = Segment {
        seq: Seq(77),
        flags: Flags::RST,
        ..Segment::default()
    };
    assert_eq!(answer(&v4(), ack), Some(reset));
    let syn_ack = Segment {
        flags: Flags::SYN.with(Flags::ACK),
        ..ack
    };
    assert_eq!(answer(&v4(), syn_ack), Some(reset));
    let nothing = Segment {
        flags: Flags::FIN,
        ..ack
    };
    assert_eq!(answer(&v4(), nothing), None, "neither SYN nor ACK");
    let syn = Segment {
        flags: Flags::SYN,
        ..ack
    };
    let answer = answer(&v4(), syn).unwrap();
    assert_eq!(
        (answer.flags, answer.ack),
        (Flags::SYN.with(Flags::ACK), Seq(6))
    );
}

#[test]
fn malformed_packets_are_reported() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    let now = network.now;
    assert_eq!(
        network.stacks[SERVER].receive(now, &[0x45; 3]),
        Err(Malformed::Truncated)
    );
}

#[test]
fn segments_fit_the_device_in_either_version() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    for (addresses, mss) in [(v4(), 1460), (v6(), 1440)] {
        let now = network.now;
        assert!(network.stacks[CLIENT].connect(now, Config::default(), None, addresses));
        let mut syn = Vec::new();
        assert!(network.stacks[CLIENT].transmit(now, &mut syn));
        assert_eq!(wire::parse(&syn).unwrap().segment.syn.mss, Some(mss));
    }
}

#[test]
fn connecting_to_a_closed_port_fails() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    network.connect(Config::default(), unheard());
    network.run_for(Duration::from_secs(1));
    assert_eq!(
        network.socket(CLIENT, &unheard()).connection().ending(),
        Some(Ending::Reset)
    );
}

#[test]
fn addresses_in_use_cannot_be_connected_again() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    network.connected(Config::default(), v4());
    let now = network.now;
    assert!(!network.stacks[CLIENT].connect(now, Config::default(), None, v4()));
}

#[test]
fn many_connections_keep_their_bytes_apart() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    let client = |port: u16| {
        let from = SocketAddr::new(v4().source().ip(), port);
        Addresses::new(from, v4().destination()).unwrap()
    };
    let ports = 2000..2050;
    for port in ports.clone() {
        network.connect(Config::default(), client(port));
        let addresses = client(port);
        assert_eq!(
            network
                .socket(CLIENT, &addresses)
                .write(&port.to_be_bytes()),
            2
        );
    }
    network.run_for(Duration::from_millis(100));
    for _ in ports.clone() {
        let accepted = network.stacks[SERVER].accept(PORT).unwrap();
        let now = network.now;
        let mut bytes = [0; 10];
        assert_eq!(network.socket(SERVER, &accepted).read(now, &mut bytes), 2);
        assert_eq!(bytes[..2], accepted.destination().port().to_be_bytes());
    }
    assert_eq!(network.stacks[SERVER].accept(PORT), None);
}

#[test]
fn what_is_released_ends_in_good_order_and_is_forgotten() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    let accepted = network.connected(Config::default(), v4());
    network.socket(CLIENT, &v4()).write(b"last words");
    network.stacks[CLIENT].release(network.now, &v4());
    assert!(network.stacks[CLIENT].socket(&v4()).is_none());
    network.run_for(Duration::from_millis(200));
    let now = network.now;
    let mut words = [0; 20];
    assert_eq!(network.socket(SERVER, &accepted).read(now, &mut words), 10);
    assert!(network.socket(SERVER, &accepted).connection().at_end());
    network.stacks[SERVER].release(network.now, &accepted);
    network.run_for(Duration::from_secs(100));
    assert!(!network.step(), "TIME-WAIT is over");
}

/// RFC 2525 §2.17.
#[test]
fn what_is_left_unread_is_told_by_a_reset() {
    for released_first in [true, false] {
        let mut network = Network::new(Weather::FINE, 1, Config::default());
        let accepted = network.connected(Config::default(), v4());
        if released_first {
            network.stacks[SERVER].release(network.now, &accepted);
        }
        network.socket(CLIENT, &v4()).write(b"hello?");
        network.run_for(Duration::from_millis(100));
        if !released_first {
            network.stacks[SERVER].release(network.now, &accepted);
        }
        network.run_for(Duration::from_millis(100));
        let ending = network.socket(CLIENT, &v4()).connection().ending();
        assert_eq!(ending, Some(Ending::Reset));
    }
}

/// RFC 9293 §3.10.7.4, TIME-WAIT.
#[test]
fn a_new_connection_replaces_one_in_time_wait() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    let first = network.connected(Config::default(), v4());
    // The server closes first, so TIME-WAIT is at its end.
    network.stacks[SERVER].release(network.now, &first);
    network.run_for(Duration::from_millis(100));
    network.stacks[CLIENT].release(network.now, &v4());
    network.run_for(Duration::from_millis(100));
    let again = network.connected(Config::default(), v4());
    assert_eq!(network.state(SERVER, &again), State::Established);
}

/// Linux's `tcp_fin_timeout` is for connections whose application is gone.
#[test]
fn half_closed_connections_wait_for_the_other_half_unless_released() {
    let mut network = Network::new(Weather::FINE, 1, Config::default());
    let accepted = network.connected(Config::default(), v4());
    network.socket(CLIENT, &v4()).close();
    network.run_for(Duration::from_secs(10_000));
    assert_eq!(network.state(CLIENT, &v4()), State::FinWait2);
    network.socket(SERVER, &accepted).write(b"late");
    network.run_for(Duration::from_secs(1));
    let now = network.now;
    assert_eq!(network.socket(CLIENT, &v4()).read(now, &mut [0; 10]), 4);

    network.stacks[CLIENT].release(now, &v4());
    network.run_for(Duration::from_secs(61));
    network.socket(SERVER, &accepted).write(b"too late");
    network.run_for(Duration::from_secs(1));
    let ending = network.socket(SERVER, &accepted).connection().ending();
    assert_eq!(ending, Some(Ending::Reset));
}
