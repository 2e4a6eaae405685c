//! What the agent and the gate's process say to each other: a request, then its reply, each one message on a
//! pair of sockets. When the agent's end closes, the gate's process lets everything go and ends.

use crate::{Counts, Flow, FlowCounts, Limits, QueueBy};
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, Shutdown, UnixAddr, recvmsg, sendmsg, shutdown,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Flows of one request at most: it fits into [`MESSAGE`].
pub const FLOWS: usize = 256;

/// Bytes of a message at most.
const MESSAGE: usize = 1 << 16;

/// Descriptors of a message at most.
const DESCRIPTORS: usize = 64;

#[derive(Serialize, Deserialize)]
pub enum Request {
    /// Comes first, with descriptors for the law.
    Open(Limits),
    /// These flows' packets pass through the gate from now on.
    Hold(Vec<Flow>),
    /// They do not any more.
    Leave(Vec<Flow>),
    Counts,
    /// Of each flow.
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
        let received = recvmsg::<UnixAddr>(fd, &mut parts, Some(&mut rights), flags)?;
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
