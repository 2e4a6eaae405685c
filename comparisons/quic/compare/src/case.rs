//! A case of the comparison: a stack or a tunnel, what it does, a link, and the other traffic on it.

use laboratory::Link;
use serde::Serialize;
use std::fmt;

/// A QUIC stack.
pub struct Stack {
    /// Its name, also in its program's name.
    pub name: &'static str,
    /// Congestion controls that its program knows.
    pub controls: &'static [&'static str],
    /// What its API lets its program do.
    pub features: &'static [With],
    /// Whether its program uploads.
    pub uploads: bool,
}

/// The stacks with a program.
pub const STACKS: [Stack; 5] = [
    Stack {
        name: "quinn",
        controls: &["cubic", "bbr"],
        features: &[
            With::Migration,
            With::Resumption,
            With::KeyUpdates,
            With::Datagrams,
        ],
        uploads: true,
    },
    Stack {
        name: "s2n-quic",
        controls: &["cubic", "bbr"],
        features: &[],
        uploads: false,
    },
    Stack {
        name: "quiche",
        controls: &["cubic", "bbr"],
        features: &[With::Resumption, With::Datagrams],
        uploads: false,
    },
    Stack {
        name: "quic-go",
        controls: &["reno"],
        features: &[With::Migration, With::Resumption, With::Datagrams],
        uploads: false,
    },
    Stack {
        name: "aioquic",
        controls: &["reno", "cubic"],
        features: &[With::Resumption, With::KeyUpdates, With::Datagrams],
        uploads: false,
    },
];

/// What a QUIC download does beside receiving a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum With {
    /// The client takes another port half way.
    Migration,
    /// It is the second connection, and asks in 0-RTT.
    Resumption,
    /// The client updates the keys every two seconds.
    KeyUpdates,
    /// The server sends datagrams (RFC 9221) instead of a stream.
    Datagrams,
}

/// Which way the data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// To the client, behind the link.
    Down,
    /// From the client.
    Up,
}

/// A tunnel in user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tunnel {
    /// boringtun, over UDP.
    WireGuard,
    /// OpenVPN, over TCP.
    OpenVpn,
}

impl Tunnel {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::WireGuard, Self::OpenVpn];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::WireGuard => "tunnel",
            Self::OpenVpn => "tcp-tunnel",
        }
    }
}

/// What carries the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A QUIC stack with one of its congestion controls.
    Quic {
        stack: &'static str,
        control: &'static str,
    },
    /// TCP within a tunnel.
    Tunnel(Tunnel),
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
    /// What carries the data.
    pub kind: Kind,
    /// What it does beside that.
    pub with: Option<With>,
    /// Which way the data go.
    pub direction: Direction,
    /// The link.
    pub link: Link,
    /// The other traffic.
    pub beside: Beside,
}

impl Case {
    /// What the programs call it.
    pub fn task(&self) -> String {
        match (self.with, self.direction) {
            (Some(with), _) => with.to_string(),
            (None, Direction::Down) => "download".into(),
            (None, Direction::Up) => "upload".into(),
        }
    }

    /// Its name without link and other traffic.
    pub fn name(&self) -> String {
        match (self.with, self.direction) {
            (None, Direction::Down) => self.kind.to_string(),
            _ => format!("{}, {}", self.kind, self.task()),
        }
    }
}

impl fmt::Display for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Migration => "migration",
            Self::Resumption => "resumption",
            Self::KeyUpdates => "key-updates",
            Self::Datagrams => "datagrams",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quic { stack, control } => write!(f, "{stack}, {control}"),
            Self::Tunnel(Tunnel::WireGuard) => write!(f, "TCP in WireGuard"),
            Self::Tunnel(Tunnel::OpenVpn) => write!(f, "TCP in OpenVPN over TCP"),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.name(), self.link)?;
        match self.beside {
            Beside::Nothing => Ok(()),
            Beside::Tcp => write!(f, ", beside TCP"),
        }
    }
}
