//! Reading what a person has written.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Bytes of the longest text: of a scenario, a configuration, a key.
const MOST: u64 = 4 << 20;

/// The text in a file, or in a pipe that a shell stands in for one.
///
/// # Errors
/// When it cannot be read, is no file but a device or a folder, which may have no end, has more than 4 MB, or is no text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "no regular file"));
    }
    let mut text = String::new();
    file.take(MOST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MOST {
        true => Err(io::Error::new(
            ErrorKind::FileTooLarge,
            "more than 4 MB, which no such file has",
        )),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let refused = |path: &str| read_text(Path::new(path)).unwrap_err().to_string();
        assert_eq!(refused("/dev/zero"), "no regular file");
        assert_eq!(refused("/"), "no regular file");
        let long = tempfile::NamedTempFile::new().unwrap();
        long.as_file().set_len(MOST + 1).unwrap();
        assert!(refused(long.path().to_str().unwrap()).contains("4 MB"));
        long.as_file().set_len(MOST).unwrap();
        assert_eq!(read_text(long.path()).unwrap().len() as u64, MOST);
    }
}
