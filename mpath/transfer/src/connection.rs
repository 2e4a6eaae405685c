//! A connection: a stream each way, and what is observed of its paths.

mod error;
mod liveness;
mod shutdown;
mod state;
mod stream;

pub use error::ConnectionError;
pub(crate) use state::{Parameters, State};
pub(crate) use stream::Link;
pub use stream::{Connection, Monitor, PathStatus, Status};
