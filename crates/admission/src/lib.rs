//! Limits of a TCP server for clients that are not authenticated yet: a bounded number of connections, each for a
//! bounded time.
//!
//! A client can open a connection and send nothing, or a byte now and then. So a connection has one deadline for
//! everything that it must send ([`read_exact_until`]), and a [`Place`], which it may lose: when all places are taken,
//! the oldest unfinished connection gives way, first one of the same network. A newcomer is served however many
//! connections a stranger holds.

pub mod http;
mod network;
mod places;

pub use network::network_of;
pub use places::{Bounds, Place, Places};

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Fills the buffer before the instant `until`: one deadline, however many reads it takes.
///
/// # Errors
/// `TimedOut` when the instant passes, `UnexpectedEof` when the peer closes, or the socket's error.
pub fn read_exact_until(
    stream: &mut TcpStream,
    buffer: &mut [u8],
    until: Instant,
) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read_until(stream, &mut buffer[filled..], until)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(())
}

/// Reads the next bytes, before the instant `until`; 0 when the peer has closed.
///
/// # Errors
/// `TimedOut` when the instant passes, or the socket's error.
pub fn read_until(stream: &mut TcpStream, buffer: &mut [u8], until: Instant) -> io::Result<usize> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        // At least the kernel's clock tick: 0 would mean no timeout.
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(buffer) {
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests;
