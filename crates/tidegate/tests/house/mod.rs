//! Where the workspace has its crates.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// The repository's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The manifest in this folder of the repository.
pub fn manifest(folder: &str) -> Table {
    let path = root().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{folder}: {error}"));
    text.parse().expect("TOML")
}

/// The folder of each crate and its manifest, from the workspace's list of members: `folder/*`, or a crate's folder.
pub fn manifests() -> BTreeMap<String, Table> {
    let workspace = &manifest("")["workspace"];
    let members = workspace["members"].as_array().expect("a list");
    let members = members.iter().map(|member| member.as_str().expect("text"));
    let folders = members.flat_map(|member| match member.strip_suffix("/*") {
        None => vec![member.to_owned()],
        Some(folder) => {
            let entries = fs::read_dir(root().join(folder)).expect("readable");
            let paths = entries.map(|entry| entry.expect("readable").path());
            let crates = paths.filter(|path| path.is_dir());
            let name = |path: PathBuf| path.file_name().expect("a name").display().to_string();
            crates
                .map(|path| format!("{folder}/{}", name(path)))
                .collect()
        }
    });
    folders
        .map(|folder| (folder.clone(), manifest(&folder)))
        .collect()
}
