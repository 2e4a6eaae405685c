//! What can go wrong.

use std::io;

/// Why a gate, or what stands in for it, does not work.
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
    /// What the gate's process says it cannot do.
    #[error("the gate's process {0}")]
    Refused(String),
    /// The gate's process has ended, or does not answer: what it held has left, or is lost if it was killed.
    #[error("the gate's process is gone")]
    Gone(#[source] io::Error),
    /// The law panicked. What was held has left.
    #[error("the law that says when packets leave has panicked")]
    Panicked,
}

impl GateError {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
