//! Load by TCP, and probes beside it and on it, for the responsiveness of draft-ietf-ippm-responsiveness.
//!
//! The draft's connections are HTTP/2 over TLS; we use its version for hosts that have neither: TCP only. A connection
//! begins with a pass, which is valid once and has a tag by the session's key. Then:
//!
//! * *Probe*: the server answers the pass with one byte.
//! * *Down*: the server sends frames as fast as TCP lets it. A byte from the client is a request; the first byte of
//!   each frame says how many requests were answered so far, so that an answer stands behind the data sent before it,
//!   as one of HTTP/2's streams does.
//! * *Up*: the client sends frames; the server answers each with one byte, so that the client knows what has arrived.

mod client;
mod connect;
mod journal;
mod server;

pub use client::Load;
pub use server::{Pass, Passes, accept};

use super::seal::{Key, TAG, VERSION};
use nix::libc;
use nix::sys::socket::{setsockopt, sockopt};
use nix::{setsockopt_impl, sockopt_impl};
use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Bytes of a frame.
pub const FRAME: usize = 4096;

/// Unsent data wait in the application, not in the socket, or probes would wait behind them.
const NOT_SENT: u32 = 4 * FRAME as u32;

/// A write or read that takes longer checks whether it is still wanted.
const TIMEOUT: Duration = Duration::from_millis(250);

/// The kind of a pass, in its second byte.
const PASS: u8 = 7;

/// Bytes of a pass.
const PASS_BYTES: usize = 28 + TAG;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Probe,
    Down,
    Up,
}

/// The contents of a connection's pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The session.
    pub id: [u8; 8],
    /// No two passes of a session have the same.
    pub counter: u64,
    pub purpose: Purpose,
    /// The load that it is part of.
    pub load: u8,
    /// Bytes that all connections of this load may be sent.
    pub bytes: u64,
}

impl Wanted {
    /// The pass with its tag.
    pub fn seal(&self, key: &Key) -> Vec<u8> {
        let mut pass = vec![VERSION, PASS];
        pass.extend(self.id);
        pass.extend(self.counter.to_be_bytes());
        pass.extend([self.purpose as u8, self.load]);
        pass.extend(self.bytes.to_be_bytes());
        pass.extend(key.tag(&[b"tcp", &pass]));
        pass
    }

    /// The contents; who sent it is not known yet.
    fn read(pass: &[u8; PASS_BYTES]) -> Option<Self> {
        let purpose = [Purpose::Probe, Purpose::Down, Purpose::Up];
        (pass[..2] == [VERSION, PASS]).then_some(())?;
        Some(Self {
            id: pass[2..10].try_into().ok()?,
            counter: u64::from_be_bytes(pass[10..18].try_into().ok()?),
            purpose: *purpose.get(usize::from(pass[18]))?,
            load: pass[19],
            bytes: u64::from_be_bytes(pass[20..28].try_into().ok()?),
        })
    }
}

sockopt_impl!(
    /// Bytes that may wait in the socket before they are sent.
    NotSentLowWater,
    SetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_NOTSENT_LOWAT,
    u32
);

/// Prepares a connection for frames.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(setsockopt(stream, NotSentLowWater, &NOT_SENT)?)
}

/// Ends a connection at once, without the data that wait to be sent: the last descriptor that closes resets it.
fn abort(stream: &TcpStream) {
    let at_once = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // A connection that is closed already needs nothing.
    let _ = setsockopt(stream, sockopt::Linger, &at_once);
    let _ = stream.shutdown(Shutdown::Both);
}

/// Writes everything, as long as it is wanted; returns whether it was.
fn write_while(
    stream: &mut TcpStream,
    mut bytes: &[u8],
    wanted: impl Fn() -> bool,
) -> io::Result<bool> {
    while !bytes.is_empty() {
        if !wanted() {
            return Ok(false);
        }
        match stream.write(bytes) {
            Ok(0) => return Ok(false),
            Ok(written) => bytes = &bytes[written..],
            Err(e) if is_transient(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(true)
}

/// Sleeps, as long as that is wanted; returns whether it was. At a low rate many connections wait long for their turn.
fn sleep_while(mut left: Duration, wanted: impl Fn() -> bool) -> bool {
    while !left.is_zero() {
        if !wanted() {
            return false;
        }
        let now = left.min(TIMEOUT);
        std::thread::sleep(now);
        left -= now;
    }
    true
}

/// Whether this only means that nothing happened for a while.
fn is_transient(error: &io::Error) -> bool {
    let kinds = [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
    ];
    kinds.contains(&error.kind())
}
