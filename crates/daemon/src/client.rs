//! What is said at the agent's socket, and the client's end of it (docs/internals/agent-json.md).

use crate::about::About;
use crate::paused::Paused;
use crate::snapshot::{Snapshot, VERSION};
use anyhow::{Context, Error, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a client waits for an answer. With a hundred thousand connections it is 70 MB, and the machine may be busy.
const ANSWER: Duration = Duration::from_secs(30);
/// The answer to a question that comes after the end.
pub const ENDED: &str = "the agent has ended";

/// What a reader may ask for.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase", tag = "get")]
pub enum Question {
    /// A [`Snapshot`].
    Snapshot,
    /// Which agent it is, an [`About`].
    About,
}

/// What root may order.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase", tag = "do")]
pub enum Order {
    /// Steer nothing for this long, from now on.
    Pause {
        /// At most [`crate::paused::LONGEST`].
        seconds: u64,
    },
    /// Steer again.
    Resume,
}

/// The answer to an order.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ordered {
    /// As in [`Snapshot`].
    pub version: u32,
    /// Whether the agent was paused before.
    pub was_paused: bool,
    /// The pause as it is now.
    pub paused: Option<Paused>,
}

/// The answer to an order that failed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// As in [`Snapshot`].
    pub version: u32,
    /// Why.
    pub error: String,
}

/// The client's end of the socket.
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the agent at `path`; none if no agent serves it.
    pub fn connect(path: &Path) -> Result<Option<Self>> {
        match UnixStream::connect(path) {
            Ok(stream) => {
                stream.set_read_timeout(Some(ANSWER))?;
                let stream = BufReader::new(stream);
                Ok(Some(Self { stream }))
            }
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                Ok(None)
            }
            Err(e) => Err(e).with_context(|| format!("connect to the agent at {}", path.display())),
        }
    }

    /// The network namespace that the agent is in; none if it is too old to say.
    pub fn namespace(&mut self) -> Result<Option<u64>> {
        let line = self.answer(&Question::About)?;
        let about = serde_json::from_str::<About>(&line);
        Ok(about.ok().and_then(|about| about.namespace))
    }

    /// Asks for the state now.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        let snapshot: Snapshot = self.ask(&Question::Snapshot)?;
        if snapshot.version != VERSION {
            bail!(
                "the agent speaks version {} of the protocol, expected {VERSION}; it is Tidegate {}",
                snapshot.version,
                snapshot.agent.version
            );
        }
        Ok(snapshot)
    }

    /// Gives the agent an order.
    pub fn order(&mut self, order: &Order) -> Result<Ordered> {
        self.ask(order)
    }

    fn ask<T: DeserializeOwned>(&mut self, line: &impl Serialize) -> Result<T> {
        let line = self.answer(line)?;
        if let Ok(refusal) = serde_json::from_str::<Refusal>(&line) {
            bail!("the agent says: {}", refusal.error);
        }
        serde_json::from_str(&line).context("read the agent's answer")
    }

    fn answer(&mut self, line: &impl Serialize) -> Result<String> {
        let mut question = serde_json::to_vec(line)?;
        question.push(b'\n');
        self.stream.get_mut().write_all(&question)?;
        let mut line = String::new();
        let read = self
            .stream
            .read_line(&mut line)
            .map_err(|e| match e.kind() {
                ErrorKind::WouldBlock => {
                    anyhow!("the agent has not answered for {} s", ANSWER.as_secs())
                }
                _ => Error::new(e).context("hear the agent's answer"),
            });
        if read? == 0 {
            bail!(ENDED);
        }
        Ok(line)
    }
}
