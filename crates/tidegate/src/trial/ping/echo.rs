//! Round trips of ICMP's echoes.

use super::{Questions, Step, is_v4, note};
use crate::icmp::{REQUEST_4, REQUEST_6, seal, socket_that_hears};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::BindToDevice;
use nix::sys::socket::{MsgFlags, SockaddrStorage, recv, sendto, setsockopt};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

const REPLY_4: u8 = 0;
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
        let answers = if v4 { REPLY_4 } else { REPLY_6 };
        let socket = socket_that_hears(v4, Some(answers))?;
        setsockopt(&socket, BindToDevice, &interface.into())?;
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
    seal(&mut packet);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::icmp::checksum;

    #[test]
    fn an_echo_has_a_checksum_and_says_its_number() {
        let packet = packet(true, [7; 8], 0x1_2345);
        assert_eq!(checksum(&packet), 0);
        assert_eq!(packet[6..8], [0x23, 0x45]);
        assert_eq!(packet[16..24], [0, 0, 0, 0, 0, 1, 0x23, 0x45]);
    }
}
