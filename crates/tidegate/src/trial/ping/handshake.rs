//! Round trips by TCP handshake: how long it takes until a connection opens or is refused.

use super::{Questions, Step, TIMEOUT, note};
use nix::errno::Errno;
use nix::sys::socket::sockopt::{BindToDevice, SendTimeout};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, setsockopt, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// Opens connections and drops them.
pub struct Handshakes {
    to: SocketAddr,
    interface: String,
}

impl Handshakes {
    /// Connections to that address through that interface.
    pub fn of(to: SocketAddr, interface: &str) -> Self {
        Self {
            to,
            interface: interface.into(),
        }
    }

    /// Sends a probe if one is due. A thread for each probe waits for its answer.
    pub fn step(&self, questions: &Questions, step: Step) {
        if let Some(number) = step.asks {
            let (to, interface) = (self.to, self.interface.clone());
            let questions = Arc::clone(questions);
            thread::spawn(move || {
                // A refusal is an answer, too.
                if matches!(open(to, &interface), Ok(()) | Err(Errno::ECONNREFUSED)) {
                    note(&questions, number);
                }
            });
        }
        thread::sleep(step.until.saturating_duration_since(Instant::now()));
    }
}

fn open(to: SocketAddr, interface: &str) -> Result<(), Errno> {
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::Inet,
        SocketAddr::V6(_) => AddressFamily::Inet6,
    };
    let socket = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, BindToDevice, &interface.into())?;
    // This also limits connect(2).
    setsockopt(
        &socket,
        SendTimeout,
        &TimeVal::seconds(TIMEOUT.as_secs() as i64),
    )?;
    connect(socket.as_raw_fd(), &SockaddrStorage::from(to))
}
