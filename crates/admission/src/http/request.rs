//! Reads an HTTP/1.1 request from bytes.

use super::Refusal;

/// The most bytes of request line and headers.
pub const HEAD: usize = 8 << 10;
/// The most bytes of the body.
pub const BODY: usize = 64 << 10;

/// The most headers.
const HEADERS: usize = 64;

/// A request that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// HTTP's method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The header Authorization.
    pub authorization: Option<String>,
    /// The header Content-Type.
    pub content_type: Option<String>,
    /// The header Host: the name by which the client knows this machine.
    pub host: Option<String>,
    /// The bytes after the headers.
    pub body: Vec<u8>,
}

impl Received {
    /// Reads a request from the bytes that have arrived; none if it is incomplete.
    ///
    /// # Errors
    /// If the bytes are not a request, or it is too long. Never panics.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let length = match head.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() >= HEAD => {
                return Err(Refusal::new(
                    431,
                    format!("more than {HEAD} bytes of headers"),
                ));
            }
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(Refusal::new(400, format!("no HTTP request: {error}"))),
        };
        let whole = length + body_length(&head)?;
        let Some(body) = bytes.get(length..whole) else {
            return Ok(None);
        };
        Ok(Some(Self {
            method: head.method.unwrap_or_default().to_owned(),
            path: head.path.unwrap_or_default().to_owned(),
            authorization: header(&head, "authorization"),
            content_type: header(&head, "content-type"),
            host: host(&head)?,
            body: body.to_vec(),
        }))
    }
}

fn header(head: &httparse::Request, name: &str) -> Option<String> {
    let mut headers = head.headers.iter();
    let found = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(found.value).trim().to_owned())
}

/// More than one Host header is an error (RFC 9112, section 3.2).
fn host(head: &httparse::Request) -> Result<Option<String>, Refusal> {
    let hosts = head.headers.iter();
    let hosts = hosts.filter(|header| header.name.eq_ignore_ascii_case("host"));
    match hosts.count() {
        0 | 1 => Ok(header(head, "host")),
        _ => Err(Refusal::new(400, "more than one Host header, expected one")),
    }
}

fn body_length(head: &httparse::Request) -> Result<usize, Refusal> {
    if header(head, "transfer-encoding").is_some() {
        return Err(Refusal::new(411, "expected a Content-Length"));
    }
    match header(head, "content-length").map(|text| text.parse::<usize>()) {
        None => Ok(0),
        Some(Ok(length)) if length <= BODY => Ok(length),
        Some(Ok(_)) => Err(Refusal::new(413, format!("more than {BODY} bytes"))),
        Some(Err(_)) => Err(Refusal::new(400, "Content-Length is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn there_is_one_host() {
        let read =
            |hosts: &str| Received::read(format!("GET / HTTP/1.1\r\n{hosts}\r\n").as_bytes());
        let host = |hosts| read(hosts).unwrap().unwrap().host;
        assert_eq!(
            host("HOST: localhost:1 \r\n").as_deref(),
            Some("localhost:1")
        );
        assert_eq!(host(""), None);
        assert_eq!(read("Host: a\r\nhost: b\r\n").unwrap_err().status, 400);
    }

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
            if let Ok(Some(request)) = Received::read(&bytes) {
                prop_assert!(request.body.len() <= bytes.len().min(BODY));
            }
        }
    }
}
