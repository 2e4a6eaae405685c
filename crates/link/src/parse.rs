//! Recordings as text: read line by line, from whatever brings the bytes.

use std::fmt::Debug;

/// A line of a trace that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What was expected and what is there: of a file that may be none of the reader's business its kind and its length, and
    /// no word of it.
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

/// Longest line, in bytes: two numbers are shorter.
const LONGEST_LINE: usize = 256;

/// Least and largest long-run mean of a recorded rate, in bit/s. Below, the next packet would leave after hours; no link is
/// faster than the other, with which all that is carried in a run fits into 64 bits.
pub(crate) const MEANS: std::ops::RangeInclusive<f64> = 1.0..=1e11;

/// What is recorded in a file, a line a record: [`Trace`](crate::Trace), [`RateSeries`](crate::RateSeries),
/// [`DelayTrace`](crate::DelayTrace). A [`Reader`] makes it of the file's bytes.
pub trait Recording: Sized {
    /// What has been read of it.
    type Lines: Default + Debug;

    /// Takes a line without its end.
    ///
    /// # Errors
    /// When it is not what it should be.
    fn line(lines: &mut Self::Lines, number: usize, text: &str) -> Result<(), ParseError>;

    /// All of so many lines.
    ///
    /// # Errors
    /// When they are not what they should be together.
    fn end(lines: Self::Lines, count: usize) -> Result<Self, ParseError>;
}

/// Reads a recording of any length, piece by piece: what it keeps is the recording, which is shorter than its text.
///
/// A byte order mark is no part of the text, and lines may end as Windows has it.
#[derive(Debug)]
pub struct Reader<R: Recording> {
    lines: R::Lines,
    /// Lines so far.
    count: usize,
    /// The beginning of the next one.
    begun: Vec<u8>,
}

impl<R: Recording> Default for Reader<R> {
    fn default() -> Self {
        Self {
            lines: R::Lines::default(),
            count: 0,
            begun: Vec::new(),
        }
    }
}

impl<R: Recording> Reader<R> {
    /// Takes what comes next.
    ///
    /// # Errors
    /// Names the first line that is not what it should be.
    pub fn take(&mut self, mut bytes: &[u8]) -> Result<(), ParseError> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.begun.is_empty() {
                self.line(line)?;
            } else {
                let mut whole = std::mem::take(&mut self.begun);
                whole.extend_from_slice(line);
                self.line(&whole)?;
                whole.clear();
                self.begun = whole;
            }
            bytes = rest;
        }
        if self.begun.len() + bytes.len() > LONGEST_LINE {
            return Err(self.too_long());
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }

    /// The recording, all of which has been taken.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn finish(mut self) -> Result<R, ParseError> {
        if !self.begun.is_empty() {
            let last = std::mem::take(&mut self.begun);
            self.line(&last)?;
        }
        R::end(self.lines, self.count)
    }

    /// The whole text at once.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(crate) fn all(text: &str) -> Result<R, ParseError> {
        let mut reader = Self::default();
        reader.take(text.as_bytes())?;
        reader.finish()
    }

    fn line(&mut self, mut line: &[u8]) -> Result<(), ParseError> {
        if line.len() > LONGEST_LINE {
            return Err(self.too_long());
        }
        self.count += 1;
        if self.count == 1 {
            if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
                return Err(ParseError::new(1, "expected text in UTF-8, found UTF-16"));
            }
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line)
            .map_err(|_| ParseError::new(self.count, "expected text, found other bytes"))?;
        R::line(&mut self.lines, self.count, text)
    }

    fn too_long(&self) -> ParseError {
        let message = format!("expected a short line, found more than {LONGEST_LINE} bytes");
        ParseError::new(self.count + 1, message)
    }
}

/// A number written in nothing but digits; no sign, no spaces.
pub(crate) fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| text.parse().ok())?
}

/// A finite number of at least 0.
pub(crate) fn number(text: &str) -> Option<f64> {
    let x: f64 = text.trim().parse().ok()?;
    (x.is_finite() && x >= 0.0).then_some(x)
}

/// What stands there in place of a number, by its kind.
pub(crate) fn kind_of(text: &str) -> String {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return "nothing".into();
    }
    if trimmed.starts_with(['#', ';', '%']) || trimmed.starts_with("//") {
        return "a comment".into();
    }
    let Ok(number) = trimmed.parse::<f64>() else {
        return match trimmed.split(',').count() {
            1 => format!("a word of {} characters", trimmed.chars().count()),
            columns => format!("{columns} columns"),
        };
    };
    let kind = if number.is_nan() {
        "NaN"
    } else if number.is_infinite() {
        "infinity"
    } else if number < 0.0 {
        "a negative number"
    } else if trimmed != text {
        "a number with spaces around it"
    } else if trimmed.starts_with('+') {
        "a number with a sign"
    } else if trimmed.contains(['.', 'e', 'E']) {
        "a number with a point or an exponent, or one that is too large"
    } else {
        "a number that is too large"
    };
    kind.into()
}

#[cfg(test)]
mod tests;
