//! Requests and answers on one connection, one after another.

use std::collections::VecDeque;
use tidegate_basics::time::Instant;
use tidegate_tcp::Connection;

/// Bytes of a request, as in the laboratory.
const REQUEST: u64 = 16;

/// Both ends' view of a connection that carries requests up and answers down.
#[derive(Debug)]
pub struct Exchange {
    /// Bytes of a request.
    request: u64,
    /// Requests that the client wants to send.
    unsent: u64,
    /// Sizes asked for that the server has not read yet.
    asked: VecDeque<u64>,
    /// Bytes that the server has yet to write.
    owed: u64,
    /// Bytes that the client has yet to read.
    awaited: u64,
}

impl Default for Exchange {
    fn default() -> Self {
        Self::new(REQUEST)
    }
}

impl Exchange {
    /// Nothing requested yet; each request has that many bytes.
    pub fn new(request: u64) -> Self {
        Self {
            request,
            unsent: 0,
            asked: VecDeque::new(),
            owed: 0,
            awaited: 0,
        }
    }

    /// The client asks for an object of `bytes`.
    pub fn ask(&mut self, bytes: u64) {
        self.unsent += 1;
        self.asked.push_back(bytes);
        self.awaited += bytes;
    }

    /// Whether everything requested has arrived.
    pub fn is_idle(&self) -> bool {
        self.awaited == 0
    }

    /// Something has happened at the client's end. Returns whether that completed everything requested.
    pub fn client(&mut self, now: Instant, end: &mut Connection) -> bool {
        if end.is_established() && self.unsent > 0 {
            end.write(self.unsent * self.request);
            self.unsent = 0;
        }
        let read = end.read(now, u64::MAX);
        self.awaited -= read;
        read > 0 && self.awaited == 0
    }

    /// Something has happened at the server's end. Returns whether it has just written the last byte of an answer.
    pub fn server(&mut self, now: Instant, end: &mut Connection) -> bool {
        let mut answers = self.owed > 0;
        while end.readable() >= self.request
            && let Some(bytes) = self.asked.pop_front()
        {
            end.read(now, self.request);
            self.owed += bytes;
            answers = true;
        }
        if self.owed > 0 {
            self.owed -= end.write(self.owed);
        }
        answers && self.owed == 0
    }
}
