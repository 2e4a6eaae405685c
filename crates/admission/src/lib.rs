//! What a TCP server gives to those who have not shown yet that they may: a bounded number of connections, each for a
//! bounded time.
//!
//! Whoever can open a connection can keep it open and say nothing, or a byte now and then. So a connection has one
//! deadline for all that it must say ([`read_exact_until`]), and a [`Place`], which it may lose: where there is no room,
//! the oldest connection that has not finished gives way, first one of the same network. A newcomer is served, however
//! many connections a stranger holds.

pub mod http;
mod network;
mod places;

pub use network::network_of;
pub use places::{Bounds, Place, Places};

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Fills the buffer before that instant: one deadline, however many reads it takes.
///
/// # Errors
/// `TimedOut` when the instant passes, `UnexpectedEof` when the peer ends, or what the socket says.
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

/// What comes next, before that instant; 0 when the peer has ended.
///
/// # Errors
/// `TimedOut` when the instant passes, or what the socket says.
pub fn read_until(stream: &mut TcpStream, buffer: &mut [u8], until: Instant) -> io::Result<usize> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        // No less than the kernel's clock tick, or the timeout would be none.
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(buffer) {
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests;
