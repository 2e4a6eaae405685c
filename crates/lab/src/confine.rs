//! What a command is confined to: the rights of whoever called us, and a process namespace that ends with it.

mod caller;
mod init;
mod privileges;

pub use caller::Caller;
pub use init::{FORWARDED, Place, confine};
pub use privileges::Rights;
