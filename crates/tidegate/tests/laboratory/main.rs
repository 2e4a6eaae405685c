//! The laboratory with the live agent on the real kernel, in real time. Needs root, and says so if it is skipped.

mod common;
mod hold;
mod marks;
mod mixes;
mod reproduce;
mod steers;
