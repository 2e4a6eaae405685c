//! Confines a command: to the rights of the user who called us, and to a PID namespace that ends with it.

mod caller;
mod init;
mod privileges;

pub use caller::Caller;
pub use init::{FORWARDED, Place, confine};
pub use privileges::Rights;
