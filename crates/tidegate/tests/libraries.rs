//! Checks that the crates for others are complete packages: `cargo package` finds all that each needs.
//! `./dev libraries` builds them from their packages, which takes minutes.

mod house;

use house::{manifest, manifests, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::Table;

/// Name, folder and manifest of each library: a crate whose manifest names its documentation.
fn libraries() -> Vec<(String, PathBuf, Table)> {
    let libraries: Vec<_> = manifests()
        .into_iter()
        .filter_map(|(folder, manifest)| {
            let package = &manifest["package"];
            package.get("documentation")?;
            let name = package["name"].as_str()?.to_owned();
            Some((name, root().join(folder), manifest))
        })
        .collect();
    assert!(!libraries.is_empty());
    libraries
}

/// The files of its package.
fn packaged(library: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "package",
            "--list",
            "--offline",
            "--allow-dirty",
            "-p",
            library,
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{library}: {complaint}");
    let list = String::from_utf8(output.stdout).expect("text");
    list.lines().map(str::to_owned).collect()
}

/// All files below a folder, relative to it.
fn below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            files.extend(below(&path).iter().map(|file| format!("{name}/{file}")));
        } else {
            files.push(name);
        }
    }
    files
}

#[test]
fn packages_hold_sources_and_licences() {
    for (library, folder, _) in libraries() {
        let packaged = packaged(&library);
        let sources = below(&folder.join("src"));
        let sources = sources.iter().map(|file| format!("src/{file}"));
        let others = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT"];
        for file in sources.chain(others.map(str::to_owned)) {
            assert!(packaged.contains(&file), "{library}: no {file}");
        }
        let tests = packaged.iter().find(|file| file.starts_with("tests/"));
        assert_eq!(tests, None, "{library}: they need the repository");
    }
}

#[test]
fn the_laws_take_their_headers_along() {
    let packaged = packaged("tidegate-laws");
    let headers = below(&root().join("laws"));
    assert!(headers.iter().any(|header| header == "tide.h"));
    for header in headers {
        let header = format!("laws/{header}");
        assert!(packaged.contains(&header), "no {header}");
    }
}

#[test]
fn libraries_say_what_they_are_and_need_no_other_crates_of_ours() {
    let workspace = &manifest("")["workspace"];
    let version = &workspace["package"]["version"];
    let libraries = libraries();
    for (library, _, manifest) in &libraries {
        for key in ["description", "keywords", "categories"] {
            let value = manifest["package"].get(key);
            assert!(value.is_some(), "{library}: no {key}");
        }
        for section in ["dependencies", "build-dependencies"] {
            let used = manifest.get(section).and_then(|table| table.as_table());
            let used = used.into_iter().flat_map(Table::keys);
            for name in used.filter(|name| name.starts_with("tidegate-")) {
                let published = libraries.iter().any(|(library, ..)| library == name);
                assert!(published, "{library} needs {name}, which is for us alone");
                let stated = workspace["dependencies"][name].get("version");
                assert_eq!(stated, Some(version), "{library}: {name}");
            }
        }
    }
}
