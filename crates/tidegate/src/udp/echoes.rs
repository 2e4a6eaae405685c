//! Echoes of the agent's own: what tells it the delay of flows that show none.

use anyhow::{Context, Result};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6, sendto,
    setsockopt, socket, sockopt::BindToDevice,
};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use tidegate_agent::{Candidate, Interface};

/// Flows that one echo asks for.
pub const FLOWS: usize = 4;

/// A place that is none.
const NONE: u16 = u16::MAX;

const ECHO_REQUEST_4: u8 = 8;
const ECHO_REQUEST_6: u8 = 128;

/// Sockets from which an interface's echoes are sent.
struct Sockets {
    interface: u32,
    v4: OwnedFd,
    v6: OwnedFd,
}

/// Sends echoes.
pub struct Echoes {
    id: u16,
    /// What nobody knows who does not see the echoes.
    secret: u32,
    sequence: u16,
    sockets: Vec<Sockets>,
}

impl Echoes {
    /// With that identifier and secret, over these interfaces.
    ///
    /// # Errors
    /// Without CAP_NET_RAW.
    pub fn new(id: u16, secret: u32, interfaces: &[Interface]) -> Result<Self> {
        let sockets = interfaces.iter().map(|interface| {
            Ok(Sockets {
                interface: interface.index,
                v4: raw(AddressFamily::Inet, SockProtocol::Icmp, &interface.name)?,
                v6: raw(AddressFamily::Inet6, SockProtocol::IcmpV6, &interface.name)?,
            })
        });
        Ok(Self {
            id,
            secret,
            sequence: 0,
            sockets: sockets.collect::<Result<_>>()?,
        })
    }

    /// Asks for up to [`FLOWS`] flows of one server.
    pub fn ask(&mut self, now_us: u64, flows: &[&Candidate]) {
        let Some(first) = flows.first() else { return };
        let sockets = self.sockets.iter();
        let Some(sockets) = sockets.into_iter().find(|s| s.interface == first.interface) else {
            return;
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut places = [NONE; FLOWS];
        for (place, flow) in places.iter_mut().zip(flows) {
            *place = flow.place as u16;
        }
        let told = [self.secret, now_us as u32];
        let packet = |kind| packet(kind, self.id, self.sequence, told, places);
        // What does not go is an echo that is lost.
        match first.remote.ip() {
            IpAddr::V4(to) => {
                let to = SockaddrIn::from(std::net::SocketAddrV4::new(to, 0));
                let _ = sendto(
                    sockets.v4.as_raw_fd(),
                    &packet(ECHO_REQUEST_4),
                    &to,
                    MsgFlags::MSG_DONTWAIT,
                );
            }
            IpAddr::V6(to) => {
                let to = SockaddrIn6::from(std::net::SocketAddrV6::new(to, 0, 0, 0));
                let _ = sendto(
                    sockets.v6.as_raw_fd(),
                    &packet(ECHO_REQUEST_6),
                    &to,
                    MsgFlags::MSG_DONTWAIT,
                );
            }
        }
    }

    /// Bytes of an echo, from the IP header on.
    pub fn bytes(to: IpAddr) -> u64 {
        let ip = if to.is_ipv4() { 20 } else { 40 };
        ip + LENGTH as u64
    }
}

const LENGTH: usize = 8 + 8 + 2 * FLOWS;

/// ICMP's header (RFC 792, RFC 4443 section 4.1), the secret and when it was sent, and for whom: `struct tg_echo_packet`.
fn packet(kind: u8, id: u16, sequence: u16, told: [u32; 2], places: [u16; FLOWS]) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[0] = kind;
    packet[4..6].copy_from_slice(&id.to_be_bytes());
    packet[6..8].copy_from_slice(&sequence.to_be_bytes());
    packet[8..12].copy_from_slice(&told[0].to_ne_bytes());
    packet[12..16].copy_from_slice(&told[1].to_ne_bytes());
    for (bytes, place) in packet[16..].chunks_exact_mut(2).zip(places) {
        bytes.copy_from_slice(&place.to_ne_bytes());
    }
    // The kernel fills in ICMPv6's.
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// RFC 1071.
fn checksum(packet: &[u8]) -> u16 {
    let words = packet.chunks_exact(2);
    let sum: u32 = words
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

fn raw(family: AddressFamily, protocol: SockProtocol, interface: &str) -> Result<OwnedFd> {
    let socket = socket(
        family,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        Some(protocol),
    )
    .context("open a socket for echoes (CAP_NET_RAW)")?;
    setsockopt(&socket, BindToDevice, &interface.into())
        .with_context(|| format!("bind it to {interface}"))?;
    hear_nothing(&socket, family).context("let it receive nothing")?;
    Ok(socket)
}

/// Answers are the kernel programs' to take; a raw socket would collect all of ICMP.
fn hear_nothing(socket: &OwnedFd, family: AddressFamily) -> std::io::Result<()> {
    /// Of both versions (linux/icmp.h, linux/icmpv6.h).
    const ICMP_FILTER: i32 = 1;
    const ALL: [u32; 8] = [u32::MAX; 8];
    let (level, option, length) = match family {
        AddressFamily::Inet => (libc::SOL_RAW, ICMP_FILTER, 4),
        _ => (libc::IPPROTO_ICMPV6, ICMP_FILTER, 32),
    };
    // SAFETY: `length` bytes of a constant are read.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            ALL.as_ptr().cast(),
            length,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_has_a_checksum() {
        let packet = packet(ECHO_REQUEST_4, 0x1234, 7, [5, 99], [3, NONE, NONE, NONE]);
        assert_eq!(checksum(&packet), 0);
        assert_eq!(packet[4..8], [0x12, 0x34, 0, 7]);
    }
}
