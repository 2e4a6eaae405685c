//! `tidegate run --udp` on real traffic, between two namespaces: what becomes of packets that wait when something
//! ends, fails or does not answer. Needs root, and says so when it is skipped.

#[path = "../smoke/agent.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod agent;
mod clsact;
mod download;
mod ends;
mod fallback;
#[path = "../../../gate/tests/kernel/quic_ends.rs"]
mod quic_ends;
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

/// How long anything may take on a machine that has other things to do.
const TIMEOUT: Duration = Duration::from_secs(60);
