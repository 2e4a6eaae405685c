//! ICMP echo (RFC 792, RFC 4443 section 4) by raw sockets: most systems forbid ping sockets.

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use std::os::fd::{AsRawFd, OwnedFd};

/// The type of an echo request in ICMP for IPv4,
pub const REQUEST_4: u8 = 8;
/// and for IPv6.
pub const REQUEST_6: u8 = 128;

/// A raw socket for ICMP of either version that receives only messages of the kind `hears`; nothing at all if that is
/// none.
///
/// # Errors
/// Without CAP_NET_RAW; `EAFNOSUPPORT` if the kernel has no IPv6.
pub fn socket_that_hears(v4: bool, hears: Option<u8>) -> Result<OwnedFd, Errno> {
    let (family, protocol) = if v4 {
        (AddressFamily::Inet, SockProtocol::Icmp)
    } else {
        (AddressFamily::Inet6, SockProtocol::IcmpV6)
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, SockType::Raw, flags, protocol)?;
    hear_alone(&socket, v4, hears)?;
    Ok(socket)
}

/// Filters all other kinds (linux/icmp.h, linux/icmpv6.h).
fn hear_alone(socket: &OwnedFd, v4: bool, hears: Option<u8>) -> Result<(), Errno> {
    /// The same for both versions.
    const ICMP_FILTER: i32 = 1;
    let (level, length) = if v4 {
        (libc::SOL_RAW, 4)
    } else {
        (libc::IPPROTO_ICMPV6, 32)
    };
    let mut mask = [u32::MAX; 8];
    if let Some(kind) = hears {
        mask[usize::from(kind / 32)] ^= 1 << (kind % 32);
    }
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

/// Fills in a packet's checksum (RFC 1071) at its third and fourth byte; for ICMPv6 the kernel does.
pub fn seal(packet: &mut [u8]) {
    packet[2..4].fill(0);
    let sum = checksum(packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
}

/// The checksum of RFC 1071, over an even number of bytes; 0 if the packet contains its own checksum.
pub fn checksum(packet: &[u8]) -> u16 {
    let words = packet.chunks_exact(2);
    let sum: u32 = words
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
