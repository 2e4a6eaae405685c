use super::*;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect as connect_to, socket,
};
use std::io::Write;
use std::net::{IpAddr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::AsRawFd;

fn listener() -> (TcpListener, SocketAddrV4) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    match listener.local_addr().unwrap() {
        SocketAddr::V4(address) => (listener, address),
        SocketAddr::V6(_) => unreachable!("an address of IPv4 was asked for"),
    }
}

/// A connection from that address of loopback: the client's end and the server's.
fn connect((listener, to): &(TcpListener, SocketAddrV4), from: [u8; 4]) -> (TcpStream, TcpStream) {
    let kind = (AddressFamily::Inet, SockType::Stream);
    let client = socket(kind.0, kind.1, SockFlag::SOCK_CLOEXEC, None).unwrap();
    let from = SockaddrIn::from(SocketAddrV4::new(from.into(), 0));
    bind(client.as_raw_fd(), &from).unwrap();
    connect_to(client.as_raw_fd(), &SockaddrIn::from(*to)).unwrap();
    (client.into(), listener.accept().unwrap().0)
}

/// Whether the server has ended it.
fn is_ended(client: &mut TcpStream) -> bool {
    client.set_nonblocking(true).unwrap();
    client.read(&mut [0]).is_ok()
}

#[test]
fn a_newcomer_has_a_place_however_many_a_stranger_holds() {
    let listener = listener();
    let bounds = Bounds { all: 8, network: 6 };
    let places = Places::new(bounds);
    let mut held = Vec::new();
    let mut enter = |from| {
        let (client, server) = connect(&listener, from);
        held.push((places.take(&server).unwrap(), server));
        assert!(places.taken() <= bounds.all);
        client
    };
    // Sixteen addresses in one network.
    let mut crowd: Vec<_> = (1..=16).map(|host| enter([127, 0, 1, host])).collect();
    let mut neighbour = enter([127, 0, 2, 1]);
    let mut more = [3, 4].map(|network| enter([127, 0, network, 1]));
    assert!(!is_ended(&mut neighbour) && !more.iter_mut().any(is_ended));
    // Ten gave way to others of their network, and one to a newcomer: always the oldest.
    let ended: Vec<bool> = crowd.iter_mut().map(is_ended).collect();
    let expected: Vec<bool> = (0..16).map(|n| n < 11).collect();
    assert_eq!(ended, expected);
    held.clear();
    assert_eq!(places.taken(), 0);
}

#[test]
fn there_is_one_deadline_for_all_bytes() {
    let (mut client, mut server) = connect(&listener(), [127, 0, 0, 1]);
    let drip = std::thread::spawn(move || {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(50));
            if client.write_all(&[0]).is_err() {
                return;
            }
        }
    });
    let begun = Instant::now();
    let until = begun + Duration::from_millis(300);
    let slow = read_exact_until(&mut server, &mut [0; 64], until).unwrap_err();
    assert_eq!(slow.kind(), ErrorKind::TimedOut);
    assert!(begun.elapsed() < Duration::from_millis(900));
    drop(server);
    drip.join().unwrap();
}

#[test]
fn whoever_has_a_network_has_all_of_its_addresses() {
    let of = |address: &str| network_of(address.parse::<IpAddr>().unwrap()).to_string();
    assert_eq!(of("2001:db8:1:ff00::1"), "2001:db8:1::");
    assert_eq!(of("2001:db8:2::1"), "2001:db8:2::");
    assert_eq!(of("192.0.2.77"), "192.0.2.0");
    assert_eq!(of("::ffff:192.0.2.77"), "192.0.2.0");
}
