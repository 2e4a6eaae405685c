//! One request and its answer, within a time and a number of bytes.

use crate::registry::service::{Reply, Request, refuse};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// For the whole request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of request line and headers, and of the body, at most.
const HEAD: usize = 8 << 10;
const BODY: usize = 64 << 10;

/// Headers at most.
const HEADERS: usize = 64;

pub struct Connection {
    stream: TcpStream,
    until: Instant,
    /// What has come.
    bytes: Vec<u8>,
}

/// A request that was read.
pub struct Received {
    method: String,
    path: String,
    authorization: Option<String>,
    content_type: Option<String>,
    body: Vec<u8>,
}

impl Received {
    /// As the service takes it.
    pub fn borrow(&self) -> Request<'_> {
        Request {
            method: &self.method,
            path: &self.path,
            authorization: self.authorization.as_deref(),
            content_type: self.content_type.as_deref(),
            body: &self.body,
        }
    }
}

/// What the head says.
struct Head {
    request: Received,
    /// Bytes of the head, and of the body.
    head: usize,
    body: usize,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            until: Instant::now() + PATIENCE,
            bytes: Vec::new(),
        }
    }

    /// Reads the request, or says why it is none.
    pub fn read(&mut self) -> io::Result<Result<Received, Reply>> {
        let head = loop {
            match parse(&self.bytes) {
                Ok(Some(head)) => break head,
                Ok(None) if self.bytes.len() >= HEAD => {
                    return Ok(Err(refuse(
                        431,
                        format!("more than {HEAD} bytes of headers"),
                    )));
                }
                Ok(None) => {}
                Err(refusal) => return Ok(Err(refusal)),
            }
            if !self.more()? {
                return Ok(Err(refuse(408, "the request does not end")));
            }
        };
        let whole = head.head + head.body;
        while self.bytes.len() < whole {
            if !self.more()? {
                return Ok(Err(refuse(408, "the request does not end")));
            }
        }
        let mut request = head.request;
        request.body = self.bytes[head.head..whole].to_vec();
        Ok(Ok(request))
    }

    /// Whether something came in time.
    fn more(&mut self) -> io::Result<bool> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut piece = [0; 4096];
        match self.stream.read(&mut piece) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.bytes.extend(&piece[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Answers and ends the connection.
    pub fn answer(mut self, reply: &Reply) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            reply.status,
            if reply.status == 200 { "OK" } else { "Refused" },
            reply.body.len(),
        );
        self.stream.set_write_timeout(Some(PATIENCE))?;
        self.stream
            .write_all(&[head.as_bytes(), &reply.body].concat())?;
        self.stream.shutdown(Shutdown::Write)?;
        // What is left unread would have the kernel reset the connection, and the answer be lost.
        while self.bytes.len() < HEAD + BODY && self.more()? {}
        Ok(())
    }
}

/// None if there is more to come.
fn parse(bytes: &[u8]) -> Result<Option<Head>, Reply> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(refuse(400, format!("no HTTP request: {error}"))),
    };
    let header = |name: &str| {
        let found = request
            .headers
            .iter()
            .find(|h| h.name.eq_ignore_ascii_case(name));
        found.map(|h| String::from_utf8_lossy(h.value).trim().to_owned())
    };
    if header("transfer-encoding").is_some() {
        return Err(refuse(411, "expected a Content-Length"));
    }
    let body = match header("content-length").map(|text| text.parse::<usize>()) {
        None => 0,
        Some(Ok(body)) if body <= BODY => body,
        Some(Ok(_)) => return Err(refuse(413, format!("more than {BODY} bytes"))),
        Some(Err(_)) => return Err(refuse(400, "a Content-Length that is no number")),
    };
    let request = Received {
        method: request.method.unwrap_or_default().to_owned(),
        path: request.path.unwrap_or_default().to_owned(),
        authorization: header("authorization"),
        content_type: header("content-type"),
        body: Vec::new(),
    };
    Ok(Some(Head {
        request,
        head,
        body,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_are_refused(
            line in "(GET|POST|.{0,9}) (/[a-z/]{0,20}|.{0,20}) HTTP/1.[0-3]",
            headers in vec("(content-length|transfer-encoding|[a-z]{1,9}|.{0,5}): ?(.{0,30}|[0-9]{1,30})", 0..70),
            body: Vec<u8>,
            cut: prop::sample::Index,
        ) {
            let mut bytes = format!("{line}\r\n{}\r\n\r\n", headers.join("\r\n")).into_bytes();
            bytes.extend(body);
            bytes.truncate(cut.index(bytes.len() + 1));
            if let Ok(Some(head)) = parse(&bytes) {
                prop_assert!(head.head <= bytes.len() && head.body <= BODY);
            }
        }
    }
}
