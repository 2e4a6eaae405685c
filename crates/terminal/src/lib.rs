//! Text for people at a terminal: names that others have chosen cannot control it.
//!
//! A device calls itself what it likes, an interface's name may hold an escape sequence, and a scenario may come from
//! another person. Everything that the programs print for people passes here: [`out`] and [`err`] let no control
//! character through but line ends; a [`Table`] and a [`Bar`] let none through. Output for programs (JSON, CSV, traces)
//! does not pass here.

mod bar;
mod print;
mod shown;
mod table;
pub mod units;

pub use bar::{Bar, Bars};
pub use indicatif::HumanBytes;
pub use print::{Lines, Text, data, data_on_err, err, out, say, warn};
pub use shown::{cut, is_invisible, shown, shown_lines};
pub use table::{Cell, Color, Style, Table, screen_width};
