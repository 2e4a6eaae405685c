//! The overlay's token, from a file or the environment: every user of the machine can read a command line.

use crate::secret::warn_if_readable;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tidegate_command::exit::BadInput;
use tidegate_overlay::Secret;
use tidegate_scenario::read_text;

/// The environment variable.
pub const VARIABLE: &str = "TIDEGATE_MPATH_TOKEN";

/// A token, and whether it is new.
pub struct Found {
    pub secret: Secret,
    pub new: bool,
}

/// The token in the file; without a file, that in the environment.
pub fn load(file: Option<&Path>) -> Result<Secret, BadInput> {
    let found = match file {
        Some(file) => from_file(file)?.ok_or_else(|| bad(file, "there is no such file"))?,
        None => from_environment()?.ok_or_else(|| {
            BadInput(format!(
                "expected the overlay's token, which its registry has printed, in --secret FILE or in {VARIABLE}"
            ))
        })?,
    };
    Ok(found)
}

/// The token in the file, made if there is none; without a file, that in the environment, or else a new one.
pub fn load_or_make(file: Option<&Path>) -> Result<Found, BadInput> {
    let found = match file {
        Some(file) => from_file(file)?,
        None => from_environment()?,
    };
    if let Some(secret) = found {
        return Ok(Found { secret, new: false });
    }
    let secret = Secret::new(rand::random());
    if let Some(file) = file {
        write(file, &secret)?;
    }
    Ok(Found { secret, new: true })
}

/// The environment variable's value.
pub fn in_environment() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

fn from_environment() -> Result<Option<Secret>, BadInput> {
    let secret = in_environment().map(|token| token.parse());
    secret
        .transpose()
        .map_err(|error| BadInput(format!("{VARIABLE}: {error}")))
}

fn from_file(file: &Path) -> Result<Option<Secret>, BadInput> {
    let token = match read_text(file) {
        Ok(token) => token,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(bad(file, error)),
    };
    warn_if_readable(file);
    let secret = token.parse().map_err(|error| bad(file, error))?;
    Ok(Some(secret))
}

/// Writes a file that only its owner may read.
fn write(file: &Path, secret: &Secret) -> Result<(), BadInput> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| writeln!(file, "{secret}"))
        .map_err(|error| bad(file, error))
}

fn bad(file: &Path, what: impl std::fmt::Display) -> BadInput {
    BadInput(format!("{}: {what}", file.display()))
}
