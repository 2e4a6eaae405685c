//! The control laws of `laws/`, with a safe face.
//!
//! The law itself is C, so that the kernel program, the simulator and the tests run the very same lines; this crate
//! adds only types. [`Flow`] is one connection's data in one direction, seen from its receiver, [`Upload`] the same
//! seen from its sender, [`Path`] the state that an interface's flows have in common.
//!
//! A download over a link that carries a segment a millisecond. Its sender keeps more and more in flight, so that a queue grows
//! and the round trip with it, from 40 ms to 200 ms; its receiver would take 1 MB. DRWA with λ = 2 grants two round trips' worth
//! of the link, whatever the queue:
//!
//! ```
//! use tidegate_laws::{Ack, Flow, Law, Params, Path, Segment};
//!
//! const MSS: u32 = 1448;
//! let params = Params {
//!     law: Law::Drwa,
//!     lambda: 2.0,
//!     ..Params::default()
//! };
//! let (mut path, mut flow) = (Path::default(), Flow::default());
//! let mut window = 0;
//! for ms in 1000..10_000_u32 {
//!     let rtt = (ms / 25).min(200);
//!     let now_us = 1000 * u64::from(ms);
//!     flow.data_in(
//!         &mut path,
//!         &params,
//!         &Segment {
//!             now_us,
//!             seq: MSS * ms,
//!             len: MSS,
//!             mss: MSS,
//!             // Both clocks tick in milliseconds; this segment echoes what left a round trip ago.
//!             timestamps: Some((ms - rtt / 2, ms - rtt)),
//!             ..Segment::default()
//!         },
//!     );
//!     let field = flow.ack_out(&Ack {
//!         now_us,
//!         ack: MSS * (ms + 1),
//!         raw: 4_000,
//!         scale: 8,
//!         bare: true,
//!         sack: false,
//!         tsval: Some(ms),
//!     });
//!     window = u32::from(field) << 8;
//! }
//! let segments = window / MSS;
//! assert!((75..=85).contains(&segments), "{segments}");
//! ```

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod afc;
pub mod bench;
mod device;
pub mod drwa;
mod flow;
mod hold;
mod hold_upload;
mod measured;
pub mod sys;
#[cfg(feature = "tunable")]
pub mod tunable;
mod upload;
mod words;

pub use device::Device;
pub use flow::{Ack, Flow, Params, Path, Segment};
pub use hold::Hold;
pub use hold_upload::UploadHold;
pub use upload::Upload;
pub use words::{AckClocking, Direction, Law, PathState};
