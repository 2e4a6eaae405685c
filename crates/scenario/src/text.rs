//! Reading what a person has written.

use std::fs::{File, FileType};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Bytes of the longest text: of a scenario, a configuration, a key.
const MOST: u64 = 4 << 20;

/// How long somebody is waited for who writes into a named pipe.
const PATIENCE: Duration = Duration::from_secs(10);

/// The text in a file, or in a pipe that a shell stands in for one. A byte order mark is no part of it.
///
/// # Errors
/// When it cannot be read, is no file but a device or a folder, which may have no end, has more than 4 MB, or is no text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(io::Error::new(
            ErrorKind::FileTooLarge,
            "more than 4 MB, which no such file has",
        ));
    }
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// A file or a pipe, to be read.
///
/// # Errors
/// When it cannot be opened, is a device or a folder, or nobody writes into the pipe.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Before it is opened: opening alone rewinds a tape, and waits for a pipe's other end.
    let kind = std::fs::metadata(path)?.file_type();
    let file = match kind.is_fifo() {
        true => open_pipe(path)?,
        false => {
            readable(kind)?;
            File::open(path)?
        }
    };
    readable(file.metadata()?.file_type())?;
    Ok(file)
}

/// Whether it has an end, as far as can be told.
fn readable(kind: FileType) -> io::Result<()> {
    let what = match () {
        () if kind.is_file() || kind.is_fifo() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    let message = format!("it is {what}, expected a file or a pipe");
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

/// Opens a pipe, unless nobody has its other end: that would wait for ever.
fn open_pipe(path: &Path) -> io::Result<File> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || sender.send(File::open(path)));
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let message = format!(
            "a pipe into which nobody has written for {} s",
            PATIENCE.as_secs()
        );
        Err(io::Error::new(ErrorKind::TimedOut, message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let refused = |path: &str| read_text(Path::new(path)).unwrap_err().to_string();
        assert_eq!(
            refused("/dev/zero"),
            "it is a device, expected a file or a pipe"
        );
        assert_eq!(refused("/"), "it is a folder, expected a file or a pipe");
        let long = tempfile::NamedTempFile::new().unwrap();
        long.as_file().set_len(MOST + 1).unwrap();
        assert!(refused(long.path().to_str().unwrap()).contains("4 MB"));
        long.as_file().set_len(MOST).unwrap();
        assert_eq!(read_text(long.path()).unwrap().len() as u64, MOST);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let marked = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(marked.path(), "\u{feff}name = 1\n").unwrap();
        assert_eq!(read_text(marked.path()).unwrap(), "name = 1\n");
    }
}
