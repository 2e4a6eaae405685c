//! ICMP's echo (RFC 792, RFC 4443 section 4) by a raw socket: sockets of its own kind for it are mostly forbidden.

use super::{Questions, Step, is_v4, note};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::BindToDevice;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, recv, sendto,
    setsockopt, socket,
};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

const REQUEST_4: u8 = 8;
const REPLY_4: u8 = 0;
const REQUEST_6: u8 = 128;
const REPLY_6: u8 = 129;

/// Header, secret, number, and as much more as ping(8) sends.
const LENGTH: usize = 64;

/// Of ICMP.
const HEADER: usize = 8;

/// Asks for echoes.
pub struct Echoes {
    socket: OwnedFd,
    to: SockaddrStorage,
    v4: bool,
    /// What nobody knows who does not see the echoes.
    secret: [u8; 8],
}

impl Echoes {
    /// From that address by that interface.
    pub fn open(to: IpAddr, interface: &str) -> Result<Self, Errno> {
        let v4 = is_v4(to);
        let (family, protocol) = if v4 {
            (AddressFamily::Inet, SockProtocol::Icmp)
        } else {
            (AddressFamily::Inet6, SockProtocol::IcmpV6)
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(family, SockType::Raw, flags, protocol)?;
        setsockopt(&socket, BindToDevice, &interface.into())?;
        hear_answers_alone(&socket, v4)?;
        Ok(Self {
            socket,
            to: SocketAddr::new(to.to_canonical(), 0).into(),
            v4,
            secret: rand::random(),
        })
    }

    /// Asks if it is time to, and takes answers.
    pub fn step(&mut self, questions: &Questions, step: Step) {
        if let Some(number) = step.asks {
            let packet = packet(self.v4, self.secret, number);
            // What does not go is an echo that is lost.
            let _ = sendto(
                self.socket.as_raw_fd(),
                &packet,
                &self.to,
                MsgFlags::MSG_DONTWAIT,
            );
        }
        let left = step.until.saturating_duration_since(Instant::now());
        let mut ready = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // Rounded up, or it would turn round and round within the last millisecond.
        let timeout = PollTimeout::from(left.as_millis().min(1000) as u16 + 1);
        let _ = poll(&mut ready, timeout);
        let mut buffer = [0; 256];
        while let Ok(length) = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
            if let Some(number) = self.read(&buffer[..length]) {
                note(questions, number);
            }
        }
    }

    /// Which question that answers, if it is an answer to one of ours.
    fn read(&self, packet: &[u8]) -> Option<usize> {
        let (header, reply) = if self.v4 {
            // An IPv4 header stands before it.
            (usize::from(packet.first()? & 15) * 4, REPLY_4)
        } else {
            (0, REPLY_6)
        };
        let icmp = packet.get(header..)?;
        if *icmp.first()? != reply || icmp.get(HEADER..HEADER + 8)? != self.secret {
            return None;
        }
        let number = icmp.get(HEADER + 8..HEADER + 16)?.try_into().ok()?;
        usize::try_from(u64::from_be_bytes(number)).ok()
    }
}

fn packet(v4: bool, secret: [u8; 8], number: usize) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[0] = if v4 { REQUEST_4 } else { REQUEST_6 };
    packet[4..6].copy_from_slice(&secret[..2]);
    packet[6..8].copy_from_slice(&(number as u16).to_be_bytes());
    packet[HEADER..HEADER + 8].copy_from_slice(&secret);
    packet[HEADER + 8..HEADER + 16].copy_from_slice(&(number as u64).to_be_bytes());
    // The kernel fills in ICMPv6's.
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// RFC 1071.
fn checksum(packet: &[u8; LENGTH]) -> u16 {
    let words = packet.chunks_exact(2);
    let sum: u32 = words
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// Keeps all kinds of ICMP but answers from the socket (linux/icmp.h, linux/icmpv6.h).
fn hear_answers_alone(socket: &OwnedFd, v4: bool) -> Result<(), Errno> {
    const ICMP_FILTER: i32 = 1;
    let (level, reply, length) = if v4 {
        (libc::SOL_RAW, REPLY_4, 4)
    } else {
        (libc::IPPROTO_ICMPV6, REPLY_6, 32)
    };
    let mut mask = [u32::MAX; 8];
    mask[usize::from(reply / 32)] ^= 1 << (reply % 32);
    // SAFETY: at most 32 bytes of the mask are read.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            ICMP_FILTER,
            mask.as_ptr().cast(),
            length,
        )
    };
    Errno::result(status).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_has_a_checksum_and_says_its_number() {
        let packet = packet(true, [7; 8], 0x1_2345);
        assert_eq!(checksum(&packet), 0);
        assert_eq!(packet[6..8], [0x23, 0x45]);
        assert_eq!(packet[16..24], [0, 0, 0, 0, 0, 1, 0x23, 0x45]);
    }
}
