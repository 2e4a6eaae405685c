//! A router between a device and a server; the path from the server is slow and has a deep queue. Made with ip(8),
//! tc(8), nft(8) and wg(8).

use super::download::Download;
use super::pppoe::{self, Session};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;
use tidegate_lab::Namespace;
use tidegate_linux::netfilter::tracked;
use tidegate_testing::{has_program, is_root, skipped};

/// The queue in front of the router, a third of a second deep, and the delay of the router's answers.
const QUEUE: &str = "tbf rate 5mbit burst 10kb limit 200kb";
const DELAY: &str = "netem delay 20ms limit 10000";

/// How the router is connected to the Internet, and its devices to the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Port,
    /// 802.1Q on a port.
    Vlan,
    /// A bridge with one port.
    Bridge,
    /// PPPoE on the port; devices are on the other port itself.
    Pppoe,
    /// WireGuard over the port; devices are on the other port itself.
    Tunnel,
}

/// The devices that a flowtable names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The devices of the routes.
    Upper,
    /// The ports below them.
    Ports,
    Both,
}

pub struct Site {
    server: Namespace,
    /// Routes between server and router. A queue on the server itself, or before a bridge, would slow down the server's
    /// own TCP.
    provider: Namespace,
    pub router: Namespace,
    device: Namespace,
    kind: Kind,
    /// What its flowtable names, if it has one.
    named: Cell<Option<Named>>,
    sessions: RefCell<Vec<Session>>,
}

impl Site {
    /// The router's ports.
    pub const PORTS: [&str; 2] = ["wan0", "lan0"];

    /// None if the kernel or this machine lacks something, which is printed.
    pub fn new(kind: Kind) -> Option<Self> {
        let tools = [
            ("ip", "iproute2"),
            ("tc", "iproute2"),
            ("nft", "nftables"),
            ("wg", "wireguard-tools"),
        ];
        if !is_root()
            || !tools
                .iter()
                .all(|(name, package)| has_program(name, package))
        {
            return None;
        }
        let site = Self {
            server: Namespace::new().unwrap(),
            provider: Namespace::new().unwrap(),
            router: Namespace::new().unwrap(),
            device: Namespace::new().unwrap(),
            kind,
            named: Cell::new(None),
            sessions: RefCell::default(),
        };
        let [wan, lan] = Self::PORTS;
        join((&site.router, lan), (&site.device, "port"));
        join((&site.router, wan), (&site.provider, "near"));
        join((&site.provider, "far"), (&site.server, "port"));
        let slow = done(
            &site.provider,
            &format!("tc qdisc add dev near root {QUEUE}"),
        ) && done(
            &site.router,
            &format!("tc qdisc add dev {wan} root {DELAY}"),
        );
        if !slow || !site.has_kind() {
            skipped(format!("the kernel lacks tbf, netem, or {kind:?}"));
            return None;
        }
        site.configure();
        Some(site)
    }

    /// Names of the devices of the router's routes, towards the server and towards the device.
    pub fn upper(&self) -> [&'static str; 2] {
        match self.kind {
            Kind::Port => Self::PORTS,
            Kind::Vlan => ["wan0.7", "lan0.7"],
            Kind::Bridge => ["br-wan", "br-lan"],
            Kind::Pppoe => ["ppp0", "lan0"],
            Kind::Tunnel => ["wg0", "lan0"],
        }
    }

    /// Makes the devices above the ports. False if the kernel cannot.
    fn has_kind(&self) -> bool {
        let [wan, lan] = Self::PORTS;
        match self.kind {
            Kind::Port => true,
            Kind::Vlan => [
                (&self.provider, "near"),
                (&self.router, wan),
                (&self.router, lan),
                (&self.device, "port"),
            ]
            .iter()
            .all(|(host, port)| {
                let add = format!("ip link add link {port} name {port}.7 type vlan id 7");
                done(host, &add)
            }),
            Kind::Bridge => self.upper().iter().zip(Self::PORTS).all(|(bridge, port)| {
                done(&self.router, &format!("ip link add {bridge} type bridge"))
                    && done(&self.router, &format!("ip link set {port} master {bridge}"))
            }),
            Kind::Pppoe => {
                let ends = [(&self.provider, "near", 1), (&self.router, wan, 2)];
                for (host, port, last) in ends {
                    sh(
                        host,
                        &format!("ip link set {port} address 02:00:5e:10:00:{last:02x}"),
                    );
                }
                ends.iter().all(|(host, port, last)| {
                    let session = pppoe::begin(host, port, [2, 0, 0x5e, 0x10, 0, 3 - last]);
                    session.map(|s| self.sessions.borrow_mut().push(s)).is_ok()
                        && done(host, "ip link set ppp0 mtu 1492")
                })
            }
            Kind::Tunnel => [&self.provider, &self.router]
                .iter()
                .all(|host| done(host, "ip link add wg0 type wireguard")),
        }
    }

    fn configure(&self) {
        let [wan, lan] = self.upper();
        let (near, up) = match self.kind {
            Kind::Port | Kind::Bridge => ("near", "port"),
            Kind::Vlan => ("near.7", "port.7"),
            Kind::Pppoe => ("ppp0", "port"),
            Kind::Tunnel => ("wg0", "port"),
        };
        if self.kind == Kind::Tunnel {
            self.lay_tunnel();
        }
        let addresses = [
            (&self.server, "port", "203.0.113.1/24"),
            (&self.provider, "far", "203.0.113.2/24"),
            (&self.provider, near, "198.51.100.1/24"),
            (&self.router, wan, "198.51.100.2/24"),
            (&self.router, lan, "10.77.0.1/24"),
            (&self.device, up, "10.77.0.2/24"),
        ];
        for (host, name, address) in addresses {
            sh(host, &format!("ip address add {address} dev {name}"));
            sh(host, &format!("ip link set {name} up"));
        }
        let routes = [
            (&self.server, "203.0.113.2"),
            (&self.router, "198.51.100.1"),
            (&self.device, "10.77.0.1"),
        ];
        for (host, via) in routes {
            sh(host, &format!("ip route add default via {via}"));
        }
        for host in [&self.provider, &self.router] {
            let forward = || Ok(std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")?);
            host.run(forward).unwrap();
        }
        let masquerade = format!(
            "table inet nat {{
                chain out {{ type nat hook postrouting priority 100; oifname \"{wan}\" masquerade; }}
            }}
"
        );
        assert!(nft(&self.router, &masquerade));
    }

    /// Makes the tunnel over a port with its own default route, as it had before the tunnel.
    fn lay_tunnel(&self) {
        let ends = [
            (&self.provider, "near", "192.0.2.1"),
            (&self.router, "wan0", "192.0.2.2"),
        ];
        for (host, port, address) in ends {
            sh(host, &format!("ip address add {address}/24 dev {port}"));
            let mut key = NamedTempFile::new().unwrap();
            key.write_all(said(host, "wg genkey").as_bytes()).unwrap();
            let key = key.path().display();
            sh(
                host,
                &format!("wg set wg0 listen-port 51820 private-key {key}"),
            );
        }
        let keys = ends.map(|(host, ..)| said(host, "wg show wg0 public-key"));
        for (end, (host, ..)) in ends.into_iter().enumerate() {
            let (key, (.., address)) = (keys[1 - end].trim(), ends[1 - end]);
            let peer = format!("peer {key} allowed-ips 0.0.0.0/0 endpoint {address}:51820");
            sh(host, &format!("wg set wg0 {peer}"));
        }
        sh(
            &self.router,
            "ip route add default via 192.0.2.1 dev wan0 metric 600",
        );
    }

    /// Makes a flowtable forward established connections between the named devices, in software. False if the kernel
    /// has no flowtables, which is printed.
    pub fn offload(&self, named: Named) -> bool {
        let devices = match named {
            Named::Upper => self.upper().to_vec(),
            Named::Ports => Self::PORTS.to_vec(),
            Named::Both => [self.upper(), Self::PORTS].concat(),
        };
        let rules = format!(
            "table inet fast {{
                flowtable ft {{ hook ingress priority 0; devices = {{ {} }}; }}
                chain forward {{ type filter hook forward priority 0; meta l4proto tcp flow add @ft; }}
                chain leaves {{ type filter hook postrouting priority 0; counter; }}
            }}
",
            devices.join(", ")
        );
        let there = nft(&self.router, &rules);
        self.named.set(Some(named));
        if !there {
            skipped("the kernel has no flowtables");
        }
        there
    }

    /// How many packets have left through netfilter's hooks since the flowtable was made.
    pub fn left_by_hooks(&self) -> u64 {
        let said = said(&self.router, "nft list chain inet fast leaves");
        let mut words = said
            .split_whitespace()
            .skip_while(|word| *word != "packets");
        words.nth(1).unwrap().parse().unwrap()
    }

    /// How many connections flowtables forward in software and in hardware.
    pub fn offloaded(&self) -> [usize; 2] {
        let count = || {
            let mut sum = [0; 2];
            tracked(|connection| {
                for (sum, is) in sum.iter_mut().zip(connection.offloaded) {
                    *sum += usize::from(is);
                }
            })?;
            Ok(sum)
        };
        self.router.run(count).unwrap()
    }

    /// A bulk download from the server to the device behind the router.
    pub fn download(&self) -> Download {
        Download::start(&self.server, &self.device)
    }

    /// A bulk download to the router itself.
    pub fn download_here(&self) -> Download {
        Download::start(&self.server, &self.router)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)?;
        match self.named.get() {
            Some(named) => write!(f, ", flowtable on {named:?}"),
            None => Ok(()),
        }
    }
}

/// Joins two hosts by devices of these names.
fn join((host, name): (&Namespace, &str), (other, peer): (&Namespace, &str)) {
    let (pid, fd) = (std::process::id(), other.as_fd().as_raw_fd());
    let peer_there = format!("peer name {peer} netns /proc/{pid}/fd/{fd}");
    sh(host, &format!("ip link add {name} type veth {peer_there}"));
    sh(host, &format!("ip link set {name} up"));
    sh(other, &format!("ip link set {peer} up"));
}

/// Not through a shell: busybox's would run its own `ip`.
fn command(line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words);
    command
}

fn done(host: &Namespace, line: &str) -> bool {
    let run = || Ok(command(line).status()?.success());
    host.run(run).unwrap()
}

fn sh(host: &Namespace, line: &str) {
    assert!(done(host, line), "{line}");
}

fn said(host: &Namespace, line: &str) -> String {
    let output = host.run(|| Ok(command(line).output()?)).unwrap();
    assert!(output.status.success(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

fn nft(host: &Namespace, rules: &str) -> bool {
    let run = || {
        let mut nft = command("nft -f -").stdin(Stdio::piped()).spawn()?;
        nft.stdin
            .take()
            .expect("piped")
            .write_all(rules.as_bytes())?;
        Ok(nft.wait()?.success())
    };
    host.run(run).unwrap()
}
