//! The common part of the programs around each QUIC stack.
//!
//! `PROGRAM server ADDRESS FOLDER CONTROL SECONDS TASK` and `PROGRAM client` with the same: the client opens a stream,
//! sends a byte on it, and one end receives the other's data for SECONDS. FOLDER has `certificate.pem` and `key.pem`;
//! CONTROL is the sender's congestion control; ADDRESS is the server's. The end that receives prints one line of JSON,
//! also if the connection breaks.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The name in the certificate.
pub const NAME: &str = "server";

/// The application protocol (ALPN).
pub const ALPN: &str = "download";

/// The receive window: more than any link's queue holds.
pub const WINDOW: u32 = 64 << 20;

/// Bytes that the sender hands to its stack at a time.
pub const CHUNK: usize = 64 << 10;

const CERTIFICATE: &str = "certificate.pem";

/// The time between two key updates.
pub const KEY_PERIOD: Duration = Duration::from_secs(2);

/// How much longer than the receiver counts the client sends: the server begins later.
pub const LONGER: Duration = Duration::from_secs(1);

/// What the connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The server sends on a stream.
    Download,
    /// That, and the client takes another port after half of the time.
    Migration,
    /// That, after a first connection, whose ticket lets the client ask in 0-RTT.
    Resumption,
    /// That, and the client updates the keys every [`KEY_PERIOD`].
    KeyUpdates,
    /// The server sends datagrams (RFC 9221) instead.
    Datagrams,
    /// The client sends on its stream.
    Upload,
}

impl Task {
    const ALL: [(&str, Self); 6] = [
        ("download", Self::Download),
        ("migration", Self::Migration),
        ("resumption", Self::Resumption),
        ("key-updates", Self::KeyUpdates),
        ("datagrams", Self::Datagrams),
        ("upload", Self::Upload),
    ];
}

/// The end that this process is.
pub enum End {
    /// Waits for a connection.
    Server(Terms),
    /// Connects.
    Client(Terms),
}

/// What both ends are told.
#[derive(Clone)]
pub struct Terms {
    /// The server's address.
    pub server: SocketAddr,
    /// The sender's congestion control.
    pub control: String,
    /// How long the receiver receives.
    pub period: Duration,
    /// What the connection does.
    pub task: Task,
    folder: PathBuf,
}

impl Terms {
    /// The file of the server's certificate.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join(CERTIFICATE)
    }

    /// The file of the server's key.
    pub fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// Fails unless the task is a download or one of `known`.
    pub fn expect(&self, known: &[Task]) -> Result<()> {
        if self.task == Task::Download || known.contains(&self.task) {
            return Ok(());
        }
        bail!("{:?}: expected Download, or one of {known:?}", self.task);
    }
}

impl End {
    /// Reads the command line.
    pub fn from_arguments() -> Result<Self> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let [end, address, folder, control, seconds, task] = words[..] else {
            bail!("expected `server|client ADDRESS FOLDER CONTROL SECONDS TASK`");
        };
        let known = Task::ALL.into_iter().find(|(name, _)| *name == task);
        let terms = Terms {
            server: address.parse().context("the address")?,
            control: control.into(),
            period: Duration::from_secs(seconds.parse().context("the seconds")?),
            task: known.with_context(|| format!("{task}: no such task"))?.1,
            folder: folder.into(),
        };
        Ok(match end {
            "server" => Self::Server(terms),
            "client" => Self::Client(terms),
            other => bail!("{other}: expected server or client"),
        })
    }
}

/// Counts what arrives.
pub struct Meter {
    began: Instant,
    period: Duration,
    bytes: Vec<u64>,
}

/// The receiver's output.
#[derive(Serialize)]
struct Report {
    /// Received bytes, for each second.
    bytes: Vec<u64>,
    /// Why the connection ended before its time.
    broke: Option<String>,
}

impl Meter {
    /// Counts from now on, for `period`.
    pub fn new(period: Duration) -> Self {
        Self {
            began: Instant::now(),
            period,
            bytes: Vec::new(),
        }
    }

    /// Counts received bytes.
    pub fn count(&mut self, bytes: usize) {
        let second = self.began.elapsed().as_secs() as usize;
        if self.bytes.len() <= second {
            self.bytes.resize(second + 1, 0);
        }
        self.bytes[second] += bytes as u64;
    }

    /// The time that is left.
    pub fn left(&self) -> Duration {
        self.period.saturating_sub(self.began.elapsed())
    }

    /// Prints the received bytes of each whole second.
    pub fn print(mut self, outcome: Result<()>) -> Result<()> {
        self.bytes.resize(self.period.as_secs() as usize, 0);
        let report = Report {
            bytes: self.bytes,
            broke: outcome.err().map(|error| format!("{error:#}")),
        };
        println!("{}", serde_json::to_string(&report)?);
        Ok(())
    }
}
