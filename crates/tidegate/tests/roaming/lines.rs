//! A host with two lines to one server, each slow and with a deep queue. Made with ip(8) and tc(8).

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::thread;
use tidegate_lab::{IpVersion, Namespace};
use tidegate_testing::skipped;

/// The queue in front of the host on each line, a third of a second deep.
const QUEUE: &str = "tbf rate 20mbit burst 10kb limit 800kb";

/// Bytes of a download: two and a half seconds.
const FILE: usize = 6_000_000;

pub struct Lines {
    pub host: Namespace,
    server: Namespace,
    version: IpVersion,
}

impl Lines {
    /// Names of the lines.
    pub const NAMES: [&str; 2] = ["eth0", "wwan0"];

    /// Lines for only this IP version; the host has no default route. None if the queues cannot be made, which is
    /// printed.
    pub fn new(version: IpVersion) -> Option<Self> {
        let lines = Self {
            host: Namespace::new().unwrap(),
            server: Namespace::new().unwrap(),
            version,
        };
        sh(&lines.server, "ip link set lo up");
        let server = lines.server_address();
        sh(&lines.server, &format!("ip address add {server} dev lo"));
        let slow = (0..Self::NAMES.len()).all(|line| lines.lay(line));
        if !slow {
            skipped("no slow line without tc and its tbf");
        }
        slow.then_some(lines)
    }

    fn server_address(&self) -> IpAddr {
        let address = match self.version {
            IpVersion::V4 => "192.0.2.1",
            IpVersion::V6 => "2001:db8::1",
        };
        address.parse().unwrap()
    }

    /// Address of the host's (1) or the server's (2) end of the `line`.
    fn address(&self, line: usize, end: u8) -> String {
        match self.version {
            IpVersion::V4 => format!("198.51.{line}.{end}"),
            IpVersion::V6 => format!("2001:db8:{}::{end}", line + 1),
        }
    }

    /// Makes a line. False if the queue cannot be made.
    fn lay(&self, line: usize) -> bool {
        let name = Self::NAMES[line];
        let (pid, fd) = (std::process::id(), self.server.as_fd().as_raw_fd());
        let peer = format!("peer name {name} netns /proc/{pid}/fd/{fd}");
        sh(&self.host, &format!("ip link add {name} type veth {peer}"));
        for (end, host) in [(1, &self.host), (2, &self.server)] {
            let (address, form) = match self.version {
                IpVersion::V4 => (self.address(line, end), "/24"),
                IpVersion::V6 => (self.address(line, end), "/64 nodad"),
            };
            let add = format!("ip address add {address}{form} dev {name}");
            sh(host, &format!("{add} && ip link set {name} up"));
        }
        let queue = format!("tc qdisc add dev {name} root {QUEUE}");
        done(&self.server, &queue)
    }

    /// Moves the default route to that line.
    pub fn take(&self, line: usize) {
        let family = match self.version {
            IpVersion::V4 => "-4",
            IpVersion::V6 => "-6",
        };
        let (name, via) = (Self::NAMES[line], self.address(line, 2));
        sh(
            &self.host,
            &format!("ip {family} route replace default via {via} dev {name}"),
        );
    }

    /// Downloads a file by the default route. `look` gets the host's end of the connection while it is open.
    pub fn download(&self, look: impl FnOnce(SocketAddr)) {
        let address = self.server_address();
        let listen = || Ok(TcpListener::bind((address, 0))?);
        let listener = self.server.run(listen).unwrap();
        let to = listener.local_addr().unwrap();
        let mut near = self.host.run(|| Ok(TcpStream::connect(to)?)).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let sending = thread::spawn(move || {
            far.write_all(&vec![7; FILE]).unwrap();
            far
        });
        near.read_exact(&mut vec![0; FILE]).unwrap();
        let _far = sending.join().unwrap();
        look(near.local_addr().unwrap());
    }
}

fn done(host: &Namespace, script: &str) -> bool {
    let run = || Ok(Command::new("sh").args(["-c", script]).status()?.success());
    host.run(run).unwrap()
}

fn sh(host: &Namespace, script: &str) {
    assert!(done(host, script), "{script}");
}
