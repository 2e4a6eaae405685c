//! Virtual time: a [`Scenario`] over our own TCP, as fast as the processor goes.
//!
//! ```text
//!   apps ─ TCP ─▶ Link ─▶ … ─▶ Link ─▶ TCP ─ apps      two hosts, links in between
//!     ▲     ▲       ▲                   ▲     ▲
//!     └─────┴───────┴── event queue ────┴─────┘        each wakes itself at most once
//! ```
//!
//! The same seed gives the same bytes: time is an integer of nanoseconds, randomness comes from named streams of the
//! scenario's seed, and events at one instant happen in an order that depends only on what they are. Memory does not
//! grow with virtual time, unless curves are asked for.
//!
//! A download over a deep buffer, as Linux is and steered by `tide` at its receiver:
//!
//! ```
//! use std::path::Path;
//! use tidegate_scenario::Scenario;
//! use tidegate_sim::{Options, run_scenario};
//!
//! let text = r#"
//!     name = "deep"
//!     duration_s = 10
//!     warmup_s = 5
//!     down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 1000 } }
//!     up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
//!     workload = [{ name = "download", does = { bulk = {} } }]
//!     run = [{ name = "linux" }, { name = "tide", law = "tide" }]
//! "#;
//! let path = Path::new("deep.toml"); // errors name it, and recordings are looked for beside it
//! let scenario = Scenario::parse(text, path)?;
//! let inputs = scenario.link_inputs(path)?;
//! let results = run_scenario(&scenario, &inputs, &Options::default())?;
//! let [linux, tide] = &results.runs[..] else {
//!     unreachable!("two runs")
//! };
//! assert!(linux.link.queue_delay_ms.p95 > 200.0);
//! assert!(tide.link.queue_delay_ms.p95 < 50.0);
//! assert!(tide.link.utilisation > 0.9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Session`] runs a scenario step by step; [`Own`] adds the caller's own laws and congestion controls.
//!
//! [`Scenario`]: tidegate_scenario::Scenario

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod abr;
mod applications;
mod behaviour;
mod cake;
mod events;
mod hosts;
mod idle;
mod interface;
mod key;
mod network;
mod outcome;
mod own;
mod packet;
mod random;
mod route;
mod run;
mod session;
mod settings;
mod sprout;
mod sweep;
mod windowless;
mod world;

pub use behaviour::BEHAVIOUR_VERSION;
pub use key::{Key, Keys};
pub use own::{Own, Place};
pub use run::{Options, Unsupported, check, run_one, run_scenario};
pub use session::{FlowView, LinkView, Session};
pub use sweep::in_order;
pub use tidegate_basics::time::Instant;
pub use tidegate_tcp::cc::{self, Flight, Manual, RateSample};
pub use tidegate_tcp::steer::{Arrival, OwnLaw};
