//! Which changes are reported, in a separate namespace. Skipped, with a message, without root and `ip`.

use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tidegate_lab::Namespace;
use tidegate_linux::rtnetlink::{Changes, default_routes, links};
use tidegate_testing::{has_program, is_root};

/// Long after a change has settled.
const QUIET: Duration = Duration::from_millis(600);

/// Long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

fn ip(args: &str) {
    let status = Command::new("ip").args(args.split(' ')).status().unwrap();
    assert!(status.success(), "ip {args}");
}

#[test]
fn what_matters_is_heard_of_once_and_nets_routes_never() {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    let work = || {
        ip("link add eth0 type veth peer name far");
        ip("link set far up");
        let mut changes = Changes::listen().unwrap();
        let (heard, hears) = channel();
        thread::spawn(move || {
            while changes.wait().is_ok() {
                let _ = heard.send(());
            }
        });
        let heard_of = |change: &str| {
            // Earlier changes have settled.
            while hears.recv_timeout(QUIET).is_ok() {}
            ip(change);
            hears
                .recv_timeout(TIMEOUT)
                .unwrap_or_else(|_| panic!("{change} was not heard of"));
        };
        heard_of("link set eth0 up");
        heard_of("address add 192.0.2.1/24 dev eth0");
        heard_of("route add default dev eth0");
        heard_of("-6 route add 2000::/3 dev eth0 table 7");
        let eth0 = links()
            .unwrap()
            .into_iter()
            .find(|link| link.name == "eth0")
            .unwrap();
        assert!(!eth0.is_tunnel);
        assert_eq!(default_routes().unwrap(), [eth0.index].into());
        while hears.recv_timeout(QUIET).is_ok() {}
        for net in 1..200 {
            ip(&format!("route add 10.{net}.0.0/16 dev eth0"));
        }
        assert!(
            hears.recv_timeout(QUIET).is_err(),
            "a net's route was heard of"
        );
        heard_of("link del eth0");
        while hears.recv_timeout(QUIET).is_ok() {}
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        assert!(
            hears.recv_timeout(TIMEOUT).is_ok(),
            "forwarding was not heard of"
        );
        assert!(default_routes().unwrap().is_empty());
        Ok(())
    };
    Namespace::new().unwrap().run(work).unwrap();
}
