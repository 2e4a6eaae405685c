//! Where clients find an agent: at a socket, one for each network namespace. Network namespaces often share a file
//! system, so the agent at the usual path may be another namespace's.

use crate::client::Client;
use crate::lock;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use tidegate_agent::network_namespace;

/// The default socket of an agent.
pub const SOCKET: &str = "/run/tidegate/agent.sock";

/// The socket of this namespace's agent if another namespace's agent has the usual path.
fn beside() -> Result<PathBuf> {
    let name = format!("agent-{}.sock", network_namespace()?);
    Ok(Path::new(SOCKET).with_file_name(name))
}

/// The socket to serve the agent of this namespace at; it is the only agent here.
pub fn free() -> Result<PathBuf> {
    match UnixStream::connect(SOCKET) {
        Ok(_) => beside(),
        Err(_) => Ok(SOCKET.into()),
    }
}

/// The agent at the given path; without one, that of this namespace.
pub fn find(asked: Option<&Path>) -> Result<Option<(PathBuf, Client)>> {
    if let Some(path) = asked {
        let client = Client::connect(path)?;
        return Ok(client.map(|client| (path.to_owned(), client)));
    }
    for path in [beside()?, SOCKET.into()] {
        if let Some(mut client) = Client::connect(&path)?
            && is_here(client.namespace()?)?
        {
            return Ok(Some((path, client)));
        }
    }
    Ok(None)
}

/// Whether an agent that reports this namespace is in ours; old agents do not report it.
pub fn is_here(namespace: Option<u64>) -> Result<bool> {
    let here = network_namespace()?;
    Ok(namespace.is_none_or(|namespace| namespace == here))
}

/// A message that an agent runs here whose socket was not found; none if no agent runs, or if we may not know.
pub fn elsewhere(asked: Option<&Path>) -> Option<String> {
    let pid = lock::holder().ok()??;
    let who = match pid {
        0 => "an agent runs here, outside of this container".to_owned(),
        pid => format!("an agent runs here, with process id {pid}"),
    };
    let path = asked.unwrap_or(Path::new(SOCKET)).display();
    Some(format!(
        "{who}, but not at {path}: expected --socket with the path that `tidegate run` was given"
    ))
}

/// Removes sockets of this namespace that a killed agent has left. Returns their paths.
pub fn clear() -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for path in [beside()?, SOCKET.into()] {
        if UnixStream::connect(&path).is_err() && path.exists() {
            remove_stale(&path)?;
            removed.push(path);
        }
    }
    Ok(removed)
}

/// Removes the socket of an agent that was killed; any other file stays.
pub fn remove_stale(path: &Path) -> Result<()> {
    let about = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        about => about.with_context(|| format!("look at {}", path.display()))?,
    };
    if !about.file_type().is_socket() {
        bail!("{} is no socket: it stays as it is", path.display());
    }
    fs::remove_file(path).with_context(|| format!("remove {}, which nobody serves", path.display()))
}
