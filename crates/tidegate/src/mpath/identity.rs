//! The receiver's secrets, kept in a file so that its token stays valid.

use crate::secret::warn_if_readable;
use anyhow::{Context, Result};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tidegate_command::exit::BadInput;
use tidegate_scenario::read_text;
use tidegate_transfer::Identity;

/// The state folder of a user's programs (XDG base directories).
fn state_folder() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = set("XDG_STATE_HOME").map(PathBuf::from);
    folder
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(".local/state")))
        .map(|folder| folder.join("tidegate"))
        .ok_or_else(|| BadInput("neither HOME nor XDG_STATE_HOME is set: use --key FILE".into()))
        .map_err(Into::into)
}

/// Loads the identity from that file, or from the user's default file; makes one if there is none.
pub fn load_or_create(file: Option<&Path>) -> Result<Identity> {
    let path = match file {
        Some(path) => path.to_owned(),
        None => state_folder()?.join("mpath.key"),
    };
    match read_text(&path) {
        Ok(text) => read(&path, &text),
        Err(error) if error.kind() == ErrorKind::NotFound => create(&path),
        Err(error) => Err(bad(&path, error).into()),
    }
}

fn read(path: &Path, text: &str) -> Result<Identity> {
    warn_if_readable(path);
    serde_json::from_str(text).map_err(|error| {
        // The error must not quote the text: it may be another secret.
        let (path, line, column) = (path.display(), error.line(), error.column());
        BadInput(format!(
            "{path}:{line}: no key of tidegate mpath recv, from column {column} on"
        ))
        .into()
    })
}

fn bad(path: &Path, error: std::io::Error) -> BadInput {
    BadInput(format!("{}: {error}", path.display()))
}

/// Writes the file atomically, readable by its owner alone: temporary files have mode 0600.
fn create(path: &Path) -> Result<Identity> {
    let identity = Identity::generate();
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| bad(folder, error))?;
    let mut file = NamedTempFile::new_in(folder).map_err(|error| bad(folder, error))?;
    serde_json::to_writer(&mut file, &identity)?;
    file.flush()?;
    // A crash must not leave an empty file.
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(identity),
        // Another receiver has made the file meanwhile and printed its token: use that one.
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            read(path, &read_text(path).map_err(|error| bad(path, error))?)
        }
        Err(error) => Err(error).with_context(|| format!("cannot create {}", path.display())),
    }
}
