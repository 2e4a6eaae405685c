//! The agent's state over a Unix socket, for `tidegate top` and other programs: one line of JSON answers each line that
//! asks (docs/internals/agent-json.md). The kernel's tables are read only then. Root can pause the agent here.

mod readers;

use crate::client::{ENDED, Order, Ordered, Question, Refusal};
use crate::meeting::remove_stale;
use crate::paused::LONGEST;
use crate::run::wake::Bell;
use crate::service::Shared;
use crate::snapshot::VERSION;
use anyhow::{Context, Error, Result, anyhow, bail};
use nix::sys::socket::{getsockopt, sockopt};
use nix::sys::stat::{Mode, umask};
use nix::unistd::geteuid;
use readers::{Place, Readers};
use serde::Deserialize;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The longest question, in bytes.
const QUESTION: u64 = 1024;

/// A question or an order.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Question(Question),
    Order(Order),
}

/// A socket that is served; its file goes with this value.
pub struct Served {
    path: PathBuf,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Serves the agent at `path` until the process ends. `bell` rings after each order.
pub fn serve(path: &Path, shared: &Shared, bell: Bell) -> Result<Served> {
    let listener = listen(path)?;
    let served = Served {
        path: path.to_owned(),
    };
    let asked = Arc::new(Asked {
        shared: shared.clone(),
        bell,
    });
    thread::Builder::new()
        .name("serve".into())
        .spawn(move || accept(&listener, &asked))
        .context("start a thread")?;
    Ok(served)
}

/// Owner and group may connect: the answers show which addresses the machine talks to.
fn listen(path: &Path) -> Result<UnixListener> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    }
    if UnixStream::connect(path).is_ok() {
        bail!("{}: another process serves it", path.display());
    }
    remove_stale(path)?;
    // Mode 0660 from the first moment: a chmod later could hit a file that somebody else has put there.
    let before = umask(Mode::from_bits_truncate(0o117));
    let listener = UnixListener::bind(path);
    umask(before);
    listener.with_context(|| format!("serve {}", path.display()))
}

/// The agent that answers, and the bell that rings after an order.
struct Asked {
    shared: Shared,
    bell: Bell,
}

fn accept(listener: &UnixListener, asked: &Arc<Asked>) {
    let readers = Arc::<Readers>::default();
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // For example without free descriptors: an immediate retry would fail, too.
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        let Ok(place) = readers.take(&stream) else {
            continue;
        };
        let asked = Arc::clone(asked);
        let _ = thread::Builder::new().name("reader".into()).spawn(move || {
            // A reader that closes its end is no error.
            let _ = answer(&stream, &place, &asked);
        });
    }
}

fn answer(stream: &UnixStream, place: &Place, asked: &Asked) -> std::io::Result<()> {
    let mut questions = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if (&mut questions).take(QUESTION).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some(turn) = place.turn() else {
            return Ok(());
        };
        let mut reply = reply(&line, stream, asked)?;
        reply.push(b'\n');
        turn.say(stream, &reply)?;
    }
}

fn reply(line: &str, from: &UnixStream, asked: &Asked) -> serde_json::Result<Vec<u8>> {
    let replied = match serde_json::from_str(line) {
        Ok(Line::Question(Question::Snapshot)) => asked.snapshot(),
        Ok(Line::Question(Question::About)) => asked.about(),
        Ok(Line::Order(order)) => asked.follow(&order, from),
        Err(_) => Err(anyhow!(
            "expected {{\"get\":\"snapshot\"}}, {{\"get\":\"about\"}}, {{\"do\":\"pause\",\"seconds\":N}} or {{\"do\":\"resume\"}}, not understood"
        )),
    };
    replied.or_else(|error| {
        serde_json::to_vec(&Refusal {
            version: VERSION,
            error: format!("{error:#}"),
        })
    })
}

impl Asked {
    fn snapshot(&self) -> Result<Vec<u8>> {
        let snapshot = self.shared.with(|watched| watched.snapshot());
        Ok(serde_json::to_vec(&snapshot.context(ENDED)??)?)
    }

    fn about(&self) -> Result<Vec<u8>> {
        let about = self.shared.with(|watched| watched.about_now());
        Ok(serde_json::to_vec(&about.context(ENDED)?)?)
    }

    /// Follows an order from root. Other users may only read.
    fn follow(&self, order: &Order, from: &UnixStream) -> Result<Vec<u8>> {
        let user = getsockopt(from, sockopt::PeerCredentials)?.uid();
        if ![0, geteuid().as_raw()].contains(&user) {
            bail!("user {user} may look and change nothing, expected root");
        }
        let done = self.shared.with(|watched| {
            let was_paused = watched.pause.is_some();
            let paused = match order {
                Order::Pause { seconds } => Some(watched.pause(allowed(*seconds)?)?),
                Order::Resume => {
                    watched.resume()?;
                    None
                }
            };
            Ok::<_, Error>(Ordered {
                version: VERSION,
                was_paused,
                paused,
            })
        });
        self.bell.ring();
        Ok(serde_json::to_vec(&done.context(ENDED)??)?)
    }
}

fn allowed(seconds: u64) -> Result<Duration> {
    let time = Duration::from_secs(seconds);
    if time.is_zero() || time > LONGEST {
        let most = LONGEST.as_secs();
        bail!("a pause of {seconds} seconds, expected 1 to {most}");
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    #[test]
    fn what_is_no_socket_stays_where_it_is() {
        let folder = TempDir::new().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "mine").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [&file, &link] {
            let error = listen(path).unwrap_err().to_string();
            assert!(error.contains("is no socket: it stays as it is"), "{error}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn the_socket_of_an_agent_that_was_killed_is_taken_over() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).unwrap());
        let listener = listen(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        assert!(
            listen(&path)
                .unwrap_err()
                .to_string()
                .contains("another process serves it")
        );
        drop(listener);
    }
}
