//! What the kernel tells of a network namespace by rtnetlink(7): its interfaces, by which of them it reaches the
//! Internet, and when that has changed. All is about the calling thread's namespace.

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
