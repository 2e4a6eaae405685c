//! Blocking sockets whose every wait is bounded.

use crate::term::Term;
use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    Backlog, MsgFlags, SockaddrStorage, bind, connect as connect_socket, listen as listen_at, recv,
    setsockopt, sockopt,
};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// How long a call may block before its caller looks at the time.
const SLICE: Duration = Duration::from_millis(20);

/// Listens at `address`, at a port that the kernel chooses, for connections with that congestion
/// control.
///
/// The congestion control must be set on the listener: a connection starts with its listener's. If that were the
/// machine's default and this is BBR, the connection would keep BBR's pacing for good, whatever is set later.
///
/// # Errors
/// When the kernel refuses.
pub fn listen(address: IpAddr, congestion_control: &str, protocol: i32) -> Result<TcpListener> {
    let at = SocketAddr::new(address, 0);
    let socket = open(at, protocol)?;
    bind(socket.as_raw_fd(), &SockaddrStorage::from(at)).context("the server cannot listen")?;
    listen_at(&socket, Backlog::MAXCONN).context("the server cannot listen")?;
    let listener = TcpListener::from(socket);
    use_congestion_control(&listener, congestion_control)?;
    Ok(listener)
}

/// A non-blocking socket of TCP or MPTCP.
fn open(to: SocketAddr, protocol: i32) -> Result<OwnedFd> {
    let family = match to {
        SocketAddr::V4(_) => libc::AF_INET,
        SocketAddr::V6(_) => libc::AF_INET6,
    };
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: socket(2) takes three numbers.
    let fd = Errno::result(unsafe { libc::socket(family, kind, protocol) });
    let fd = fd.context("cannot make a socket")?;
    // SAFETY: the kernel has just made the descriptor, for nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Connects within `term`; none if it ended first.
///
/// # Errors
/// When the peer refuses.
pub fn connect(
    to: SocketAddr,
    congestion_control: &str,
    protocol: i32,
    term: &Term,
) -> Result<Option<TcpStream>> {
    let stream = TcpStream::from(open(to, protocol)?);
    prepare(&stream, congestion_control)?;
    match connect_socket(stream.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(error).with_context(|| format!("cannot connect to {to}")),
    }
    while !ready(stream.as_fd(), PollFlags::POLLOUT)? {
        if term.is_over() {
            return Ok(None);
        }
    }
    match stream.take_error()? {
        // The other end may have closed because the term is over.
        Some(_) if term.is_over() => Ok(None),
        Some(error) => Err(error).with_context(|| format!("cannot connect to {to}")),
        None => {
            make_blocking(&stream)?;
            Ok(Some(stream))
        }
    }
}

/// Accepts one connection within `term`; none if it ended first.
///
/// # Errors
/// When the listener is broken.
pub fn accept(
    listener: &TcpListener,
    congestion_control: &str,
    term: &Term,
) -> Result<Option<TcpStream>> {
    while !term.is_over() {
        if !ready(listener.as_fd(), PollFlags::POLLIN)? {
            continue;
        }
        match listener.accept() {
            Ok((stream, _)) => {
                prepare(&stream, congestion_control)?;
                make_blocking(&stream)?;
                return Ok(Some(stream));
            }
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error).context("cannot accept a connection"),
        }
    }
    Ok(None)
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// That number of bytes.
    Bytes(usize),
    /// The peer has sent everything.
    End,
    /// The term ended first.
    Over,
}

/// Reads what has arrived.
///
/// # Errors
/// When the connection broke before the term was over.
pub fn receive(mut stream: &TcpStream, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
    while !term.is_over() {
        match stream.read(buffer) {
            Ok(0) => return Ok(Arrival::End),
            Ok(n) => return Ok(Arrival::Bytes(n)),
            Err(error) if is_transient(&error) => {}
            // At the end of the term both ends drop the connection.
            Err(_) if term.is_over() => {}
            Err(error) => return Err(error).context("the connection broke while receiving"),
        }
    }
    Ok(Arrival::Over)
}

/// Reads what has arrived, if anything, without waiting for more.
///
/// # Errors
/// When the connection broke before the term was over.
pub fn receive_at_once(stream: &TcpStream, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
    match recv(stream.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
        Ok(0) => Ok(Arrival::End),
        Ok(n) => Ok(Arrival::Bytes(n)),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(Arrival::Bytes(0)),
        Err(_) if term.is_over() => Ok(Arrival::Over),
        Err(error) => Err(error).context("the connection broke while receiving"),
    }
}

/// Hands some of `data` to the kernel; none if the term ended first.
///
/// # Errors
/// When the connection broke before the term was over.
fn send(mut stream: &TcpStream, data: &[u8], term: &Term) -> Result<Option<usize>> {
    while !term.is_over() {
        match stream.write(data) {
            Ok(n) => return Ok(Some(n)),
            Err(error) if is_transient(&error) => {}
            Err(_) if term.is_over() => {}
            Err(error) => return Err(error).context("the connection broke while sending"),
        }
    }
    Ok(None)
}

/// Hands all of `data` to the kernel; `false` if the term ended first.
///
/// # Errors
/// When the connection broke before the term was over.
pub fn send_whole(stream: &TcpStream, mut data: &[u8], term: &Term) -> Result<bool> {
    while !data.is_empty() {
        match send(stream, data, term)? {
            Some(n) => data = &data[n..],
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Drops the connection at once: what is queued is discarded and the peer is reset.
pub fn abort(stream: &TcpStream) -> Result<()> {
    let at_once = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(stream, sockopt::Linger, &at_once).context("cannot set SO_LINGER")
}

/// Sets the congestion control of a connection, or of those that a listener will accept, whatever the machine's default
/// is. Best before the connection exists: see `listen`.
///
/// # Errors
/// When the kernel has none of that name.
pub fn use_congestion_control(socket: &impl AsFd, name: &str) -> Result<()> {
    setsockopt(socket, sockopt::TcpCongestion, &OsString::from(name))
        .with_context(|| format!("cannot use congestion control \"{name}\""))
}

fn prepare(stream: &TcpStream, congestion_control: &str) -> Result<()> {
    use_congestion_control(stream, congestion_control)?;
    Ok(stream.set_nodelay(true)?)
}

fn make_blocking(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(SLICE))
}

/// Waits for at most a slice.
fn ready(fd: BorrowedFd, events: PollFlags) -> Result<bool> {
    let timeout = PollTimeout::from(SLICE.as_millis() as u16);
    match poll(&mut [PollFd::new(fd, events)], timeout) {
        Ok(n) => Ok(n > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => bail!("cannot wait for a socket: {error}"),
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests;
