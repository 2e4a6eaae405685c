//! Tells the user how much data a command costs, and asks before it begins.

use anyhow::{Result, bail};
use std::io::IsTerminal;
use std::io::Write;
use tidegate_command::exit::BadInput;
use tidegate_terminal::warn;

/// Says what it costs, and asks whether to begin, unless the user has agreed beforehand.
///
/// # Errors
/// If there is no terminal to ask at, or the user does not agree.
pub fn ask(cost: &str, agreed: bool) -> Result<()> {
    warn(cost);
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
