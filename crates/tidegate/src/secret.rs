//! Files that hold what is secret.

use crate::say;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Says so if others can read it.
pub fn warn_if_readable(file: &Path) {
    if let Ok(about) = fs::metadata(file)
        && about.permissions().mode() & 0o004 != 0
    {
        let file = file.display();
        say::err(format_args!(
            "warning: {file}: everybody on this machine can read it"
        ));
    }
}
