//! Writes a file atomically: the old content stays until the new file is complete.

use anyhow::{Context, Result};
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};
use tidegate_command::exit::BadInput;

/// A file to be written; if it is dropped unfinished, nothing is left of it.
pub struct Draft {
    file: NamedTempFile,
    to: PathBuf,
}

impl Draft {
    /// Makes a temporary file in the target's folder, so that we know early whether the folder is writable.
    ///
    /// # Errors
    /// If no file can be made there.
    pub fn beside(path: &Path) -> Result<Self, BadInput> {
        let bad =
            |why: &dyn std::fmt::Display| BadInput(format!("--page {}: {why}", path.display()));
        // Renaming the draft would replace a terminal, a pipe or a folder.
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            return Err(bad(&"is no file; expected a file's name"));
        }
        // We replace the file that a link points to, not the link.
        let path = path.canonicalize().unwrap_or(path.to_owned());
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        // Permissions as of any new file, after the umask.
        let file = Builder::new()
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder.unwrap_or(Path::new(".")));
        Ok(Self {
            file: file.map_err(|error| bad(&error))?,
            to: path.clone(),
        })
    }

    /// Writes the text, and renames the file to its place.
    ///
    /// # Errors
    /// When the disk is full or the folder has gone.
    pub fn finish(mut self, text: &str) -> Result<()> {
        let name = self.to.display().to_string();
        self.file
            .write_all(text.as_bytes())
            .with_context(|| format!("cannot write {name}"))?;
        self.file
            .persist(&self.to)
            .with_context(|| format!("cannot write {name}"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_was_there_stays_until_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        fs::write(&path, "old").unwrap();
        drop(Draft::beside(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        Draft::beside(&path).unwrap().finish("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let [page, link] = ["page.html", "link.html"].map(|name| folder.path().join(name));
        fs::write(&page, "old").unwrap();
        std::os::unix::fs::symlink(&page, &link).unwrap();
        Draft::beside(&link).unwrap().finish("new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&page).unwrap(), "new");
    }

    #[test]
    fn where_none_can_be_is_known_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let [none, pipe] = ["none/page.html", "pipe"].map(|name| folder.path().join(name));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for path in [folder.path(), &none, &pipe, Path::new("/dev/null")] {
            let error = Draft::beside(path).err().unwrap().to_string();
            assert!(error.starts_with("--page "), "{error}");
        }
    }
}
