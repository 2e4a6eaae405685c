//! Every path of a file or folder of this repository that a document names in back quotes is there.

use crate::markdown::{Document, documents, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the repository in which nothing is looked for: what builds leave there is in no clone.
const MADE: [&str; 2] = ["target", "out"];
/// Paths that look like this repository's and are not: what a user makes, or what was there once.
const ELSEWHERE: [&str; 0] = [];

/// Names of everything at the top of the repository that Git keeps.
fn top() -> BTreeSet<String> {
    let entries = fs::read_dir(root()).expect("readable");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !MADE.contains(&name.as_str()) && !name.starts_with('.'))
        .collect()
}

/// The path that a piece of code is, if it looks like one from the top of the repository: it has a folder, begins with
/// a name that is there, and neither leaves anything open (`*`, `…`, `FILE`) nor has arguments behind it.
fn path_of<'a>(code: &'a str, top: &BTreeSet<String>) -> Option<&'a str> {
    let (first, rest) = code.split_once('/')?;
    let is_open = |part: &str| part.contains(['*', '…', '{', '<', ' ', '=', '(', ':']);
    let is_placeholder = |part: &str| {
        let stem = part.split('.').next().unwrap_or_default();
        stem.len() > 2 && stem.chars().all(|c| c.is_ascii_uppercase()) && stem != "README"
    };
    let is_path = top.contains(first) && !is_open(code) && !rest.split('/').any(is_placeholder);
    is_path.then_some(code)
}

fn missing(document: &Document, top: &BTreeSet<String>, count: &mut usize) -> Vec<String> {
    let mut missing = Vec::new();
    for (code, line) in document.inline() {
        let Some(path) = path_of(&code, top) else {
            continue;
        };
        *count += 1;
        if !ELSEWHERE.contains(&path) && !root().join(path).exists() {
            missing.push(format!("{}:{line}: {path}", document.path.display()));
        }
    }
    missing
}

#[test]
fn every_path_that_is_named_is_there() {
    let (top, mut count) = (top(), 0);
    let documents = documents();
    let missing: Vec<_> = documents
        .iter()
        .flat_map(|document| missing(document, &top, &mut count))
        .collect();
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
    assert!(count > 100, "{count} paths");
}

/// Folders below which a document that names part of a path means it: `bpf/hold.bpf.c`, `send/train.rs`.
fn sources() -> Vec<PathBuf> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("readable").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            match path.is_dir() {
                true if MADE.iter().any(|made| name == *made) => {}
                true => collect(&path, files),
                false => files.push(path),
            }
        }
    }
    let mut files = Vec::new();
    for folder in ["laws", "crates", "reproductions", "packaging", "tests", "bench", "python"] {
        collect(&root().join(folder), &mut files);
    }
    files
}

/// The end of a source file's path, or its name alone.
fn is_source(code: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let ends = [".rs", ".h", ".c", ".js", ".py"];
    code.chars().all(is_name) && ends.iter().any(|end| code.ends_with(end) && code != *end)
}

#[test]
fn every_source_file_that_is_named_in_part_is_there() {
    let files = sources();
    let is_there = |part: &str| files.iter().any(|file| file.ends_with(part));
    let (mut count, mut missing) = (0, Vec::new());
    for document in documents() {
        for (code, line) in document.inline() {
            if is_source(&code) {
                count += 1;
                if !is_there(&code) {
                    missing.push(format!("{}:{line}: {code}", document.path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
    assert!(count > 100, "{count} files");
}
