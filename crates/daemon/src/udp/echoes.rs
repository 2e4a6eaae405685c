//! The agent's own echo requests: they measure the delay of flows that do not show it themselves.

use super::turns::Turn;
use crate::icmp::{REQUEST_4, REQUEST_6, seal, socket_that_hears};
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrIn, SockaddrIn6, sendmsg};
use std::io::IoSlice;
use std::net::{IpAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

/// How many flows one echo can measure.
pub const FLOWS: usize = 4;

/// Marks an unused place.
const NONE: u16 = u16::MAX;

/// Sends echoes.
pub struct Echoes {
    id: u16,
    /// Only a host that sees our echoes knows it.
    secret: u32,
    sequence: u16,
    v4: OwnedFd,
    /// None where the kernel has no IPv6.
    v6: Option<OwnedFd>,
}

impl Echoes {
    /// Opens the sockets for echoes with this identifier and secret.
    ///
    /// # Errors
    /// Without CAP_NET_RAW.
    pub fn new(id: u16, secret: u32) -> Result<Self> {
        let cannot = "open a socket for echoes (CAP_NET_RAW)";
        // The kernel programs take the answers: a raw socket that read them would get all ICMP.
        let v6 = match socket_that_hears(false, None) {
            Err(Errno::EAFNOSUPPORT) => None,
            v6 => Some(v6.context(cannot)?),
        };
        Ok(Self {
            id,
            secret,
            sequence: 0,
            v4: socket_that_hears(true, None).context(cannot)?,
            v6,
        })
    }

    /// Sends an echo. If the socket refuses it, it counts as lost.
    pub fn send(&mut self, now_us: u64, turn: &Turn) {
        self.sequence = self.sequence.wrapping_add(1);
        let mut places = [NONE; FLOWS];
        for (place, flow) in places.iter_mut().zip(&turn.places) {
            *place = *flow as u16;
        }
        let told = [self.secret, now_us as u32];
        let packet = |kind| packet(kind, self.id, self.sequence, told, places);
        // The sockets are bound to no interface, as interfaces come and go.
        let _ = match turn.to {
            IpAddr::V4(to) => {
                let by = libc::in_pktinfo {
                    ipi_ifindex: turn.interface as i32,
                    ipi_spec_dst: libc::in_addr { s_addr: 0 },
                    ipi_addr: libc::in_addr { s_addr: 0 },
                };
                sendmsg(
                    self.v4.as_raw_fd(),
                    &[IoSlice::new(&packet(REQUEST_4))],
                    &[ControlMessage::Ipv4PacketInfo(&by)],
                    MsgFlags::MSG_DONTWAIT,
                    Some(&SockaddrIn::from(SocketAddrV4::new(to, 0))),
                )
            }
            IpAddr::V6(to) => {
                let Some(v6) = &self.v6 else { return };
                let by = libc::in6_pktinfo {
                    ipi6_ifindex: turn.interface,
                    ipi6_addr: libc::in6_addr { s6_addr: [0; 16] },
                };
                sendmsg(
                    v6.as_raw_fd(),
                    &[IoSlice::new(&packet(REQUEST_6))],
                    &[ControlMessage::Ipv6PacketInfo(&by)],
                    MsgFlags::MSG_DONTWAIT,
                    Some(&SockaddrIn6::from(SocketAddrV6::new(to, 0, 0, 0))),
                )
            }
        };
    }

    /// Length of an echo in bytes, with the IP header.
    pub fn bytes(to: IpAddr) -> u64 {
        let ip = if to.is_ipv4() { 20 } else { 40 };
        ip + LENGTH as u64
    }
}

const LENGTH: usize = 8 + 8 + 2 * FLOWS;

/// An ICMP header (RFC 792, RFC 4443 section 4.1), then the secret, the time of sending and the flows' places:
/// `struct tg_echo_packet`.
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
    seal(&mut packet);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::icmp::checksum;

    #[test]
    fn an_echo_has_a_checksum() {
        let packet = packet(REQUEST_4, 0x1234, 7, [5, 99], [3, NONE, NONE, NONE]);
        assert_eq!(checksum(&packet), 0);
        assert_eq!(packet[4..8], [0x12, 0x34, 0, 7]);
    }
}
