//! Devices behind a router and an emulated link, made with ip(8).

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tidegate_lab::{EmulatedHosts, IpVersion, Masquerade, Namespace};
use tidegate_link::{Config, Rate};

/// A device's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    Downloads,
    Uploads,
    /// Each connection from another of the device's addresses.
    DownloadsV6,
}

/// How many IPv6 addresses a device has.
const ADDRESSES: usize = 8;

pub struct Lan {
    hosts: EmulatedHosts,
    devices: Vec<Device>,
    _masquerades: Vec<Masquerade>,
}

struct Device {
    namespace: Namespace,
    carried: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Lan {
    /// Devices behind one IPv4 address; IPv6 addresses are not translated.
    pub fn new(devices: usize, rate: f64) -> Self {
        let link = Config {
            rate: Rate::constant(rate),
            delay: Duration::from_millis(30).into(),
            ..Config::default()
        };
        let hosts = EmulatedHosts::new(link.clone(), link, 1).unwrap();
        let wan = EmulatedHosts::INTERFACE;
        sh(
            hosts.client(),
            "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding",
        );
        sh(
            hosts.server(),
            &format!("ip -6 route add fd00::/16 dev {wan}"),
        );
        let devices: Vec<_> = (0..devices).map(|n| Device::new(&hosts, n)).collect();
        let masquerade = |n| {
            let table = format!("tidegate-test-{n}");
            let begin = || Masquerade::new(Ipv4Addr::new(10, 77, n as u8, 2).into(), &table);
            hosts.client().run(begin).unwrap()
        };
        let masquerades = (0..devices.len()).map(masquerade).collect();
        Self {
            hosts,
            devices,
            _masquerades: masquerades,
        }
    }

    pub fn router(&self) -> &Namespace {
        self.hosts.client()
    }

    /// The device's address on its link.
    pub fn mac(&self, device: usize) -> String {
        mac(device)
    }

    /// Bytes that each device has received, or sent successfully.
    pub fn carried(&self) -> Vec<u64> {
        let carried = self.devices.iter().map(|d| &d.carried);
        carried.map(|c| c.load(Ordering::Relaxed)).collect()
    }

    /// Stops all traffic of the device.
    pub fn stop(&self, device: usize) {
        self.devices[device].stop.store(true, Ordering::Relaxed);
    }

    /// Starts bulk transfers over this many connections, until they are stopped.
    pub fn start(&self, device: usize, flows: usize, traffic: Traffic) {
        let version = match traffic {
            Traffic::DownloadsV6 => IpVersion::V6,
            _ => IpVersion::V4,
        };
        let any: IpAddr = match version {
            IpVersion::V4 => Ipv4Addr::UNSPECIFIED.into(),
            IpVersion::V6 => Ipv6Addr::UNSPECIFIED.into(),
        };
        let listen = || Ok(TcpListener::bind((any, 0))?);
        let listener = self.hosts.server().run(listen).unwrap();
        let server = SocketAddr::new(
            EmulatedHosts::server_address(version),
            listener.local_addr().unwrap().port(),
        );
        let Device {
            namespace,
            carried,
            stop,
        } = &self.devices[device];
        for flow in 0..flows {
            let connect = || match version {
                IpVersion::V4 => Ok(TcpStream::connect(server)?),
                IpVersion::V6 => Ok(connect_from(address6(device, flow % ADDRESSES), server)?),
            };
            let near = namespace.run(connect).unwrap();
            let (far, _) = listener.accept().unwrap();
            let (from, to) = match traffic {
                Traffic::Uploads => (near, far),
                _ => (far, near),
            };
            let (carried, stop) = (Arc::clone(carried), Arc::clone(stop));
            thread::spawn(move || send(from));
            thread::spawn(move || receive(to, &carried, &stop));
        }
    }
}

impl Device {
    fn new(hosts: &EmulatedHosts, n: usize) -> Self {
        let namespace = Namespace::new().unwrap();
        let (pid, fd) = (std::process::id(), namespace.as_fd().as_raw_fd());
        sh(
            hosts.client(),
            &format!(
                "ip link add lan{n} type veth peer name up0 netns /proc/{pid}/fd/{fd} && \
                 ip address add 10.77.{n}.1/24 dev lan{n} && ip link set lan{n} up && \
                 ip -6 address add fd00:{n}::ffff/64 dev lan{n} nodad"
            ),
        );
        let addresses: String = (0..ADDRESSES)
            .map(|i| format!("ip -6 address add {}/64 dev up0 nodad && ", address6(n, i)))
            .collect();
        sh(
            &namespace,
            &format!(
                "ip link set up0 address {} && ip link set up0 up && {addresses} \
                 ip address add 10.77.{n}.2/24 dev up0 && ip route add default via 10.77.{n}.1 && \
                 ip -6 route add default via fd00:{n}::ffff",
                mac(n)
            ),
        );
        Self {
            namespace,
            carried: Arc::default(),
            stop: Arc::default(),
        }
    }
}

fn mac(device: usize) -> String {
    format!("02:00:5e:10:00:{device:02x}")
}

fn address6(device: usize, n: usize) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, device as u16, 0, 0, 0, 0, 0, n as u16 + 1)
}

fn sh(host: &Namespace, script: &str) {
    let run = || Ok(Command::new("sh").args(["-c", script]).status()?.success());
    assert!(host.run(run).unwrap(), "{script}");
}

/// Sends until the other end closes.
fn send(mut to: TcpStream) {
    let data = [7; 1 << 16];
    while to.write_all(&data).is_ok() {}
}

fn receive(mut from: TcpStream, carried: &AtomicU64, stop: &AtomicBool) {
    let mut room = vec![0; 1 << 16];
    while let Ok(bytes @ 1..) = from.read(&mut room) {
        carried.fetch_add(bytes as u64, Ordering::Relaxed);
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Connects from that address.
fn connect_from(address: Ipv6Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn6, bind, connect, socket};
    use std::net::SocketAddrV6;
    let SocketAddr::V6(to) = to else {
        return Err(std::io::ErrorKind::AddrNotAvailable.into());
    };
    let socket = socket(
        AddressFamily::Inet6,
        SockType::Stream,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    bind(
        socket.as_raw_fd(),
        &SockaddrIn6::from(SocketAddrV6::new(address, 0, 0, 0)),
    )?;
    connect(socket.as_raw_fd(), &SockaddrIn6::from(to))?;
    Ok(socket.into())
}
