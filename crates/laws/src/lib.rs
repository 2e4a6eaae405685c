//! The control laws of `laws/`, with a safe face.
//!
//! The law itself is C, so that the kernel program, the simulator and the tests run the very same
//! lines; this crate adds nothing to it but types. [`Flow`] is one connection's data in one
//! direction, seen from its receiver, [`Upload`] the same seen from its sender, [`Path`] what an interface's flows have in common.

pub mod afc;
pub mod bench;
mod device;
pub mod drwa;
mod flow;
mod hold;
mod hold_upload;
pub mod sys;
mod upload;
mod words;

pub use device::Device;
pub use flow::{Ack, Flow, Params, Path, Segment};
pub use hold::Hold;
pub use hold_upload::UploadHold;
pub use upload::Upload;
pub use words::{Clocked, Direction, Law, PathState};
