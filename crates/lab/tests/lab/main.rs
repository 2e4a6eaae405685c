//! The laboratory on the real kernel: needs root, and says aloud when it is skipped.

mod commands;
mod common;
mod flow_control;
mod hops;
mod interop;
mod killed;
mod mpath;
mod quic;
mod scenarios;
mod stages;
