//! The network namespace of the calling thread, of which an agent takes care.

use crate::AgentError;
use std::os::unix::fs::MetadataExt;

/// Its number, which no other has as long as it exists.
pub fn network_namespace() -> Result<u64, AgentError> {
    let metadata = std::fs::metadata("/proc/thread-self/ns/net");
    let metadata = metadata.map_err(|source| AgentError::System {
        what: "tell the network namespace",
        source,
    })?;
    Ok(metadata.ino())
}
