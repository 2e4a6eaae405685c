//! Whoever is to pay for data is told so, and asked.

use crate::exit::BadInput;
use crate::say;
use anyhow::{Result, bail};
use std::io::IsTerminal;
use std::io::Write;

/// Says what it costs, and asks whether to begin, unless that is agreed to.
///
/// # Errors
/// Where there is nobody to ask, or nobody agrees.
pub fn ask(cost: &str, agreed: bool) -> Result<()> {
    say::err(cost);
    if agreed {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(BadInput(
            "no terminal to ask whether to begin; --yes begins without asking".into(),
        )
        .into());
    }
    let _ = write!(tidegate_terminal::err(), "Begin? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => bail!("nothing was sent"),
    }
}
