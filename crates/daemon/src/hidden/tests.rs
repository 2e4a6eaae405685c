use super::{Hidden, Stack, pppoe};
use tidegate_linux::netfilter::Flowtable;
use tidegate_linux::rtnetlink::Link;

fn link(index: u32, name: &str) -> Link {
    Link {
        name: name.into(),
        index,
        ..Link::default()
    }
}

/// `eth0` with a VLAN, `eth1` in a bridge, and PPPoE over the VLAN.
fn stack() -> Stack {
    let vlan = Link {
        lower: Some(1),
        ..link(3, "eth0.7")
    };
    let port = Link {
        bridge: Some(4),
        ..link(2, "eth1")
    };
    let ppp = Link {
        is_ppp: true,
        ..link(5, "ppp0")
    };
    Stack {
        links: vec![link(1, "eth0"), port, vlan, link(4, "br0"), ppp],
        pppoe: vec!["eth0.7".into()],
    }
}

fn table(devices: &[&str], hardware: bool) -> Flowtable {
    Flowtable {
        name: "ft".into(),
        devices: devices.iter().map(|name| (*name).into()).collect(),
        hardware,
    }
}

fn hidden(tables: &[Flowtable], interface: &str) -> Option<Hidden> {
    Hidden::by(tables, &[interface.into()], &stack())
}

#[test]
fn software_hides_what_is_above_the_devices_that_it_names() {
    let ports = [table(&["eth0", "eth1"], false)];
    for (interface, advice) in [
        ("eth0.7", "--iface eth0, or switch"),
        ("br0", "--iface eth1, or switch"),
        // The agent does not understand frames below PPPoE.
        ("ppp0", "switch flow offload off"),
    ] {
        let hidden = hidden(&ports, interface).expect(interface);
        let (message, found) = (hidden.message(), hidden.advice());
        let where_it_is = format!("flowtable ft (eth0, eth1) forwards below {interface}:");
        assert!(message.starts_with(&where_it_is), "{message}");
        assert!(found.starts_with(advice), "{found}");
    }
    assert_eq!(hidden(&ports, "eth0"), None);
    let upper = [table(&["eth0.7", "br0"], false)];
    for interface in ["eth0.7", "br0", "eth0"] {
        assert_eq!(hidden(&upper, interface), None, "{interface}");
    }
    assert!(hidden(&upper, "ppp0").is_some());
}

#[test]
fn hardware_hides_all() {
    let tables = [table(&["eth1"], false), table(&["eth0"], true)];
    let hidden = hidden(&tables, "eth0").unwrap();
    let expected =
        "hardware forwards by flowtable ft (eth0): what it forwards is hidden, and not steered";
    assert_eq!(hidden.message(), expected);
    assert!(hidden.advice().starts_with("switch hardware offload off"));
}

#[test]
fn sessions_of_pppoe_are_read_as_the_kernel_lists_them() {
    let list = "Id       Address              Device\n00000001 02:00:5e:10:00:01     eth0\n";
    assert_eq!(pppoe(list), ["eth0"]);
    assert_eq!(pppoe(""), [""; 0]);
}
