//! Forwarded flows, known by their outer address. The hosts are made with ip(8).

use crate::hosts::{Path, assert_all_in_order, hosts};
use crate::laws::{Law, start};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::time::{Duration, Instant};
use tidegate_gate::{Flow, Limits};
use tidegate_lab::{Masquerade, Namespace};
use tidegate_testing::skipped;

const INSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 1, 1));
const OUTSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 2, 254));
const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 2, 1));

/// A machine, its router, and the rest of the world.
pub struct Router {
    pub inside: Namespace,
    pub router: Namespace,
    pub far: Namespace,
}

impl Router {
    pub fn new() -> Option<Self> {
        hosts()?;
        let [inside, router, far] = [(); 3].map(|()| Namespace::new().unwrap());
        let linked = join(&router, "lan", &inside, 1)
            && join(&router, "wan", &far, 2)
            && sh(&router, "echo 1 > /proc/sys/net/ipv4/ip_forward");
        if !linked {
            skipped("no router without ip");
            return None;
        }
        Some(Self {
            inside,
            router,
            far,
        })
    }

    pub fn path(&self) -> Path {
        Path::between(&self.inside, &self.far, FAR, "up0")
    }

    pub fn wan(&self) -> u32 {
        let index = || Ok(nix::net::if_::if_nametoindex("wan")?);
        self.router.run(index).unwrap()
    }
}

/// A device of the router's, joined to "up0" of a host.
fn join(router: &Namespace, name: &str, host: &Namespace, net: u8) -> bool {
    let (pid, fd) = (std::process::id(), host.as_fd().as_raw_fd());
    let link = format!(
        "ip link add {name} type veth peer name up0 netns /proc/{pid}/fd/{fd} && \
         ip address add 198.18.{net}.254/24 dev {name} && ip link set {name} up"
    );
    let end = format!(
        "ip address add 198.18.{net}.1/24 dev up0 && ip link set up0 up && \
         ip route add default via 198.18.{net}.254"
    );
    sh(router, &link) && sh(host, &end)
}

pub fn sh(host: &Namespace, script: &str) -> bool {
    let run = || Ok(Command::new("sh").args(["-c", script]).status()?.success());
    host.run(run).unwrap()
}

#[test]
fn a_masqueraded_flow_waits_at_the_router() {
    let Some(hosts) = Router::new() else { return };
    let masquerade = || Masquerade::new(INSIDE, "tidegate-test");
    let _masquerade = hosts.router.run(masquerade).unwrap();
    let path = hosts.path();
    // The router keeps the port, since it is free there.
    let flow = Flow {
        interface: hosts.wan(),
        local: SocketAddr::new(OUTSIDE, path.flow.local.port()),
        remote: path.flow.remote,
    };
    let start = || Ok(start(Law::Wait(200_000), Limits::default())?);
    let mut gate = hosts.router.run(start).unwrap();
    gate.hold(&[flow]).unwrap();
    let receiver = path.receive(Duration::from_millis(500));
    let began = Instant::now();
    path.send(0..200);
    let came = receiver.join().unwrap();
    assert_all_in_order(&came, 200);
    assert!(came[0].1 - began >= Duration::from_millis(200));
    assert_eq!(gate.counts().unwrap().came, 200);
}
