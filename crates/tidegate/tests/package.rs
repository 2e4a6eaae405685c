//! Checks that the package contains all that its commands and documents name. The tree is built from the package's own
//! lists (`packaging/debian/tidegate.install`, `.links`), as debhelper does; `./dev trial` tests the package itself.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An installed package.
struct Installed(TempDir);

impl Installed {
    fn new() -> Self {
        // On the same file system as the program, so that a hard link works.
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let installed = Self(folder);
        installed.generate();
        for line in list("install") {
            let [source, to] = line.as_slice() else {
                panic!("expected a source and a folder: {line:?}");
            };
            installed.install(source, to);
        }
        for line in list("links") {
            let [to, name] = line.as_slice() else {
                panic!("expected a target and a name: {line:?}");
            };
            symlink(installed.path(to), installed.path(name)).unwrap();
        }
        fs::create_dir_all(installed.path("usr/bin")).unwrap();
        fs::hard_link(TIDEGATE, installed.program()).unwrap();
        installed
    }

    fn path(&self, of: &str) -> PathBuf {
        self.0.path().join(of)
    }

    fn program(&self) -> PathBuf {
        self.path("usr/bin/tidegate")
    }

    fn documents(&self) -> PathBuf {
        self.path("usr/share/doc/tidegate")
    }

    /// Generates files as `debian/rules` does.
    fn generate(&self) {
        for what in ["man", "completions"] {
            let folder = self.path("generated").join(what);
            let status = Command::new(TIDEGATE)
                .args(["generate", what])
                .arg(folder)
                .status();
            assert!(status.unwrap().success());
        }
        let completions = self.path("generated/completions");
        fs::rename(
            completions.join("tidegate.bash"),
            completions.join("tidegate"),
        )
        .unwrap();
    }

    fn install(&self, source: &str, to: &str) {
        let folder = if source.starts_with("generated/") {
            self.0.path().to_owned()
        } else {
            root()
        };
        let source = folder.join(source);
        assert!(source.exists(), "{} is not there", source.display());
        let to = self.path(to);
        fs::create_dir_all(&to).unwrap();
        copy(&source, &to.join(source.file_name().unwrap()));
    }

    /// Runs the installed program in an empty folder.
    fn run(&self, arguments: &[&str]) -> Output {
        let empty = self.path("empty");
        fs::create_dir_all(&empty).unwrap();
        let mut command = Command::new(self.program());
        command.current_dir(empty).args(arguments).output().unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// The words of each line of one of debhelper's lists.
fn list(name: &str) -> Vec<Vec<String>> {
    let path = root().join(format!("packaging/debian/tidegate.{name}"));
    let text = fs::read_to_string(path).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    text.lines().map(words).collect()
}

/// Files and links below a folder whose names end with `end`.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_str().is_some_and(|path| path.ends_with(end)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Local targets of the links in a Markdown document.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?;
        Some(target.split('#').next().unwrap_or(target))
    });
    targets.filter(|target| !target.is_empty() && !target.contains(':'))
}

/// Paths in a text that start with `begin`; `…` and `*` stand for other characters.
fn paths<'a>(text: &'a str, begin: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(begin).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        let is_start = before.is_none_or(|c| !c.is_alphanumeric() && !"/._-~".contains(c));
        let rest = &text[at..];
        let part = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
        let stands_for_others = rest[end..].starts_with(['*', '…', '<', '{']);
        let path = rest[..end].trim_end_matches(['.', '/']);
        (is_start && !stands_for_others && path.len() > begin.len()).then_some(path)
    })
}

/// All text of the installed commands: manual pages and helps, where a path may end at a line's end.
fn said(installed: &Installed) -> String {
    let pages = files(&installed.path("generated/man"), ".1");
    let pages = pages.iter().map(|page| {
        let text = fs::read_to_string(page).unwrap();
        text.replace("\\-", "-").replace("\\&", "")
    });
    pages.collect()
}

#[test]
fn every_link_of_an_installed_document_leads_somewhere() {
    let installed = Installed::new();
    let documents = files(&installed.documents(), ".md");
    assert!(documents.len() > 10, "{documents:?}");
    let mut broken = Vec::new();
    for document in &documents {
        let text = fs::read_to_string(document).unwrap();
        let folder = document.parent().unwrap();
        broken.extend(
            links(&text)
                .filter(|target| !folder.join(target).exists())
                .map(|target| format!("{}: {target}", document.display())),
        );
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_document_that_the_unit_names_is_installed() {
    let installed = Installed::new();
    let unit = fs::read_to_string(root().join("packaging/debian/tidegate.service")).unwrap();
    let named: Vec<_> = unit
        .split_whitespace()
        .filter_map(|word| word.split_once("file:///"))
        .collect();
    assert!(!named.is_empty());
    for (_, path) in named {
        assert!(installed.path(path).exists(), "{path}");
    }
}

#[test]
fn every_scenario_and_document_that_is_named_is_installed() {
    let installed = Installed::new();
    let mut text = said(&installed);
    for document in files(&installed.documents(), ".md") {
        text.push_str(&fs::read_to_string(document).unwrap());
    }
    // Advice that commands print at run time.
    for folder in ["crates/tidegate/src", "crates/daemon/src"] {
        for source in files(&root().join(folder), ".rs") {
            text.push_str(&fs::read_to_string(source).unwrap());
        }
    }
    let shared = installed.path("usr/share/tidegate");
    let documents = installed.documents();
    let named: BTreeSet<(&Path, &str)> = [
        (shared.as_path(), "scenarios/"),
        (&shared, "dashboards/"),
        (&documents, "docs/"),
    ]
    .into_iter()
    .flat_map(|(folder, begin)| paths(&text, begin).map(move |path| (folder, path)))
    .collect();
    assert!(named.len() > 15, "{named:?}");
    let missing: Vec<_> = named
        .iter()
        .filter(|(folder, path)| !folder.join(path).exists())
        .map(|(_, path)| path)
        .collect();
    assert!(missing.is_empty(), "named, and not installed: {missing:?}");
}

#[test]
fn every_installed_scenario_loads_with_its_traces() {
    let installed = Installed::new();
    let scenarios = files(&installed.path("usr/share/tidegate/scenarios"), ".toml");
    assert!(scenarios.len() > 30, "{scenarios:?}");
    for path in scenarios {
        if path.ends_with("reasons.toml") {
            continue;
        }
        let scenario = tidegate_scenario::Scenario::load(&path).unwrap_or_else(|e| panic!("{e}"));
        scenario
            .link_inputs(&path)
            .unwrap_or_else(|e| panic!("{e}"));
        let in_laboratory = tidegate_lab::check(&scenario);
        let in_simulator = tidegate_sim::check(&scenario);
        assert!(
            in_laboratory.is_ok() || in_simulator.is_ok(),
            "{}: nobody runs it",
            path.display()
        );
    }
}

/// Scenarios by the names that help and manual pages use.
#[test]
fn shipped_scenarios_are_found_wherever_one_is() {
    let installed = Installed::new();
    let scenario = "scenarios/trace-download.toml";
    let output = installed.run(&["sim", scenario, "--run", "tide", "--json"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("usr/share/tidegate/scenarios/trace-download.toml"),
        "{text}"
    );
    // A file in the current folder comes first.
    fs::create_dir_all(installed.path("empty/scenarios")).unwrap();
    fs::write(installed.path("empty").join(scenario), "name = 'mine'\n").unwrap();
    let output = installed.run(&["sim", scenario]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("scenarios/trace-download.toml:1: "), "{text}");
    // A missing file is named as the user gave it.
    let output = installed.run(&["sim", "scenarios/none.toml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("cannot read scenarios/none.toml"), "{text}");
}

/// Cargo.toml holds the version; files that cannot read it there must repeat it.
#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let printed = Command::new(root().join("packaging/version"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap().trim(), version);
    let citation = fs::read_to_string(root().join("CITATION.cff")).unwrap();
    let line = format!("version: {version}");
    assert!(
        citation.lines().any(|l| l == line),
        "CITATION.cff: no {line}"
    );
    let changes = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let head = format!("## {version}");
    let known = changes.lines().any(|line| line.starts_with(&head));
    assert!(known || changes.contains("\n## Unreleased\n"), "no {head}");
}
