//! The promises of the live agent, each a test: its programs meet packets made by hand inside the
//! running kernel, one by one, at times that the test chooses.
//!
//! - it only ever lowers the window, and changes nothing else but the checksum, which is right;
//! - it never retracts a right edge that the peer saw, window scale's rounding included;
//! - never below two segments; a zero window passes; a duplicate ACK keeps its window;
//! - a packet that it does not understand passes unchanged, and is counted by reason;
//! - every packet passes, at its length.

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/tally.rs"]
mod tally;

mod both;
mod clocks;
mod closed_loop;
mod connection;
mod fast_path;
mod forged;
mod fuzz;
mod gate;
mod held;
mod hostile;
mod left;
mod mixed;
mod packet;
mod pause;
mod pressure;
mod rules;
mod steering;
mod understood;
mod uploads;
mod verifier;
mod windowless;
