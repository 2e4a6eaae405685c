//! Real quinn endpoints over an emulated link, in real time: UDP on loopback, through `tidegate-link`.

mod endpoints;
mod readers;
mod relay;
mod short_queue;

/// One test at a time, since others would take its processors. Connections that are compared run side by side.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
