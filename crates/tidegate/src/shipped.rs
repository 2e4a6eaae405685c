//! Scenarios and traces that the package contains. Examples name them as `scenarios/…`, whatever the current folder is.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::{Path, PathBuf};
use tidegate_terminal::warn;

/// Parses a path that the package may contain.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| find(&path))
}

/// The path itself, or if it does not exist here, the package's file of that name.
fn find(path: &Path) -> PathBuf {
    if path.is_absolute() || path.exists() {
        return path.into();
    }
    match brought().map(|folder| folder.join(path)) {
        Some(found) if found.exists() => {
            warn(format_args!("tidegate: taking {}", found.display()));
            found
        }
        _ => path.into(),
    }
}

/// The folder `share/tidegate` beside the `bin` that contains this program.
fn brought() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let prefix = program.parent()?.parent()?;
    Some(prefix.join("share/tidegate"))
}
