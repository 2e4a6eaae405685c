//! The application's writing and reading.

use super::State;
use crate::connection::ConnectionError;
use std::task::{Context, Poll};

/// The most packets that wait to be sent for the first time; more would only grow old in memory.
const UNSENT: u64 = 256;

impl State {
    /// Whether another packet may be written.
    pub(super) fn has_room(&self) -> bool {
        // The end of the stream may be a packet of its own, sent and acknowledged but not written by the application.
        let kept = self.written.saturating_sub(self.sender.acknowledged());
        kept < self.capacity && self.written.saturating_sub(self.sent) < UNSENT
    }

    /// Writes some of `bytes`.
    pub fn poll_write(
        &mut self,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<Result<usize, ConnectionError>> {
        if let Some(error) = &self.error {
            return Poll::Ready(Err(error.clone()));
        }
        if self.finished {
            return Poll::Ready(Err(ConnectionError::Closed));
        }
        let mut left = bytes;
        while !left.is_empty() && self.has_room() {
            let room = self.payload().saturating_sub(self.writing.len());
            let (now, later) = left.split_at(left.len().min(room));
            self.writing.extend_from_slice(now);
            left = later;
            if self.writing.len() >= self.payload() {
                self.cut();
            }
        }
        let taken = bytes.len() - left.len();
        if taken == 0 && !bytes.is_empty() {
            self.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(taken))
    }

    /// Makes a packet of the bytes that have been written so far.
    pub fn cut(&mut self) {
        if self.writing.is_empty() {
            return;
        }
        let next = self.outgoing.buffer();
        let packet = std::mem::replace(&mut self.writing, next);
        self.outgoing.put(self.written, packet);
        self.written += 1;
        self.sender.write(1);
    }

    /// A small amount of written bytes is sent when nothing is in flight (RFC 896).
    pub(super) fn cut_when_idle(&mut self) {
        if self.sender.is_acknowledged() && self.has_room() {
            self.cut();
        }
    }

    /// The application has nothing more to write; ready when all of it has been acknowledged.
    pub fn poll_shutdown(&mut self, context: &mut Context) -> Poll<Result<(), ConnectionError>> {
        if !self.finished {
            self.cut();
            self.sender.finish();
            self.finished = true;
        }
        if self.sender.is_acknowledged() {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = &self.error {
            return Poll::Ready(Err(error.clone()));
        }
        self.writer = Some(context.waker().clone());
        Poll::Pending
    }

    /// Reads into `out` until that is full or no more bytes in order are there; 0 bytes: the end.
    pub fn poll_read(
        &mut self,
        context: &mut Context,
        out: &mut tokio::io::ReadBuf,
    ) -> Poll<Result<(), ConnectionError>> {
        let before = out.filled().len();
        while out.remaining() > 0 && self.has_reading() {
            let (packet, done) = &mut self.reading;
            let count = out.remaining().min(packet.len() - *done);
            out.put_slice(&packet[*done..*done + count]);
            *done += count;
        }
        if out.filled().len() > before || out.remaining() == 0 || self.receiver.finished() {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = &self.error {
            return Poll::Ready(Err(error.clone()));
        }
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether there is something to read; takes the next packet if necessary.
    fn has_reading(&mut self) -> bool {
        while self.reading.1 == self.reading.0.len() {
            if self.receiver.read(1) == 0 {
                return false;
            }
            let next = self.incoming.take(self.read);
            let read = std::mem::replace(&mut self.reading, (next, 0));
            self.incoming.give_back(read.0);
            self.read += 1;
        }
        true
    }

    /// Whether the peer should be told at once that there is room again.
    pub fn has_urgent_feedback(&self) -> bool {
        self.receiver.is_urgent()
    }
}
