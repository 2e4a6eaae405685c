//! The network namespace of the calling thread, which is the one that an agent serves.

use crate::AgentError;
use std::os::unix::fs::MetadataExt;

/// Its inode number, unique as long as the namespace exists.
pub fn network_namespace() -> Result<u64, AgentError> {
    let metadata = std::fs::metadata("/proc/thread-self/ns/net");
    let metadata = metadata.map_err(|source| AgentError::System {
        what: "read the number of the network namespace from /proc/thread-self/ns/net",
        source,
    })?;
    Ok(metadata.ino())
}
