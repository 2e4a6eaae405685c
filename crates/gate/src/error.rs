//! The gate's errors.

use std::io;

/// Why a gate or a fallback does not work.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A system call failed.
    #[error("cannot {what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The gate's process has refused, with its reason.
    #[error("the gate's process {0}")]
    Refused(String),
    /// The gate's process has ended, or does not answer: the packets that it held have left, or are lost if it was
    /// killed.
    #[error("the gate's process has ended or does not answer")]
    Gone(#[source] io::Error),
    /// The law panicked. The held packets have left.
    #[error("the gate's law has panicked; the held packets have left")]
    Panicked,
}

impl GateError {
    /// The error and what caused it, in a line.
    #[must_use]
    pub fn in_words(&self) -> String {
        let first: &dyn std::error::Error = self;
        let causes = std::iter::successors(Some(first), |error| error.source());
        let words: Vec<_> = causes.map(ToString::to_string).collect();
        words.join(": ")
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
