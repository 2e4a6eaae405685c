//! Errors of a registry's client.

/// Why the registry did not do what the client asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not the address of a registry.
    #[error("{url}: expected a registry such as http://registry.example:7480")]
    Url {
        /// What was given.
        url: String,
    },
    /// It does not answer.
    #[error("the registry {url} does not answer: {reason}")]
    Unreachable {
        /// Which.
        url: String,
        /// The network's error.
        reason: String,
    },
    /// It answers, but not as a registry does.
    #[error("{url} answers, but not as a registry does: {reason}")]
    Answer {
        /// Which.
        url: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// It refuses.
    #[error("the registry {url} refuses: {reason}")]
    Refused {
        /// Which.
        url: String,
        /// HTTP's status.
        status: u16,
        /// The registry's reason.
        reason: String,
    },
}

impl Error {
    /// Whether asking again in a moment is useless: 4xx, except "too long" and "too often".
    pub fn is_final(&self) -> bool {
        match self {
            Self::Url { .. } => true,
            Self::Refused { status, .. } => {
                (400..500).contains(status) && !matches!(status, 408 | 429)
            }
            Self::Unreachable { .. } | Self::Answer { .. } => false,
        }
    }

    /// Whether the registry does not know the receiver.
    pub fn is_unknown_receiver(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// Of two errors the more informative one: a refusal rather than no answer.
    pub(super) fn or(self, other: Self) -> Self {
        let says = |error: &Self| !matches!(error, Self::Unreachable { .. });
        if says(&self) || !says(&other) {
            self
        } else {
            other
        }
    }
}
