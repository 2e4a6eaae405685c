//! The laboratory on the real kernel. Skipped, with a message, without root.

mod commands;
mod common;
mod flow_control;
mod hops;
mod interop;
mod killed;
mod mpath;
mod quic;
mod scenarios;
mod senders;
mod stages;
