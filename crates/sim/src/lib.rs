//! Virtual time: a [`Scenario`] over our own TCP, as fast as the processor goes.
//!
//! ```text
//!   apps ─ TCP ─▶ Link ─▶ … ─▶ Link ─▶ TCP ─ apps      two hosts, links in between
//!     ▲     ▲       ▲                   ▲     ▲
//!     └─────┴───────┴── event queue ────┴─────┘        each wakes itself at most once
//! ```
//!
//! The same seed gives the same bytes: time is an integer of nanoseconds, randomness comes from named
//! streams of the scenario's seed, and what happens at one instant happens in an order that depends on
//! nothing but what it is. Memory does not grow with virtual time, unless curves are asked for.
//!
//! [`Scenario`]: tidegate_scenario::Scenario

mod apps;
mod behaviour;
mod cake;
mod events;
mod hosts;
mod key;
mod network;
mod outcome;
mod own;
mod packet;
mod random;
mod run;
mod session;
mod settings;
mod sprout;
mod sweep;
mod windowless;
mod world;

pub use behaviour::BEHAVIOUR_VERSION;
pub use key::{Key, Keys};
pub use own::{Arrival, Own, OwnLaw, Place};
pub use run::{Options, Unsupported, check, run_one, run_scenario};
pub use session::{FlowView, LinkView, Session};
pub use sweep::in_order;
pub use tidegate_tcp::cc::{self, Manual};
pub use tidegate_tcp::send::{Flight, RateSample};
pub use tidegate_time::Instant;
