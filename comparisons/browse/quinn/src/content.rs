//! The server's objects; `comparisons/browse/quic-go/content.go` explains the addresses.

use bytes::Bytes;
use http::Uri;
use std::path::Path;
use std::time::Duration;

/// The most bytes of an answer, and milliseconds of a wait.
const LONGEST: usize = 1 << 30;
const LONGEST_WAIT_MS: usize = 10_000;

/// The beginning of a picture of one grey pixel, up to the length of a chunk of filling.
const PIXEL: [u8; 58] = *b"\x89PNG\r\n\x1a\n\
    \0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\
    \0\0\0\x0dIDAT\x78\x01\x01\x02\0\xfd\xff\0\x80\0\x82\0\x81\xc3\x6e\x25\xe0";

/// That chunk's checksum, which a browser does not check since it does not know the chunk, and the picture's end.
const PICTURE_END: [u8; 16] = *b"\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82";

/// An answer.
pub struct Answer {
    /// The site's time to make it.
    pub after: Duration,
    /// Its type.
    pub mime: &'static str,
    /// Whether a browser may keep it.
    pub caching: &'static str,
    /// Its first bytes.
    pub start: Bytes,
    /// Number of bytes between start and end.
    pub filling: usize,
    /// Its last bytes.
    pub end: Bytes,
}

impl Answer {
    /// None if there is no such object.
    pub fn to(uri: &Uri, pages: &Path) -> Option<Self> {
        let mut words = uri.path().split('/').skip(1);
        let (kind, what) = (words.next()?, words.next()?);
        if kind == "page" {
            let ms = number(words.next()?, LONGEST_WAIT_MS)?;
            return page(what, ms as u64, pages);
        }
        let size = number(what, LONGEST)?;
        let caching = match uri.query() {
            Some("keep") => "max-age=86400, immutable",
            _ => "no-store",
        };
        object(kind, size, caching)
    }

    /// Its length in bytes.
    pub fn length(&self) -> usize {
        self.start.len() + self.filling + self.end.len()
    }
}

fn number(word: &str, most: usize) -> Option<usize> {
    word.parse().ok().filter(|number| *number <= most)
}

fn page(name: &str, ms: u64, pages: &Path) -> Option<Answer> {
    let html = std::fs::read(pages.join(format!("{name}.html"))).ok()?;
    Some(Answer {
        after: Duration::from_millis(ms),
        mime: "text/html; charset=utf-8",
        caching: "no-store",
        start: html.into(),
        filling: 0,
        end: Bytes::new(),
    })
}

fn object(kind: &str, size: usize, caching: &'static str) -> Option<Answer> {
    let (mime, start, end): (_, &[u8], &'static [u8]) = match kind {
        "style" => ("text/css", b"/*", b"*/"),
        // Pages define `ran`: some scripts load more objects.
        "script" => ("text/javascript", b"ran(document.currentScript);/*", b"*/"),
        "image" => ("image/png", &PIXEL, &PICTURE_END),
        "data" => ("application/octet-stream", b"", b""),
        _ => return None,
    };
    let mut start = start.to_vec();
    let head = if kind == "image" {
        b"xxxxfiLl".len()
    } else {
        0
    };
    let filling = size.saturating_sub(start.len() + head + end.len());
    if kind == "image" {
        start.extend_from_slice(&(filling as u32).to_be_bytes());
        start.extend_from_slice(b"fiLl");
    }
    Some(Answer {
        after: Duration::ZERO,
        mime,
        caching,
        start: start.into(),
        filling,
        end: Bytes::from_static(end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_as_long_as_its_address_says() {
        for kind in ["style", "script", "image", "data"] {
            let uri = format!("https://host/{kind}/5000/1").parse().unwrap();
            let answer = Answer::to(&uri, Path::new("/")).unwrap();
            assert_eq!(answer.length(), 5000, "{kind}");
        }
        for wrong in [
            "/film/5/1",
            "/data/-5/1",
            "/data/9999999999/1",
            "/data",
            "/",
        ] {
            assert!(Answer::to(&wrong.parse().unwrap(), Path::new("/")).is_none());
        }
    }
}
