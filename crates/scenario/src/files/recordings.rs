//! Recordings that have been read, each once: however long, as a stream. Only its content is kept, not its text.

use crate::text::open;
use crate::{LoadError, SizeTable};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tidegate_link::{DelayTrace, ParseError, RateSeries, Reader, Recording, Trace};

/// Bytes of the longest recording, 4 GB: twelve hours of 100 Mbit/s in lines, and an end to what has none.
const MOST: u64 = 4 << 30;

/// Bytes that are read at a time.
const PIECE: usize = 256 << 10;

/// A series whose rates are all below that many bit/s was hardly meant so.
const SLOWEST_BPS: u64 = 10_000;

/// Recordings that have been read, and what is to be said of them. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Recordings(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// By path, or name where there is no file, and kind.
    read: BTreeMap<(PathBuf, Kind), (Content, blake3::Hash)>,
    warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Trace,
    Series,
    Delay,
    Sizes,
}

#[derive(Clone, Debug)]
pub enum Content {
    Trace(Arc<Trace>),
    Series(Arc<RateSeries>),
    Delay(Arc<DelayTrace>),
    Sizes(Arc<SizeTable>),
}

/// A kind of recording.
pub trait Recorded: Recording {
    const KIND: Kind;

    fn content(recording: Arc<Self>) -> Content;

    fn of(content: &Content) -> Option<Arc<Self>>;

    /// What its writer may have meant otherwise.
    fn doubt(&self) -> Option<String> {
        None
    }
}

impl Recorded for Trace {
    const KIND: Kind = Kind::Trace;

    fn content(recording: Arc<Self>) -> Content {
        Content::Trace(recording)
    }

    fn of(content: &Content) -> Option<Arc<Self>> {
        match content {
            Content::Trace(trace) => Some(Arc::clone(trace)),
            _ => None,
        }
    }
}

impl Recorded for RateSeries {
    const KIND: Kind = Kind::Series;

    fn content(recording: Arc<Self>) -> Content {
        Content::Series(recording)
    }

    fn of(content: &Content) -> Option<Arc<Self>> {
        match content {
            Content::Series(series) => Some(Arc::clone(series)),
            _ => None,
        }
    }

    fn doubt(&self) -> Option<String> {
        let most = self.max_bps();
        (most < SLOWEST_BPS).then(|| {
            format!(
                "no rate above {most} bit/s: the second column is in bits per second; 2.5 Mbit/s are written as 2500000"
            )
        })
    }
}

impl Recorded for DelayTrace {
    const KIND: Kind = Kind::Delay;

    fn content(recording: Arc<Self>) -> Content {
        Content::Delay(recording)
    }

    fn of(content: &Content) -> Option<Arc<Self>> {
        match content {
            Content::Delay(delays) => Some(Arc::clone(delays)),
            _ => None,
        }
    }
}

impl Recorded for SizeTable {
    const KIND: Kind = Kind::Sizes;

    fn content(recording: Arc<Self>) -> Content {
        Content::Sizes(recording)
    }

    fn of(content: &Content) -> Option<Arc<Self>> {
        match content {
            Content::Sizes(sizes) => Some(Arc::clone(sizes)),
            _ => None,
        }
    }
}

impl Recordings {
    /// What is to be said of those that have been read since the last question, each with its file: that a series in
    /// Mbit/s was taken for one in bit/s, as it is defined.
    pub fn warnings(&self) -> Vec<String> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut inner.warnings)
    }

    /// The recording at that path, or in that text, and the hash of its bytes.
    pub(super) fn get<R: Recorded>(
        &self,
        path: &Path,
        text: Option<&str>,
    ) -> Result<(Arc<R>, blake3::Hash), LoadError> {
        // Another thread that wants it waits until it has been read.
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = (path.to_owned(), R::KIND);
        if let Some((content, hash)) = inner.read.get(&known)
            && let Some(recording) = R::of(content)
        {
            return Ok((recording, *hash));
        }
        let (recording, hash) = match text {
            Some(text) => stream::<R>(text.as_bytes(), path)?,
            None => {
                let file = open(path).map_err(|source| unreadable(path, source))?;
                stream(file, path)?
            }
        };
        if let Some(doubt) = recording.doubt() {
            inner.warnings.push(format!("{}: {doubt}", path.display()));
        }
        let recording = Arc::new(recording);
        let content = R::content(Arc::clone(&recording));
        inner.read.insert(known, (content, hash));
        Ok((recording, hash))
    }
}

/// Reads to the end, piece by piece.
fn stream<R: Recording>(mut from: impl Read, path: &Path) -> Result<(R, blake3::Hash), LoadError> {
    let malformed = |error: ParseError| LoadError::Syntax {
        path: path.into(),
        line: error.line,
        key: None,
        message: error.message,
    };
    let mut reader = Reader::default();
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; PIECE];
    let mut left = MOST;
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(path, error)),
        };
        left = left.checked_sub(length as u64).ok_or_else(|| {
            let message = format!(
                "more than {} GB, expected the end of a recording before",
                MOST >> 30
            );
            unreadable(path, io::Error::new(ErrorKind::FileTooLarge, message))
        })?;
        hasher.update(&piece[..length]);
        reader.take(&piece[..length]).map_err(malformed)?;
    }
    Ok((reader.finish().map_err(malformed)?, hasher.finalize()))
}

fn unreadable(path: &Path, source: io::Error) -> LoadError {
    LoadError::Read {
        path: path.into(),
        source,
    }
}

#[cfg(test)]
mod tests;
