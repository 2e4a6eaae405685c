//! Reads a network namespace's state over rtnetlink(7): its interfaces, which of them lead to the Internet, and when
//! that changes. Everything is about the calling thread's namespace.

mod changes;
mod filters;
mod links;
mod neighbours;
mod nexthops;
mod request;
mod routes;

pub use changes::Changes;
pub use filters::clsact_filters;
pub use links::{Link, addressed, links};
pub use neighbours::{Known, Neighbourhood};
pub use request::ask;
pub use routes::default_routes;
