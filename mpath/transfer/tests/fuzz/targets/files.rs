//! Target: messages of the other end of a connection while files are sent or received.
//!
//! Whatever they are: nothing is touched outside the folder, existing files stay, and a file that arrives under its
//! name has the announced length and hash.

use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tidegate_transfer::file::{Receive, receive, send};
use tokio::runtime::Runtime;

/// The content that exists before, and that is sent.
pub const CONTENT: &[u8] = b"0123456789";

/// First which end receives, then the other's messages.
pub fn run(data: &[u8]) {
    let Some((which, words)) = data.split_first() else {
        return;
    };
    let root = TempDir::new().unwrap();
    let folder = root.path().join("folder");
    fs::create_dir(&folder).unwrap();
    for name in ["there", "outside"] {
        let place = if name == "there" {
            &folder
        } else {
            root.path()
        };
        fs::write(place.join(name), CONTENT).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    match which % 3 {
        0 => receive_all(&runtime, words, &folder, false),
        1 => receive_all(&runtime, words, &folder, true),
        _ => send_all(&runtime, words, &folder.join("there")),
    }
    assert_eq!(fs::read(root.path().join("outside")).unwrap(), CONTENT);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
}

fn receive_all(runtime: &Runtime, words: &[u8], folder: &Path, force: bool) {
    let what = Receive {
        force,
        ..Receive::into(folder.to_owned())
    };
    let mut received = Vec::new();
    let peer = tokio::io::join(words, Vec::new());
    // Whether it fails depends on the other end.
    let _ = runtime.block_on(receive(peer, &what, |file| received.push(file), |_| {}));
    if !force {
        assert_eq!(fs::read(folder.join("there")).unwrap(), CONTENT);
    }
    for file in received {
        let content = fs::read(folder.join(&file.name)).unwrap();
        assert_eq!(content.len() as u64, file.length);
    }
    let parts = |name: &str| name.starts_with('.') && name.ends_with(".part");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(entry.file_type().unwrap().is_file() || !parts(&name));
    }
}

fn send_all(runtime: &Runtime, words: &[u8], file: &Path) {
    let mut sent = Vec::new();
    let peer = tokio::io::join(words, Vec::new());
    let files = [file.to_owned()];
    let _ = runtime.block_on(send(peer, &files, &mut sent, |_| {}));
    for file in sent {
        assert_eq!(file.hash, blake3::hash(CONTENT).to_string());
    }
    assert_eq!(fs::read(file).unwrap(), CONTENT);
}
