//! Default routes by next-hop objects, in separate namespaces. Skipped, with a message, without root, `ip` and a kernel
//! with such objects.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tidegate_lab::Namespace;
use tidegate_linux::rtnetlink::{Changes, default_routes, links};
use tidegate_testing::{has_program, is_root, skipped};

/// Whether routes show the devices of their objects as well; 0 is what routing daemons set.
const COMPATIBILITY: &str = "/proc/sys/net/ipv4/nexthop_compat_mode";

/// Long after a change has settled.
const QUIET: Duration = Duration::from_millis(600);

/// Long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

fn ip(args: &str) {
    let status = Command::new("ip").args(args.split(' ')).status().unwrap();
    assert!(status.success(), "ip {args}");
}

/// Names of the interfaces that default routes lead to.
fn out() -> BTreeSet<String> {
    let routes = default_routes().unwrap();
    let links = links().unwrap().into_iter();
    let those = links.filter(|link| routes.contains(&link.index));
    those.map(|link| link.name).collect()
}

fn assert_out(expected: &[&str], after: &str) {
    let expected = expected.iter().map(ToString::to_string).collect();
    assert_eq!(out(), expected, "after ip {after}");
}

/// Runs `work` in a namespace with two lines, in each mode.
fn in_each_mode(work: fn()) {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    for mode in ["0", "1"] {
        let namespace = Namespace::new().unwrap();
        let work = || {
            if std::fs::write(COMPATIBILITY, mode).is_err() {
                skipped("this kernel has no next-hop objects");
                return Ok(());
            }
            ip("link set lo up");
            for (name, net) in [("wan", 2), ("lte", 3)] {
                ip(&format!("link add {name} type veth peer name {name}-far"));
                ip(&format!("link set {name}-far up"));
                ip(&format!("link set {name} up"));
                ip(&format!("addr add 192.0.{net}.1/24 dev {name}"));
            }
            work();
            Ok(())
        };
        namespace.run(work).unwrap();
    }
}

#[test]
fn what_objects_lead_to_is_found() {
    in_each_mode(|| {
        let steps: &[(&str, &[&str])] = &[
            ("nexthop add id 1 via 192.0.2.2 dev wan", &[]),
            ("nexthop add id 2 via 192.0.3.2 dev lte", &[]),
            ("nexthop add id 3 group 1,3/2,250", &[]),
            ("nexthop add id 4 blackhole", &[]),
            ("nexthop add id 5 via fe80::2 dev lte", &[]),
            ("route add default nhid 1", &["wan"]),
            ("route replace default nhid 3", &["lte", "wan"]),
            ("nexthop replace id 3 group 2", &["lte"]),
            ("route replace default nhid 4", &[]),
            ("-6 route add default nhid 5", &["lte"]),
            ("-6 nexthop replace id 5 via fe80::2 dev wan", &["wan"]),
            ("-6 route add 2000::/3 nhid 5", &["wan"]),
            ("nexthop del id 5", &[]),
            // A network's route is no default route.
            ("route add 10.0.0.0/8 nhid 1", &[]),
            ("route replace default nhid 3 table 51820", &["lte"]),
            ("link set lte down", &[]),
        ];
        for (step, expected) in steps {
            ip(step);
            assert_out(expected, step);
        }
    });
}

/// Without objects, hops are part of the route itself: in a list of several, with a gateway of the other IP version,
/// after an encapsulation.
#[test]
fn hops_of_every_other_kind_are_found() {
    in_each_mode(|| {
        let steps: &[(&str, &[&str])] = &[
            ("-4 route add default via inet6 fe80::2 dev wan", &["wan"]),
            (
                "-4 route replace default nexthop via inet6 fe80::2 dev wan nexthop via 192.0.3.2 dev lte weight 9",
                &["lte", "wan"],
            ),
            ("-4 route replace default dev lte", &["lte"]),
            (
                "-6 route add default nexthop via fe80::2 dev wan nexthop via fe80::2 dev lte",
                &["lte", "wan"],
            ),
            ("-6 route del default", &["lte"]),
            ("-4 route del default", &[]),
            (
                "route add default encap ip id 7 dst 192.0.2.9 dev wan",
                &["wan"],
            ),
        ];
        for (step, expected) in steps {
            ip(step);
            assert_out(expected, step);
        }
    });
}

/// Changes from now on.
fn listen() -> Receiver<()> {
    let mut changes = Changes::listen().unwrap();
    let (heard, hears) = channel();
    thread::spawn(move || {
        while changes.wait().is_ok() {
            let _ = heard.send(());
        }
    });
    hears
}

#[test]
fn objects_of_default_routes_are_heard_of_and_others_are_not() {
    in_each_mode(|| {
        ip("nexthop add id 1 via 192.0.2.2 dev wan");
        ip("route add default nhid 1");
        let hears = listen();
        let settle = || while hears.recv_timeout(QUIET).is_ok() {};
        let heard_of = |change: &str| {
            settle();
            ip(change);
            let heard = hears.recv_timeout(TIMEOUT);
            assert!(heard.is_ok(), "{change} was not heard of");
        };
        // The route was there before.
        heard_of("nexthop replace id 1 via 192.0.3.2 dev lte");
        assert_out(&["lte"], "replacing it");
        heard_of("nexthop del id 1");
        assert_out(&[], "removing it");
        ip("nexthop add id 1 via 192.0.2.2 dev wan");
        ip("nexthop add id 2 group 1");
        heard_of("-4 route add default nhid 2");
        heard_of("nexthop replace id 1 via 192.0.3.2 dev lte");
        ip("nexthop add id 7 via 192.0.2.7 dev wan");
        // A later member counts like one from the beginning.
        heard_of("nexthop replace id 2 group 1/7");
        heard_of("nexthop replace id 7 via 192.0.2.8 dev wan");
        settle();
        for id in 100..200 {
            ip(&format!("nexthop add id {id} via 192.0.2.3 dev wan"));
        }
        assert!(
            hears.recv_timeout(QUIET).is_err(),
            "an object that no default route leads to was heard of"
        );
    });
}
