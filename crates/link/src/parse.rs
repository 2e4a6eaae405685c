//! Recordings as text: read line by line, from whatever brings the bytes.

use std::fmt::Debug;

/// A line of a trace that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What was expected and what is there. Of the line itself it gives only kind and length, never the text: the
    /// reader of the message may not be allowed to read the file.
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

/// Least and largest long-run mean of a recorded rate, in bit/s. Below the least, the next packet would leave after
/// hours. No link is faster than the largest, and with it all that a run carries fits into 64 bits.
pub(crate) const MEANS: std::ops::RangeInclusive<f64> = 1.0..=1e11;

/// A recording that a file holds line by line: [`Trace`](crate::Trace), [`RateSeries`](crate::RateSeries),
/// [`DelayTrace`](crate::DelayTrace). A [`Reader`] builds it from the file's bytes.
pub trait Recording: Sized {
    /// The lines read so far.
    type Lines: Default + Debug;

    /// Takes one line, without its end.
    ///
    /// # Errors
    /// When the line is not what was expected.
    fn line(lines: &mut Self::Lines, number: usize, text: &str) -> Result<(), ParseError>;

    /// Builds the recording from all `count` lines.
    ///
    /// # Errors
    /// When the lines do not make a recording together.
    fn end(lines: Self::Lines, count: usize) -> Result<Self, ParseError>;
}

/// Reads a recording of any length, piece by piece. It keeps only the recording, which is shorter than its text.
///
/// It skips a byte order mark and accepts Windows' line ends.
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
    /// Takes the next piece.
    ///
    /// # Errors
    /// Names the first bad line.
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

    /// The recording, after all its pieces have been taken.
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

/// The kind of text that stands in place of a number.
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
