//! `tidegate run --udp` with real traffic between two namespaces: what happens to waiting packets when something ends,
//! fails or does not answer. Needs root, and says so if it is skipped.

#[path = "../smoke/agent.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod agent;
mod clsact;
mod download;
mod ends;
mod fallback;
#[path = "../../../gate/tests/kernel/remains.rs"]
mod remains;
mod talk;
#[path = "../../../agent/tests/support/tally.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod tally;
mod testbed;
mod upload;
mod uploads;

use std::time::Duration;

/// Time limit on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);
