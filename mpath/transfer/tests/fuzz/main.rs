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
use targets::{ends, files, proxy, registry, token, wire};

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 6] = [
    ("ends", ends::run),
    ("files", files::run),
    ("proxy", proxy::run),
    ("registry", registry::run),
    ("token", token::run),
    ("wire", wire::run),
];

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz/corpus")
        .join(target)
}

#[test]
fn the_corpora() {
    for (target, run) in TARGETS {
        let entries = fs::read_dir(corpus(target)).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let least = seeds::of(target).len();
        assert!(
            files.len() >= least,
            "{target}: a corpus of {}",
            files.len()
        );
        for file in files {
            let input = fs::read(&file).unwrap();
            let outcome = panic::catch_unwind(|| run(&input));
            assert!(outcome.is_ok(), "{}", file.display());
        }
    }
}

/// A seed with some bytes changed, and perhaps its end cut off.
fn inputs(target: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let changes = vec(any::<(prop::sample::Index, u8)>(), 0..6);
    let seeds = seeds::of(target);
    (0..seeds.len(), changes, 0..40_usize).prop_map(move |(seed, changes, cut)| {
        let mut input = seeds[seed].1.clone();
        for (at, value) in changes {
            let at = at.index(input.len());
            input[at] = value;
        }
        input.truncate(input.len().saturating_sub(cut.saturating_sub(30)));
        input
    })
}

proptest! {
    #[test]
    fn packets(input in inputs("wire")) {
        wire::run(&input);
        proxy::run(&input);
    }

    #[test]
    fn enveloped_packets(input in inputs("proxy")) {
        proxy::run(&input);
    }

    #[test]
    fn what_the_ends_hear(input in inputs("ends")) {
        ends::run(&input);
    }

    #[test]
    fn requests(input in inputs("registry")) {
        registry::run(&input);
    }

    #[test]
    fn tokens(input in inputs("token")) {
        token::run(&input);
    }
}

proptest! {
    // Each case writes to the disk.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_said_of_files(input in inputs("files")) {
        files::run(&input);
    }
}
