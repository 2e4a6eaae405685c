//! `tidegate run` while interfaces and routes come and go, as in a laptop, a phone or a router that starts up. Runs in
//! its own namespaces; needs root and `ip`, and says so if it is skipped.

#[path = "roaming/lines.rs"]
mod lines;
#[path = "sight/running.rs"]
mod running;

use crate::lines::Lines;
use crate::running::{Running, TIDEGATE, json};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread;
use std::time::Duration;
use tidegate_lab::{IpVersion, Namespace, Veth};
use tidegate_testing::{has_program, has_tun, is_root, skipped};

const FILE: usize = 3_000_000;

/// Runs the work in a new namespace that only has the loopback device.
fn alone(work: impl FnOnce() + Send) {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let work = || {
        work();
        Ok(())
    };
    namespace.run(work).unwrap();
}

/// Starts an agent on the interfaces of the default routes, unless the arguments name others.
fn start(args: &[&str]) -> Running {
    Running::start_by(Command::new(TIDEGATE), args)
}

fn ip(args: &str) {
    let status = Command::new("ip").args(args.split(' ')).status().unwrap();
    assert!(status.success(), "ip {args}");
}

/// A device with an address and without a route.
fn device(name: &str, net: u8) {
    ip(&format!("link add {name} type veth peer name {name}-far"));
    ip(&format!("addr add 192.0.{net}.1/24 dev {name}"));
    ip(&format!("link set {name} up"));
    ip(&format!("link set {name}-far up"));
}

/// Names of the interfaces that the agent is attached to.
fn places(agent: &Running) -> Vec<String> {
    let about = json(&agent.top(&["--json"]))["agent"].clone();
    let all = about["interfaces"].as_array().unwrap().iter();
    let mut names: Vec<_> = all
        .map(|i| i["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn without_a_default_route_it_waits_and_follows_the_one_that_comes() {
    alone(|| {
        device("eth0", 2);
        device("wlan0", 3);
        let mut agent = start(&[]);
        assert!(places(&agent).is_empty());
        ip("route add default dev eth0");
        assert_eq!(agent.event("interface_came")["interface"], "eth0");
        assert_eq!(places(&agent), ["eth0"]);
        // A cable is pulled out, and the route moves.
        ip("route add default dev wlan0 metric 600");
        assert_eq!(agent.event("interface_came")["interface"], "wlan0");
        ip("route del default dev eth0");
        assert_eq!(agent.event("interface_left")["interface"], "eth0");
        assert_eq!(places(&agent), ["wlan0"]);
        ip("link set wlan0 down");
        assert_eq!(agent.event("interface_left")["interface"], "wlan0");
        assert_eq!(agent.event("waiting")["for"], "a default route");
        ip("link set wlan0 up");
        ip("route add default dev wlan0");
        assert_eq!(agent.event("interface_came")["interface"], "wlan0");
        // A dongle is pulled out, and comes back with another index.
        ip("link del wlan0");
        let gone = agent.event("interface_gone");
        device("wlan0", 3);
        ip("route add default dev wlan0");
        let came = agent.event("interface_came");
        assert!(came["message"].as_str().unwrap().contains("returned"));
        assert_ne!(came["ifindex"], gone["ifindex"]);
        agent.interrupt();
    });
}

/// Routing daemons add routes this way, and also switch off that routes show the devices of their next hops.
#[test]
fn a_default_route_by_a_next_hop_object_is_followed() {
    alone(|| {
        let mode = "/proc/sys/net/ipv4/nexthop_compat_mode";
        if std::fs::write(mode, "0").is_err() {
            return skipped("this kernel has no next-hop objects");
        }
        device("wan", 2);
        device("lte", 3);
        ip("nexthop add id 1 via 192.0.2.2 dev wan");
        ip("nexthop add id 2 via 192.0.3.2 dev lte");
        ip("route add default nhid 1");
        let mut check = Command::new(TIDEGATE);
        let used = json(&check.args(["check", "--json"]).output().unwrap())["use"].take();
        assert_eq!(used["interfaces"], Value::from(vec!["wan"]));
        let mut agent = start(&[]);
        assert_eq!(places(&agent), ["wan"]);
        ip("nexthop replace id 1 via 192.0.3.2 dev lte");
        assert_eq!(agent.event("interface_came")["interface"], "lte");
        assert_eq!(places(&agent), ["lte"]);
        ip("nexthop add id 3 group 2");
        ip("-4 route add default nhid 3 metric 7");
        ip("nexthop del id 1");
        // The group uses the same device, which the agent leaves when the group loses its only member.
        ip("nexthop del id 2");
        assert_eq!(agent.event("interface_left")["interface"], "lte");
        assert!(places(&agent).is_empty());
        agent.interrupt();
    });
}

#[test]
fn an_interface_that_is_renamed_is_followed_in_one_line() {
    alone(|| {
        device("eth0", 2);
        ip("route add default dev eth0");
        let mut agent = start(&[]);
        let mut rename = Command::new("ip");
        rename.args("link set eth0 name lan0".split(' '));
        if !rename.status().unwrap().success() {
            agent.interrupt();
            return skipped("the kernel renames no interface that is up");
        }
        let renamed = agent.event("interface_renamed");
        assert_eq!(renamed["interface"], "lan0");
        assert_eq!(renamed["was"], "eth0");
        let passed = agent.passed.borrow();
        let said = passed.iter().map(|e| e["event"].as_str().unwrap());
        let said: Vec<_> = said.filter(|e| e.starts_with("interface_")).collect();
        assert_eq!(said, [""; 0], "more than one line");
        drop(passed);
        assert_eq!(places(&agent), ["lan0"]);
        agent.interrupt();
    });
}

/// Routes of every table count, and halves of default routes as well; routes to networks do not.
#[test]
fn policy_routes_and_tunnels_are_followed() {
    if !has_tun() {
        return;
    }
    alone(|| {
        device("wlan0", 3);
        device("wwan0", 4);
        ip("route add default dev wlan0");
        let mut agent = start(&[]);
        assert_eq!(places(&agent), ["wlan0"]);
        ip("tuntap add tun0 mode tun");
        ip("addr add 10.8.0.2/24 dev tun0");
        ip("link set tun0 up");
        ip("route add 10.0.0.0/8 dev tun0");
        // As OpenVPN does with `redirect-gateway def1`.
        ip("route add 0.0.0.0/1 dev tun0");
        ip("route add 128.0.0.0/1 dev tun0");
        assert_eq!(agent.event("interface_came")["interface"], "tun0");
        let tunnel = agent.event("tunnel");
        assert_eq!(tunnel["tunnels"], Value::from(vec!["tun0"]));
        assert_eq!(tunnel["interfaces"], Value::from(vec!["wlan0"]));
        ip("link del tun0");
        assert_eq!(agent.event("interface_gone")["interface"], "tun0");
        // As wg-quick does, and users with several lines.
        ip("route add default dev wwan0 table 51820");
        assert_eq!(agent.event("interface_came")["interface"], "wwan0");
        assert_eq!(places(&agent), ["wlan0", "wwan0"]);
        agent.interrupt();
    });
}

/// Makes a TUN device report this link type.
fn set_link_layer(name: &str, kind: u16) {
    use nix::libc;
    nix::ioctl_write_int_bad!(set_type, libc::TUNSETLINK as libc::c_int);
    nix::ioctl_write_ptr_bad!(attach, libc::TUNSETIFF as libc::c_int, libc::ifreq);
    let device = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .unwrap();
    // SAFETY: all zeroes is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    // SAFETY: an open device, and a request that outlives the call.
    unsafe { attach(device.as_raw_fd(), &request) }.unwrap();
    // SAFETY: an open device and a number.
    unsafe { set_type(device.as_raw_fd(), kind.into()) }.unwrap();
}

#[test]
fn an_interface_that_cannot_be_steered_is_skipped() {
    if !has_tun() {
        return;
    }
    alone(|| {
        device("wlan0", 3);
        ip("tuntap add sit0 mode tun");
        set_link_layer("sit0", nix::libc::ARPHRD_SIT);
        ip("link set sit0 up");
        ip("-6 route add 2000::/3 dev sit0");
        ip("route add default dev wlan0");
        let mut agent = start(&[]);
        assert_eq!(places(&agent), ["wlan0"]);
        // It is logged once, however much changes.
        device("eth0", 2);
        ip("route add default dev eth0 metric 7");
        assert_eq!(agent.event("interface_came")["interface"], "eth0");
        agent.interrupt();
        let passed = agent.passed.borrow();
        let said = passed.iter().filter(|e| e["event"] == "interface_refused");
        assert_eq!(said.count(), 1);
    });
}

#[test]
fn an_interface_that_is_named_may_come_late() {
    alone(|| {
        let mut agent = start(&["--iface", "wwan0"]);
        assert!(places(&agent).is_empty());
        device("eth0", 2);
        ip("route add default dev eth0");
        device("wwan0", 4);
        assert_eq!(agent.event("interface_came")["interface"], "wwan0");
        assert_eq!(places(&agent), ["wwan0"]);
        agent.interrupt();
    });
}

#[test]
fn a_rule_may_be_about_an_interface_that_is_not_there_yet() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tidegate.toml");
        let rule = "[[rule]]\ninterface = \"wwan0\"\naction = \"deny\"\n";
        std::fs::write(&file, rule).unwrap();
        let mut agent = start(&["--config", file.to_str().unwrap()]);
        device("wwan0", 4);
        ip("route add default dev wwan0");
        assert_eq!(agent.event("interface_came")["interface"], "wwan0");
        // Rules may name an interface that will be attached later.
        std::fs::write(&file, format!("interfaces = [\"eth0\"]\n{rule}")).unwrap();
        agent.signal(nix::sys::signal::Signal::SIGHUP);
        let refused = agent.event("reload_refused")["message"].to_string();
        assert!(refused.contains("expected eth0"), "{refused}");
        std::fs::write(&file, "interfaces = [\"eth0\"]\n").unwrap();
        agent.signal(nix::sys::signal::Signal::SIGHUP);
        agent.event("reload");
        assert!(places(&agent).is_empty());
        assert_eq!(agent.event("waiting")["for"], "eth0");
        agent.interrupt();
    });
}

#[test]
fn guests_that_come_to_the_bridge_of_the_default_route_are_told_of_once() {
    alone(|| {
        device("other", 2);
        ip("link add br0 type bridge");
        ip("link add eno1 link other type macvlan");
        ip("link set eno1 master br0");
        ip("addr add 192.0.3.1/24 dev br0");
        ip("link set br0 up");
        ip("route add default dev br0");
        let mut agent = start(&[]);
        for guest in ["tap0", "tap1"] {
            ip(&format!("link add {guest} type veth peer name {guest}-far"));
            ip(&format!("link set {guest} master br0"));
        }
        let said = agent.event("bridge");
        assert_eq!(said["interface"], "br0");
        assert_eq!(said["out"], Value::from(vec!["eno1"]));
        // Later changes are followed, but not logged again.
        device("eth0", 4);
        ip("route add default dev eth0 metric 7");
        agent.event("interface_came");
        agent.interrupt();
        assert!(agent.passed.borrow().iter().all(|e| e["event"] != "bridge"));
    });
}

/// A laptop opens a hotspot: its shares stay by flow, and it logs that once, unless the user asked for it.
#[test]
fn whom_shares_would_be_by_now_is_said_unless_somebody_said_it() {
    for asked in [false, true] {
        alone(|| {
            device("eth0", 2);
            ip("route add default dev eth0");
            let fair: &[_] = if asked { &["--fair", "flow"] } else { &[] };
            let mut agent = start(fair);
            // A macvlan device stands for a port: a veth device would count as a container.
            ip("link add wlan0 link eth0-far type macvlan");
            ip("addr add 192.0.3.1/24 dev wlan0");
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
            if asked {
                thread::sleep(Duration::from_secs(13));
            } else {
                let said = agent.event("shares_differ");
                assert_eq!(said["level"], "warning");
                assert_eq!([&said["by"], &said["would_be_by"]], ["flow", "device"]);
            }
            agent.interrupt();
            let passed = agent.passed.borrow();
            assert!(passed.iter().all(|e| e["event"] != "shares_differ"));
        });
    }
}

/// Traffic is measured and steered on an interface that got the route later.
#[test]
fn traffic_is_steered_where_the_route_has_come() {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    let hosts = Veth::new().unwrap();
    let server = Veth::server_address(IpVersion::V4);
    let listener = hosts
        .server
        .run(|| Ok(TcpListener::bind((server, 0))?))
        .unwrap();
    let work = hosts.client.run(|| {
        let mut agent = start(&[]);
        ip(&format!("route add default dev {}", Veth::INTERFACE));
        agent.event("interface_came");
        let mut client = TcpStream::connect(listener.local_addr().unwrap())?;
        let (mut sender, _) = listener.accept()?;
        let sending = thread::spawn(move || sender.write_all(&vec![7; FILE]).unwrap());
        client.read_exact(&mut vec![0; FILE])?;
        sending.join().unwrap();
        let paths = json(&agent.top(&["--json"]))["paths"].clone();
        let down = paths
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["direction"] == "down");
        let measured = down.unwrap()["measured_bytes"].as_u64().unwrap();
        assert!(measured > FILE as u64 / 2, "{measured}");
        agent.interrupt();
        Ok(())
    });
    work.unwrap();
}

/// A download takes the default route, and its windows are lowered there.
fn assert_steered(lines: &Lines, agent: &Running, line: usize) {
    lines.download(|local| {
        let flows = json(&agent.top(&["--json"]))["flows"].take();
        let mut flows = flows.as_array().unwrap().iter();
        let is_it = |flow: &&Value| flow["local"]["port"] == local.port();
        let flow = flows.find(is_it).expect("the download");
        println!("{}: {} lowered", flow["interface"], flow["rewritten"]);
        assert_eq!(flow["interface"], Lines::NAMES[line], "{flow}");
        assert_eq!(flow["direction"], "down", "{flow}");
        assert!(
            flow["rewritten"].as_u64() > Some(0),
            "never steered: {flow}"
        );
    });
}

/// A cable is pulled out and a modem takes over: later downloads are steered there. The same works without IPv4.
#[test]
fn downloads_are_steered_on_whichever_line_the_default_route_leads_over() {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    for version in IpVersion::ALL {
        let Some(lines) = Lines::new(version) else {
            return;
        };
        let roam = || {
            let mut agent = start(&[]);
            for (line, name) in Lines::NAMES.into_iter().enumerate() {
                lines.take(line);
                assert_eq!(agent.event("interface_came")["interface"], name);
                assert_eq!(places(&agent), [name]);
                assert_steered(&lines, &agent, line);
            }
            agent.interrupt();
            Ok(())
        };
        lines.host.run(roam).unwrap();
    }
}
