use super::*;
use std::net::{Ipv4Addr, Ipv6Addr};

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1));
const CLIENT_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1));

fn packet(from: IpAddr, to: IpAddr) -> Vec<u8> {
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let header = [&[0x45; 12][..], &from.octets(), &to.octets()];
            header.concat()
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let header = [&[0x60; 8][..], &from.octets(), &to.octets()];
            header.concat()
        }
        _ => unreachable!("one version"),
    }
}

#[test]
fn an_address_of_its_own_has_a_way_of_its_own() {
    let (here, nowhere) = ([198, 19, 0, 1].into(), [198, 19, 0, 3].into());
    let here_v6 = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 1, 1).into();
    let exits = Exits {
        usual: Some(7),
        others: vec![(here, Some(8)), (nowhere, None), (here_v6, Some(9))],
    };
    let elsewhere = [198, 19, 0, 2].into();
    for (from, to, way) in [
        (CLIENT, here, Some(8)),
        (here, CLIENT, Some(8)),
        (CLIENT, elsewhere, Some(7)),
        (elsewhere, CLIENT, Some(7)),
        (CLIENT, nowhere, None),
        (CLIENT_V6, here_v6, Some(9)),
        (here_v6, CLIENT_V6, Some(9)),
        (CLIENT_V6, CLIENT_V6, Some(7)),
    ] {
        let packet = packet(from, to);
        assert_eq!(exits.route(&packet), way, "from {from} to {to}");
        assert_eq!(Exits::default().route(&packet), None);
        let cut_short = &packet[..packet.len() - 1];
        assert_eq!(exits.route(cut_short), None);
    }
}

#[test]
fn a_pair_has_a_link_each_way() {
    let topology = Topology::pair();
    let way = |from: usize| {
        let route = topology.exits[from].route(&[]).unwrap();
        topology.routes[route as usize].clone()
    };
    let over = |link, to| Route {
        links: vec![link],
        to,
    };
    assert_eq!((way(0), way(1)), (over(UP, 1), over(DOWN, 0)));
}
