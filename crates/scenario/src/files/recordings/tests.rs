use super::*;
use crate::Files;
use std::io::Write;
use std::time::{Duration, Instant};

fn in_folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// 400 Mbit/s for a minute: 2,000,000 lines, 12.6 MB, three times as much as a configuration may have.
#[test]
fn a_recording_may_be_longer_than_a_configuration() {
    let mut text = String::new();
    for ms in 1..=60_000_u32 {
        for _ in 0..33 {
            text.push_str(&format!("{ms}\n"));
        }
    }
    assert!(text.len() > 10 << 20);
    let folder = in_folder(&[("long.down", text.as_bytes())]);
    let files = Files::below(folder.path());
    let trace = files.trace("long.down").unwrap();
    assert_eq!(trace.opportunities(), 33 * 60_000);
    assert_eq!(
        files.hash("trace", "long.down").unwrap(),
        blake3::hash(text.as_bytes()).to_string()
    );
    let delays = "20.25\n".repeat(1 << 20);
    let folder = in_folder(&[("long.ms", delays.as_bytes())]);
    let delays = Files::below(folder.path()).delay_trace("long.ms").unwrap();
    assert_eq!(delays.period(), Duration::from_millis(10 << 20));
    let rows: String = (0..400_000)
        .map(|n| format!("{n},{}\n", 1_000_000 + n))
        .collect();
    let folder = in_folder(&[("long.csv", rows.as_bytes())]);
    let series = Files::below(folder.path()).series("long.csv").unwrap();
    assert_eq!(series.period(), Duration::from_secs(400_000));
}

#[test]
fn what_has_been_read_is_shared_and_not_read_again() {
    let folder = in_folder(&[("a.down", b"1\n2\n")]);
    let recordings = Recordings::default();
    let files = || Files::below(folder.path()).sharing(&recordings);
    let first = files().trace("a.down").unwrap();
    std::fs::write(folder.path().join("a.down"), "5\n").unwrap();
    assert!(Arc::ptr_eq(&first, &files().trace("a.down").unwrap()));
    // Others read for themselves.
    assert_eq!(
        Files::below(folder.path())
            .trace("a.down")
            .unwrap()
            .opportunities(),
        1
    );
}

/// A pipe is at its end when it has been read, and a named one waits for another writer.
#[test]
fn a_pipe_is_read_once_and_serves_all_who_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            std::fs::OpenOptions::new()
                .write(true)
                .open(pipe)
                .unwrap()
                .write_all(b"3\n4\n")
                .unwrap()
        }
    });
    let recordings = Recordings::default();
    let files = || Files::below(folder.path()).sharing(&recordings);
    let begun = Instant::now();
    let first = files().trace("pipe").unwrap();
    writer.join().unwrap();
    assert!(Arc::ptr_eq(&first, &files().trace("pipe").unwrap()));
    assert_eq!(
        files().hash("trace", "pipe").unwrap(),
        blake3::hash(b"3\n4\n").to_string()
    );
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_has_no_end_or_is_no_file_is_refused() {
    let folder = in_folder(&[("some", b"1\n")]);
    let files = Files::below(folder.path());
    let said = |name: &str| match files.trace(name).unwrap_err() {
        LoadError::Read { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    assert_eq!(
        said("/dev/zero"),
        "it is a device, expected a file or a pipe"
    );
    assert_eq!(
        said(folder.path().to_str().unwrap()),
        "it is a folder, expected a file or a pipe"
    );
    // A sparse file of a terabyte has no line that could be one.
    let sparse = std::fs::File::create(folder.path().join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    assert!(said("sparse").ends_with("sparse:1: expected a short line, found more than 256 bytes"));
    // Lines without end: `yes 1`.
    let yes = stream::<Trace>(Yes, Path::new("yes"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        yes,
        "yes:1000001: expected at most 1000000 lines of one millisecond, found more"
    );
}

/// The same line for ever.
struct Yes;

impl Read for Yes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len() & !1;
        buffer[..length]
            .chunks_mut(2)
            .for_each(|line| line.copy_from_slice(b"1\n"));
        Ok(length)
    }
}

#[test]
fn a_series_in_mbits_is_taken_as_it_is_defined_and_doubted() {
    let folder = in_folder(&[("m.csv", b"0,2.5\n1,8\n"), ("b.csv", b"0,9999\n1,10000\n")]);
    let recordings = Recordings::default();
    let files = Files::below(folder.path()).sharing(&recordings);
    files.series("m.csv").unwrap();
    files.series("m.csv").unwrap();
    files.series("b.csv").unwrap();
    let expected = format!(
        "{}: no rate above 8 bit/s: the second column is in bits per second; 2.5 Mbit/s are written as 2500000",
        folder.path().join("m.csv").display()
    );
    assert_eq!(recordings.warnings(), [expected]);
    assert_eq!(recordings.warnings(), [""; 0]);
}
