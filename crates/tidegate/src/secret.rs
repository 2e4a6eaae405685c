//! Checks files that contain secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tidegate_terminal::warn;

/// Prints a warning if other users can read the file.
pub fn warn_if_readable(file: &Path) {
    if let Ok(about) = fs::metadata(file)
        && about.permissions().mode() & 0o004 != 0
    {
        let file = file.display();
        warn(format_args!(
            "warning: {file}: everybody on this machine can read it"
        ));
    }
}
