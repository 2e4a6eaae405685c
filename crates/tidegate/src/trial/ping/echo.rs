//! Round trips by ICMP echo.

use super::{Questions, Step, is_v4, note};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::BindToDevice;
use nix::sys::socket::{MsgFlags, SockaddrStorage, recv, sendto, setsockopt};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;
use tidegate_daemon::icmp::{REQUEST_4, REQUEST_6, seal, socket_that_hears};

const REPLY_4: u8 = 0;
const REPLY_6: u8 = 129;

/// Header, secret and number, padded to the size that ping(8) uses.
const LENGTH: usize = 64;

/// Length of the ICMP header.
const HEADER: usize = 8;

/// Sends echo requests.
pub struct Echoes {
    socket: OwnedFd,
    to: SockaddrStorage,
    v4: bool,
    /// Only a host that sees our echoes knows it.
    secret: [u8; 8],
}

impl Echoes {
    /// Opens a socket for echoes to that address through that interface.
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

    /// Sends a probe if one is due, and takes answers.
    pub fn step(&mut self, questions: &Questions, step: Step) {
        if let Some(number) = step.asks {
            let packet = packet(self.v4, self.secret, number);
            // If the socket refuses it, the probe counts as lost.
            let _ = sendto(
                self.socket.as_raw_fd(),
                &packet,
                &self.to,
                MsgFlags::MSG_DONTWAIT,
            );
        }
        let left = step.until.saturating_duration_since(Instant::now());
        let mut ready = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // Rounded up: otherwise the loop would spin during the last millisecond.
        let timeout = PollTimeout::from(left.as_millis().min(1000) as u16 + 1);
        let _ = poll(&mut ready, timeout);
        let mut buffer = [0; 256];
        while let Ok(length) = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
            if let Some(number) = self.read(&buffer[..length]) {
                note(questions, number);
            }
        }
    }

    /// The number of the probe that this packet answers, if it answers one of ours.
    fn read(&self, packet: &[u8]) -> Option<usize> {
        let (header, reply) = if self.v4 {
            // An IPv4 header comes first.
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
    use tidegate_daemon::icmp::checksum;

    #[test]
    fn an_echo_has_a_checksum_and_says_its_number() {
        let packet = packet(true, [7; 8], 0x1_2345);
        assert_eq!(checksum(&packet), 0);
        assert_eq!(packet[6..8], [0x23, 0x45]);
        assert_eq!(packet[16..24], [0, 0, 0, 0, 0, 1, 0x23, 0x45]);
    }
}
