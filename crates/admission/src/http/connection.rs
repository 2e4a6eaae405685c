//! One request and its answer, within limits of time and size.

use super::request::{BODY, HEAD, Received};
use super::{Refusal, Reply};
use crate::read_until;
use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The time for the whole request.
const TIMEOUT: Duration = Duration::from_secs(5);

pub struct Connection {
    stream: TcpStream,
    until: Instant,
    /// The bytes that have arrived.
    bytes: Vec<u8>,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            until: Instant::now() + TIMEOUT,
            bytes: Vec::new(),
        }
    }

    /// Reads the request, or says why it cannot be answered.
    pub fn read(&mut self) -> io::Result<Result<Received, Refusal>> {
        loop {
            match Received::read(&self.bytes) {
                Ok(Some(request)) => return Ok(Ok(request)),
                Err(refusal) => return Ok(Err(refusal)),
                Ok(None) => {}
            }
            if !self.more()? {
                let limit = TIMEOUT.as_secs();
                let why = format!("the request is incomplete, expected all of it within {limit} s");
                return Ok(Err(Refusal::new(408, why)));
            }
        }
    }

    /// Reads more bytes. Returns whether any came in time.
    fn more(&mut self) -> io::Result<bool> {
        let mut piece = [0; 4096];
        match read_until(&mut self.stream, &mut piece, self.until) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.bytes.extend(&piece[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Answers, without the body if only the head was asked for, and ends the connection.
    pub fn answer(mut self, reply: &Reply, head_only: bool) -> io::Result<()> {
        let more = reply.headers.iter();
        let more: String = more
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let head = format!(
            "HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n{more}connection: close\r\n\r\n",
            reply.status,
            if reply.status == 200 { "OK" } else { "Refused" },
            reply.content_type,
            reply.body.len(),
        );
        self.stream.set_write_timeout(Some(TIMEOUT))?;
        let body = if head_only { &[][..] } else { &reply.body };
        self.stream.write_all(&[head.as_bytes(), body].concat())?;
        self.stream.shutdown(Shutdown::Write)?;
        // With unread bytes the kernel would reset the connection, and the answer would be lost.
        while self.bytes.len() < HEAD + BODY && self.more()? {}
        Ok(())
    }
}
