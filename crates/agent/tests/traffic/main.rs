//! The live agent on real traffic: kernel TCP between two namespaces on a veth pair. Needs root, and
//! says aloud when it is skipped.
//!
//! Every byte is checked, and no packet may arrive with a wrong checksum, whatever else a test is
//! about.

mod attached;
mod downloads;
mod gateway;
mod lifecycle;
mod operation;
mod stage;
mod transfer;
mod uploads;
