//! The fuzz targets, replayed: over the committed corpora and over random input.
//!
//! `fuzz/` builds the same targets for libFuzzer. Its findings belong into `corpus/`, so that every run of the tests
//! tries them from then on; `seeds.rs` has the first ones.

mod seeds;
mod targets;

use proptest::collection::vec;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::{fs, panic};
use targets::{endpoint, packet, stream};

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz/corpus")
        .join(target)
}

/// Runs every file of a target's corpus.
fn replay(target: &str, run: fn(&[u8])) {
    let mut files: Vec<_> = fs::read_dir(corpus(target))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(
        files.len() >= seeds::LEAST,
        "{target}: a corpus of {}",
        files.len()
    );
    for file in files {
        let input = fs::read(&file).unwrap();
        let outcome = panic::catch_unwind(|| run(&input));
        assert!(outcome.is_ok(), "{}", file.display());
    }
}

#[test]
fn corpus_of_packets() {
    replay("packet", packet::run);
}

#[test]
fn corpus_of_streams() {
    replay("stream", stream::run);
}

#[test]
fn corpus_of_endpoints() {
    replay("endpoint", endpoint::run);
}

proptest! {
    #[test]
    fn random_packets(seed in 0..seeds::packets().len(), changes in vec(any::<(prop::sample::Index, u8)>(), 0..8)) {
        let mut packet = seeds::packets().swap_remove(seed).1;
        for (at, value) in changes {
            let at = at.index(packet.len());
            packet[at] = value;
        }
        packet::run(&packet);
    }

    #[test]
    fn random_streams(input in vec(any::<u8>(), 0..1000)) {
        stream::run(&input);
    }

    #[test]
    fn random_endpoints(input in vec(any::<u8>(), 0..1000)) {
        endpoint::run(&input);
    }
}
