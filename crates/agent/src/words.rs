//! The words that the kernel programs share with user space, generated from `bpf/shared.h`.

include!(concat!(env!("OUT_DIR"), "/words.rs"));

impl Reason {
    /// In two or three words, for a column: why data are left alone.
    pub const fn short(self) -> &'static str {
        match self {
            Self::NoFlow => "answers unseen",
            Self::NoScale => "no window scale",
            Self::Denied => "denied by rule",
            Self::Sealed => "sealed",
            Self::Mptcp => "MPTCP",
            Self::Fragment => "fragments",
            Self::IpOptions => "IP options",
            Self::NoClock => "clock unknown",
            // These count packets only, never data that are left alone.
            other => other.name(),
        }
    }
}
