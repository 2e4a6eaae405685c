//! Writes imports: each file is written completely or not at all.

use super::of_output;
use anyhow::Result;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;
use tidegate_command::exit::BadInput;
use tidegate_recordings::{Form, Recorded, Written};

/// A file to write.
pub struct Output {
    /// Its path.
    pub path: PathBuf,
    /// Its format.
    pub form: Form,
}

/// A complete file under a temporary name.
pub struct Filled {
    output: Output,
    file: NamedTempFile,
    written: Written,
}

/// Output file of each recording: `to` is the file of a single recording, or a folder.
pub fn outputs(
    files: &[PathBuf],
    forms: Vec<Form>,
    up: bool,
    to: &Path,
) -> Result<Vec<Output>, BadInput> {
    let is_folder = to.is_dir();
    if files.len() > 1 && !is_folder {
        let message = format!(
            "-o {}: {} recordings need a folder that is there; make it first",
            to.display(),
            files.len()
        );
        return Err(BadInput(message));
    }
    let mut taken = HashSet::new();
    let each = files.iter().zip(forms).map(|(file, form)| {
        let path = match is_folder {
            true => to.join(name(file, form, up)),
            false => to.to_owned(),
        };
        if !taken.insert(path.clone()) {
            let message = format!(
                "{}: two recordings would go there; import them one by one",
                path.display()
            );
            return Err(BadInput(message));
        }
        check(file, &path)?;
        Ok(Output { path, form })
    });
    each.collect()
}

/// The file's name in a folder: the recording's name, with the extension that studies expect for the format.
fn name(file: &Path, form: Form, up: bool) -> PathBuf {
    let stem = file.file_stem().unwrap_or(OsStr::new("recording"));
    let mut name = stem.to_owned();
    name.push(match (form, up) {
        (Form::Series, _) => ".csv",
        (Form::Mahimahi, false) => ".down",
        (Form::Mahimahi, true) => ".up",
    });
    name.into()
}

/// An existing file may be replaced, unless it is the recording itself or no regular file.
fn check(file: &Path, path: &Path) -> Result<(), BadInput> {
    let Ok(there) = path.metadata() else {
        return Ok(());
    };
    if !there.is_file() {
        return Err(BadInput(format!(
            "{}: is no file, expected one or a new name",
            path.display()
        )));
    }
    let same = |path: &Path| path.canonicalize().ok();
    match same(file) == same(path) {
        true => Err(BadInput(format!(
            "{}: is the recording itself; choose another name",
            path.display()
        ))),
        false => Ok(()),
    }
}

impl Output {
    /// Writes the recording to a temporary file beside its target.
    pub fn fill(self, recorded: &Recorded, bin: Duration) -> Result<Filled> {
        let folder = self.path.parent().filter(|folder| *folder != Path::new(""));
        let mut builder = tempfile::Builder::new();
        // The permissions of a file that a shell makes: 0666 under the user's mask.
        let builder = builder
            .prefix(".import-")
            .permissions(Permissions::from_mode(0o666));
        let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
        let mut file = of_output(file, &self.path)?;
        let mut to = BufWriter::new(file.as_file_mut());
        let written = recorded.write(self.form, bin, &mut to);
        let written = written.and_then(|written| to.flush().map(|()| written));
        drop(to);
        let written = of_output(written, &self.path)?;
        Ok(Filled {
            output: self,
            file,
            written,
        })
    }
}

impl Filled {
    /// Renames the file to its target.
    pub fn keep(self) -> Result<(Output, Written)> {
        let kept = self.file.persist(&self.output.path);
        of_output(kept.map_err(|error| error.error), &self.output.path)?;
        Ok((self.output, self.written))
    }
}
