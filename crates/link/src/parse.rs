//! Errors of the trace parsers.

/// A line of a trace that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What is there and what was expected.
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
