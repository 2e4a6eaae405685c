use super::*;

fn to_v4(address: [u8; 4]) -> Vec<u8> {
    let mut packet = vec![0; 20];
    packet[0] = 0x45;
    packet[16..].copy_from_slice(&address);
    packet
}

#[test]
fn an_address_of_its_own_has_a_way_of_its_own() {
    let exits = Exits {
        usual: Some(7),
        others: vec![
            (Ipv4Addr::new(198, 19, 0, 1).into(), Some(8)),
            (Ipv4Addr::new(198, 19, 0, 3).into(), None),
        ],
    };
    assert_eq!(exits.route(&to_v4([198, 19, 0, 1])), Some(8));
    assert_eq!(exits.route(&to_v4([198, 19, 0, 2])), Some(7));
    assert_eq!(exits.route(&to_v4([198, 19, 0, 3])), None);
    let mut v6 = vec![0; 40];
    v6[0] = 0x60;
    assert_eq!(exits.route(&v6), Some(7));
    assert_eq!(exits.route(&to_v4([0; 4])[..19]), None, "cut short");
    assert_eq!(Exits::default().route(&v6), None);
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
