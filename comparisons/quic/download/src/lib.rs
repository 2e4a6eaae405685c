//! The common part of the programs around each QUIC stack.
//!
//! `PROGRAM server ADDRESS FOLDER CONTROL` and `PROGRAM client ADDRESS FOLDER SECONDS`: the client opens a stream,
//! sends a byte on it, and reads the server's data for SECONDS. FOLDER has `certificate.pem` and `key.pem`; CONTROL is
//! the server's congestion control. The client prints one line of JSON, also if the connection breaks.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The name in the certificate.
pub const NAME: &str = "server";

/// The application protocol (ALPN).
pub const ALPN: &str = "download";

/// The client's receive window: more than any link's queue holds.
pub const WINDOW: u32 = 64 << 20;

/// Bytes that the server hands to its stack at a time.
pub const CHUNK: usize = 64 << 10;

const CERTIFICATE: &str = "certificate.pem";

/// The end that this process is.
pub enum End {
    /// Sends.
    Server(Server),
    /// Receives.
    Client(Client),
}

/// The end that sends.
pub struct Server {
    /// The address at which it listens.
    pub address: SocketAddr,
    /// Its congestion control.
    pub control: String,
    folder: PathBuf,
}

/// The end that receives.
pub struct Client {
    /// The server's address.
    pub server: SocketAddr,
    /// How long it receives.
    pub period: Duration,
    folder: PathBuf,
}

impl Server {
    /// The file of its certificate.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join(CERTIFICATE)
    }

    /// The file of its key.
    pub fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }
}

impl Client {
    /// The file of the server's certificate.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join(CERTIFICATE)
    }
}

impl End {
    /// Reads the command line.
    pub fn from_arguments() -> Result<Self> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let [end, address, folder, last] = words[..] else {
            bail!("expected `server ADDRESS FOLDER CONTROL` or `client ADDRESS FOLDER SECONDS`");
        };
        let (address, folder) = (address.parse().context("the address")?, folder.into());
        Ok(match end {
            "server" => Self::Server(Server {
                address,
                control: last.into(),
                folder,
            }),
            "client" => Self::Client(Client {
                server: address,
                period: Duration::from_secs(last.parse().context("the seconds")?),
                folder,
            }),
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

/// The client's output.
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
