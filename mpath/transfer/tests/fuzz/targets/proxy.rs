//! Target: any datagram to a proxy, as it is and with a capability that was issued for it.
//!
//! Whatever it is: a packet that passes is the one in the envelope, and goes to an allowed destination.

use std::net::{IpAddr, SocketAddr};
use tidegate_mpath::wire::{Packet, Relay, parse, write_relay};
use tidegate_overlay::proxy::Filter;
use tidegate_overlay::{Instant, Limits, Now, Secret};

const SOURCE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const NOW: Now = Now {
    unix_s: 1_800_000_000,
    instant: Instant::ZERO,
};
const END_S: u32 = 1_800_000_600;

pub fn run(data: &[u8]) {
    let (secret, proxy) = (Secret::new([1; 32]), "198.51.100.1:7481".parse().unwrap());
    let mut gate = Filter::new(secret.clone(), Limits::default(), false, NOW);
    gate.set_listed(&[proxy]);
    pass(&mut gate, data);
    let Ok(Packet::Relay(relay)) = parse(data) else {
        return;
    };
    let key = secret.proxy_key(proxy);
    let issued = key.issue(SOURCE, relay.destination, END_S);
    let mut datagram = Vec::new();
    write_relay(&mut datagram, relay.destination, &issued);
    datagram.extend(relay.packet);
    pass(&mut gate, &datagram);
    // The bytes in place of a capability are not valid for another sender.
    let Relay { capability, .. } = relay;
    let elsewhere: SocketAddr = "203.0.113.9:1".parse().unwrap();
    let checked = key.check(capability, SOURCE, elsewhere, NOW.unix_s);
    assert!(checked.is_err());
}

fn pass(gate: &mut Filter, datagram: &[u8]) {
    let Ok(pass) = gate.pass(datagram, SOURCE, NOW) else {
        return;
    };
    assert!(datagram.ends_with(pass.packet) && pass.packet.len() < datagram.len());
    let (to, port) = (
        pass.destination.ip().to_canonical(),
        pass.destination.port(),
    );
    assert!(port != 0 && !to.is_multicast() && !to.is_loopback() && !to.is_unspecified());
    assert!(!matches!(parse(pass.packet), Ok(Packet::Relay(_))));
}
