//! Makes system calls of a server fail, with a library that is loaded before the C library (`faults.c`).

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The library, and the file that controls it: numbers in native byte order.
pub struct Faults {
    folder: TempDir,
    shared: File,
}

/// Offsets of the numbers, and the size of the file in bytes.
const ONCE_IN: u64 = 0;
const FAILED: u64 = 4;
const STATE: u64 = 8;
const BYTES: u64 = 16;

impl Faults {
    /// No call fails yet; the seed decides which will.
    pub fn new(seed: u64) -> Self {
        let folder = TempDir::new().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strangers/faults.c");
        let built = Command::new("cc")
            .args([
                "-std=gnu11",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-shared",
                "-fPIC",
                "-o",
            ])
            .arg(folder.path().join("faults.so"))
            .arg(source)
            .arg("-ldl")
            .status();
        assert!(built.unwrap().success(), "cc does not compile faults.c");
        let path = folder.path().join("shared");
        fs::write(&path, [0; BYTES as usize]).unwrap();
        let shared = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        shared.write_all_at(&seed.to_ne_bytes(), STATE).unwrap();
        Self { folder, shared }
    }

    /// Makes a program load the library.
    pub fn prepare(&self, command: &mut Command) {
        let file = |name| -> PathBuf { self.folder.path().join(name) };
        command.env("LD_PRELOAD", file("faults.so"));
        command.env("TIDEGATE_FAULTS", file("shared"));
    }

    /// From now on one call in `calls` fails; 0: none.
    pub fn once_in(&self, calls: u32) {
        self.shared
            .write_all_at(&calls.to_ne_bytes(), ONCE_IN)
            .unwrap();
    }

    /// How many have failed so far.
    pub fn failed(&self) -> u32 {
        let mut bytes = [0; 4];
        self.shared.read_exact_at(&mut bytes, FAILED).unwrap();
        u32::from_ne_bytes(bytes)
    }
}
