//! What the package brings along: scenarios and their traces, which examples name by `scenarios/…`, wherever one is.

use crate::say;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// A file or folder, which the package may have brought along.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| find(&path))
}

/// That file or folder or, if it is not here and the package has brought one of that name, the package's.
fn find(path: &Path) -> PathBuf {
    if path.is_absolute() || path.exists() {
        return path.into();
    }
    match brought().map(|folder| folder.join(path)) {
        Some(found) if found.exists() => {
            say::err(format_args!("tidegate: taking {}", found.display()));
            found
        }
        _ => path.into(),
    }
}

/// `share/tidegate`, beside the `bin` in which this program lies.
fn brought() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let prefix = program.parent()?.parent()?;
    Some(prefix.join("share/tidegate"))
}
