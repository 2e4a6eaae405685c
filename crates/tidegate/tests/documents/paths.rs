//! Checks that every path in back quotes names a file or folder of this repository.

use crate::markdown::{documents, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that only exist after a build.
const MADE: [&str; 2] = ["target", "out"];
/// Folders whose source files the documents name.
const SOURCES: [&str; 9] = [
    "comparisons",
    "crates",
    "laws",
    "mpath",
    "packaging",
    "python",
    "reproductions",
    "tests",
    "tools",
];
/// Source files of other projects that the documents name.
const FOREIGN: [&str; 1] = ["network_sim.py"];

/// Names at the top of the repository that Git tracks.
fn top() -> BTreeSet<String> {
    let entries = fs::read_dir(root()).expect("readable");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !MADE.contains(&name.as_str()) && !name.starts_with('.'))
        .collect()
}

/// Whether a part of a path is a placeholder: `NAME.h`, `FILE`.
fn is_placeholder(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default();
    stem.len() > 2 && stem != "README" && stem.chars().all(|c| c.is_ascii_uppercase())
}

/// Whether a piece of code is nothing but a path: no pattern, placeholder or arguments.
fn is_plain(code: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    code.chars().all(is_plain) && !code.split('/').any(is_placeholder)
}

/// Whether the path starts at the top of the repository: `crates/link`, `docs/udp.md`.
fn is_whole_path(code: &str, top: &BTreeSet<String>) -> bool {
    let first = code.split_once('/').map(|(first, _)| first);
    is_plain(code) && first.is_some_and(|first| top.contains(first))
}

/// Whether it names a source file, perhaps with folders: `flow.h`, `send/train.rs`.
fn is_source(code: &str) -> bool {
    let ends = [".rs", ".h", ".c", ".js", ".py"];
    let has_name = |end: &&str| code.ends_with(*end) && code != *end;
    is_plain(code) && ends.iter().any(has_name) && !FOREIGN.contains(&code)
}

/// Paths of a kind that the documents name and that do not exist, with their lines; panics if there are none of that
/// kind.
fn missing(is_kind: impl Fn(&str) -> bool, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut count, mut missing) = (0, Vec::new());
    for document in documents() {
        for (code, line) in document.inline() {
            if is_kind(&code) {
                count += 1;
                if !is_there(&code) {
                    missing.push(format!("{}:{line}: {code}", document.path.display()));
                }
            }
        }
    }
    assert!(count > 100, "{count} paths");
    missing
}

#[test]
fn every_path_that_is_named_is_there() {
    let top = top();
    let missing = missing(
        |code| is_whole_path(code, &top),
        |code| root().join(code).exists(),
    );
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

#[test]
fn every_source_file_that_is_named_in_part_is_there() {
    let mut files = Vec::new();
    for folder in SOURCES {
        collect(&root().join(folder), &mut files);
    }
    let missing = missing(is_source, |code| files.iter().any(|f| f.ends_with(code)));
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if !path.is_dir() {
            files.push(path);
        } else if !MADE.iter().any(|made| name == *made) {
            collect(&path, files);
        }
    }
}
