//! The live agent on real traffic: kernel TCP between two namespaces on a veth pair. Needs root, and
//! says aloud when it is skipped.
//!
//! Every test checks every byte, and that no packet arrives with a wrong checksum.

#[path = "../support/tally.rs"]
mod tally;

mod attached;
mod beside;
mod big;
mod company;
mod downloads;
mod features;
mod forged;
mod gateway;
mod hard;
mod held;
mod lifecycle;
mod many;
mod memory;
mod operation;
mod order;
mod scales;
mod slow;
mod sockets;
mod stalls;
mod testbed;
mod transfer;
mod untouched;
mod uploads;
mod vlan;
mod windowless;
