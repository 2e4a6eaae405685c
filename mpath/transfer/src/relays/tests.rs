use super::*;

fn relay(port: u16, capability: usize) -> Relay {
    Relay {
        address: ([127, 0, 0, 1], port).into(),
        capability: vec![port as u8; capability],
    }
}

#[test]
fn a_known_proxy_keeps_its_number_and_gets_the_new_capability() {
    let mut relays = Relays::new(relay_header(64));
    assert_eq!(
        relays.update(&[relay(1, 32), relay(2, 32)]),
        [ProxyId(0), ProxyId(1)]
    );
    let renewed = Relay {
        capability: vec![9; 40],
        ..relay(2, 0)
    };
    assert_eq!(
        relays.update(&[renewed.clone(), relay(3, 32)]),
        [ProxyId(2)]
    );
    assert_eq!(relays.get(ProxyId(0)), Some(&relay(1, 32)));
    assert_eq!(relays.get(ProxyId(1)), Some(&renewed));
}

#[test]
fn an_envelope_that_does_not_fit_is_left_out() {
    let mut relays = Relays::new(relay_header(64));
    assert_eq!(relays.update(&[relay(1, 65), relay(2, 256)]), []);
    assert_eq!(relays.update(&[relay(1, 64)]), [ProxyId(0)]);
}
