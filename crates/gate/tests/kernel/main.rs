//! The gate on the running kernel, between its own namespaces, with UDP sockets. Needs root.

mod fallback;
mod fq;
mod held;
mod hosts;
mod killed;
mod laws;
mod limits;
mod quic;
mod remains;
mod router;
