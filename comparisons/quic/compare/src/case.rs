//! A case of the comparison: a stack or a tunnel, a link, and the other traffic on it.

use laboratory::Link;
use serde::Serialize;
use std::fmt;

/// A QUIC stack.
pub struct Stack {
    /// Its name, also in its program's name.
    pub name: &'static str,
    /// Congestion controls that its program knows.
    pub controls: &'static [&'static str],
}

/// The stacks with a program.
pub const STACKS: [Stack; 5] = [
    stack("quinn", &["cubic", "bbr"]),
    stack("s2n-quic", &["cubic", "bbr"]),
    stack("quiche", &["cubic", "bbr"]),
    stack("quic-go", &["reno"]),
    stack("aioquic", &["reno", "cubic"]),
];

const fn stack(name: &'static str, controls: &'static [&'static str]) -> Stack {
    Stack { name, controls }
}

/// The name of the case with TCP within WireGuard.
pub const TUNNEL: &str = "tunnel";

/// The protocol of the download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A QUIC stack with one of its congestion controls.
    Quic {
        stack: &'static str,
        control: &'static str,
    },
    /// TCP within WireGuard.
    Tunnel,
}

/// The other traffic on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// Only echoes.
    Nothing,
    /// A download of the kernel's TCP.
    Tcp,
}

/// One comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// The protocol of the download.
    pub kind: Kind,
    /// The link.
    pub link: Link,
    /// The other traffic.
    pub beside: Beside,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quic { stack, control } => write!(f, "{stack}, {control}"),
            Self::Tunnel => write!(f, "TCP in WireGuard"),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.kind, self.link)?;
        match self.beside {
            Beside::Nothing => Ok(()),
            Beside::Tcp => write!(f, ", beside TCP"),
        }
    }
}
