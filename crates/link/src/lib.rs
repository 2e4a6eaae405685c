//! A link without I/O and without a clock: rate, queue, delay and loss of one direction.
//!
//! The caller brings packets and the time; [`Link`] says what leaves it and when. The laboratory
//! steps it in real time, the simulator in virtual time.
//!
//! ```text
//! push ─▶ [shaper] ─▶ queue ─▶ transmitter ─▶ [ARQ] ─▶ [loss] ─▶ propagation ─▶ [disorder] ─▶ [middlebox] ─▶ poll
//!          tokens      limits,   rate or        in                 delay           reordering,    holds until
//!                      policy    opportunities  order                              duplicates     in order
//! ```
//!
//! The stages in brackets are there if the [`Config`] names them. A [`SharedLink`] is several such
//! links in one cell, whose scheduler gives each its turn.
//!
//! * What happens depends only on the [`Config`], the seed and the packets pushed: never on how often
//!   the link is polled.
//! * A packet's departure is decided when it leaves the queue, not when it arrives, so that a
//!   change of rate reaches what is queued.
//! * Times are integers of nanoseconds; nothing drifts, however long the run.
//!
//! ```
//! use std::time::Duration;
//! use tidegate_link::{Config, Instant, Link, Rate};
//!
//! let mut link = Link::new(
//!     Config {
//!         rate: Rate::constant(12e6),
//!         delay: Duration::from_millis(20).into(),
//!         ..Config::default()
//!     },
//!     1,
//! );
//! link.push(Instant::ZERO, vec![0u8; 1500]);
//! let due = link.next_event().unwrap();
//! assert_eq!(due, Instant::from_millis(21)); // 1 ms to send 12 000 bits, 20 ms on the way
//! assert_eq!(link.poll(due).unwrap().queued, Duration::ZERO);
//! ```
//!
//! A queue's length decides between delay and loss: when 100 packets come at once, a long queue makes the last one
//! wait for all others, a short one drops those that would wait longer.
//!
//! ```
//! use std::time::Duration;
//! use tidegate_link::{Config, Instant, Link, QueueConfig, Rate};
//!
//! /// The longest wait, and how many packets were dropped.
//! fn burst(packets: usize) -> (Duration, u64) {
//!     let queue = QueueConfig {
//!         packets: Some(packets),
//!         ..QueueConfig::default()
//!     };
//!     let config = Config {
//!         rate: Rate::constant(12e6),
//!         queue,
//!         ..Config::default()
//!     };
//!     let mut link = Link::new(config, 1);
//!     for _ in 0..100 {
//!         link.push(Instant::ZERO, vec![0_u8; 1500]);
//!     }
//!     let mut longest = Duration::ZERO;
//!     while let Some(at) = link.next_event() {
//!         while let Some(delivery) = link.poll(at) {
//!             longest = longest.max(delivery.queued);
//!         }
//!     }
//!     (longest, link.stats().dropped)
//! }
//!
//! assert_eq!(burst(1000), (Duration::from_millis(99), 0));
//! assert_eq!(burst(10), (Duration::from_millis(10), 89)); // one is being sent, ten wait
//! ```

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod arq;
mod config;
mod delay;
mod flight;
mod link;
mod loss;
mod packet;
mod parse;
mod power;
mod queue;
mod rate;
mod shaper;
mod share;
mod transmitter;

pub use arq::{Arq, BlockError};
pub use config::Config;
pub use delay::{DelayProfile, DelayTrace};
pub use flight::{Disorder, Middlebox};
pub use link::{Delivery, Link, Stats};
pub use loss::Loss;
pub use packet::{Packet, Sequence};
pub use parse::{ParseError, Reader, Recording};
pub use queue::{
    AbcFeedback, AbcPolicy, DualPi2Policy, FqCodelPolicy, Marking, Policy, QueueConfig,
    QueuePolicy, RedPolicy,
};
pub use rate::{
    Capacity, CellKind, CellModel, Fading, Rate, RateSeries, ScheduledSeries, SignalWalk,
    StepsError, Trace, WalkError,
};
pub use shaper::TokenBucket;
pub use share::{CellConfig, CrossTraffic, Scheduler, SchedulerKind, SharedLink, Sharing};
pub use tidegate_basics::ecn::Ecn;
pub use tidegate_basics::time::Instant;
