//! Where the tests take place, and what holds for all of them.

use nix::errno::Errno;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Config, Hook, Interface};
use tidegate_lab::{Namespace, Veth};
use tidegate_laws::Params;

/// Runs `act` in the client's namespace. Whatever it does, no packet may have a wrong checksum.
///
/// One at a time: the tests measure time. Nothing at all without root, which is said aloud.
pub fn on_stage(act: impl FnOnce(&Veth) + Send) {
    static TURN: Mutex<()> = Mutex::new(());
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: the agent needs root");
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let hosts = Veth::new().unwrap();
    hosts
        .client
        .run(|| {
            act(&hosts);
            Ok(())
        })
        .unwrap();
    for host in [&hosts.client, &hosts.server] {
        assert_eq!(checksum_errors(host), 0, "segments with a wrong checksum");
    }
}

/// An agent on the client's end of the link.
pub fn start(params: Params, hook: Hook) -> Agent {
    Agent::start(&Config {
        interfaces: vec![interface()],
        params,
        hook,
        ..Config::default()
    })
    .unwrap()
}

/// The end of the link in the calling thread's namespace.
pub fn interface() -> Interface {
    Interface::find(Veth::INTERFACE).unwrap()
}

/// How many packets met the fate `reason`.
pub fn count(agent: &Agent, reason: &str) -> u64 {
    let counts = agent.counts().unwrap();
    let count = counts.iter().find(|c| c.reason == reason);
    count.expect("a reason that the agent knows").packets
}

/// Waits for a condition.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "waited in vain for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Who computes the checksums of what the hosts send, and cuts it into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// The device, as it says: a veth lets merged packets without a checksum pass to the other end,
    /// which trusts them.
    On,
    /// The kernel, for each packet on the wire; the other end verifies them.
    Off,
}

/// Sets both ends' offload.
pub fn set_offload(hosts: &Veth, offload: Offload) {
    for host in [&hosts.client, &hosts.server] {
        host.run(|| Ok(set_transmit_checksum(offload == Offload::On)?))
            .unwrap();
    }
}

/// Without it there is no segmentation offload either.
fn set_transmit_checksum(on: bool) -> nix::Result<()> {
    /// linux/sockios.h and linux/ethtool.h.
    const SIOCETHTOOL: libc::Ioctl = 0x8946;
    const ETHTOOL_STXCSUM: u32 = 0x17;
    let mut value = [ETHTOOL_STXCSUM, on.into()];
    // SAFETY: all zeroes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(Veth::INTERFACE.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket to ask by");
    // SAFETY: the request and the struct ethtool_value behind it outlive the call; the name ends in
    // NUL.
    Errno::result(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) })
        .map(drop)
}

/// `TcpInCsumErrors` of a host.
fn checksum_errors(host: &Namespace) -> u64 {
    let table = host
        .run(|| Ok(std::fs::read_to_string("/proc/thread-self/net/snmp")?))
        .unwrap();
    let mut rows = table.lines().filter(|row| row.starts_with("Tcp:"));
    let mut row = || rows.next().unwrap().split_whitespace();
    let (mut names, mut values) = (row(), row());
    let at = names.position(|name| name == "InCsumErrors").unwrap();
    values.nth(at).unwrap().parse().unwrap()
}
