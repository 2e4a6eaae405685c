//! The protocol between agent and gate's process: a request, then its reply, each one message on a pair of sockets.
//! When the agent's end closes, the gate's process lets everything go and ends.

use crate::{Counts, Flow, FlowCounts, Limits, QueueBy};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, Shutdown, UnixAddr, recvmsg, sendmsg, shutdown,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The most flows in one request, so that it fits into [`MESSAGE`].
pub const FLOWS: usize = 256;

/// The most bytes in a message.
const MESSAGE: usize = 1 << 16;

/// The most descriptors in a message.
const DESCRIPTORS: usize = 64;

#[derive(Serialize, Deserialize)]
pub enum Request {
    /// Comes first, with descriptors for the law.
    Open(Limits),
    /// These flows' packets pass through the gate from now on.
    Hold(Vec<Flow>),
    /// They no longer do.
    Leave(Vec<Flow>),
    Counts,
    /// Counts of each flow.
    Each,
}

#[derive(Serialize, Deserialize)]
pub enum Reply {
    Open(QueueBy),
    Done,
    Counts(Counts),
    Each(Vec<(Flow, FlowCounts)>),
    Refused(String),
}

/// One end of the pair.
pub struct Channel(pub OwnedFd);

impl Channel {
    pub fn send(&self, message: &impl Serialize, descriptors: &[BorrowedFd]) -> io::Result<()> {
        let bytes = serde_json::to_vec(message)?;
        let descriptors: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&descriptors)];
        let rights = if descriptors.is_empty() {
            &[][..]
        } else {
            &rights[..]
        };
        let flags = MsgFlags::MSG_NOSIGNAL;
        let parts = [IoSlice::new(&bytes)];
        sendmsg::<UnixAddr>(self.0.as_raw_fd(), &parts, rights, flags, None)?;
        Ok(())
    }

    /// The next message, or none if the other end is closed.
    pub fn receive<M: DeserializeOwned>(&self) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
        let mut bytes = vec![0; MESSAGE];
        let mut rights = cmsg_space!([RawFd; DESCRIPTORS]);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let fd = self.0.as_raw_fd();
        let received = match recvmsg::<UnixAddr>(fd, &mut parts, Some(&mut rights), flags) {
            // With a timeout, the kernel does not restart the call by itself after a signal (signal(7)).
            Err(Errno::EINTR) => return self.receive(),
            received => received?,
        };
        let length = received.bytes;
        let mut descriptors = Vec::new();
        for message in received.cmsgs()? {
            if let ControlMessageOwned::ScmRights(all) = message {
                // SAFETY: the kernel has just made these descriptors for this process.
                descriptors.extend(all.iter().map(|fd| unsafe { OwnedFd::from_raw_fd(*fd) }));
            }
        }
        if length == 0 {
            return Ok(None);
        }
        Ok(Some((
            serde_json::from_slice(&bytes[..length])?,
            descriptors,
        )))
    }

    /// The other end sees this one closed.
    pub fn close(&self) {
        // It may be gone.
        let _ = shutdown(self.0.as_raw_fd(), Shutdown::Both);
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{
        AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt::ReceiveTimeout,
    };
    use nix::sys::time::{TimeVal, TimeValLike};
    use signal_hook::consts::SIGUSR1;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_signal_is_no_end_of_the_conversation() {
        let caught = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGUSR1, caught.clone()).unwrap();
        let seqpacket = SockType::SeqPacket;
        let (ours, theirs) =
            socketpair(AddressFamily::Unix, seqpacket, None, SockFlag::empty()).unwrap();
        setsockopt(&ours, ReceiveTimeout, &TimeVal::seconds(30)).unwrap();
        // SAFETY: it only asks.
        let receiver = unsafe { libc::pthread_self() };
        let sender = thread::spawn(move || {
            for _ in 0..10 {
                thread::sleep(Duration::from_millis(10));
                // SAFETY: that thread waits for what comes below.
                assert_eq!(unsafe { libc::pthread_kill(receiver, SIGUSR1) }, 0);
            }
            Channel(theirs).send(&Reply::Done, &[]).unwrap();
        });
        let received = Channel(ours).receive::<Reply>();
        let (reply, _) = received.unwrap().expect("the other end is open");
        assert!(matches!(reply, Reply::Done));
        assert!(caught.load(Ordering::Relaxed));
        sender.join().unwrap();
    }
}
