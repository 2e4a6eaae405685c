//! Real quinn endpoints over an emulated link, in real time: UDP on loopback, through `tidegate-link`.

mod endpoints;
mod readers;
mod relay;
mod short_queue;
