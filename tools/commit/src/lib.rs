//! For build scripts: the commit that a program is built from, for the provenance of its results.
//!
//! A packager may set it in `TIDEGATE_COMMIT`; otherwise git is asked; in an archive of the sources that git wrote, the
//! file `packaging/commit` has it.

use std::path::Path;
use std::process::Command;

/// The sources of the program, relative to the root of the workspace. The crates' tests are not included.
const SOURCES: [&str; 10] = [
    "crates/*/src",
    "crates/*/build.rs",
    "mpath/*/src",
    "mpath/*/build.rs",
    "tools/*/src",
    "tools/*/build.rs",
    "laws",
    "reproductions",
    "Cargo.toml",
    "Cargo.lock",
];

/// Sets `TIDEGATE_COMMIT` for the crate whose build script calls this.
pub fn tell() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    watch(&root);
    let told = std::env::var("TIDEGATE_COMMIT").ok();
    let told = told.filter(|commit| !commit.is_empty());
    let commit = told.or_else(|| of_archive(&root)).or_else(|| of_git(&root));
    let commit = commit.unwrap_or_else(|| "unknown".into());
    println!("cargo:rustc-env=TIDEGATE_COMMIT={commit}");
}

/// Lets the build script run again after each commit, and after each change of the sources, which compiles the program
/// anyway.
fn watch(root: &Path) {
    println!("cargo:rerun-if-env-changed=TIDEGATE_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let mut paths = vec![root.join("packaging/commit")];
    if let Some(log) = git(root, &["rev-parse", "--git-path", "logs/HEAD"]) {
        paths.push(root.join(log));
    }
    for source in SOURCES {
        match source.split_once("/*/") {
            None => paths.push(root.join(source)),
            Some((folder, within)) => {
                let crates = std::fs::read_dir(root.join(folder)).into_iter().flatten();
                paths.extend(crates.flatten().map(|entry| entry.path().join(within)));
            }
        }
    }
    // Cargo always treats a missing path as changed.
    for path in paths.iter().filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// The commit that is checked out, and whether the sources differ from it.
fn of_git(root: &Path) -> Option<String> {
    // The sources may lie in another project's repository.
    git(root, &["rev-parse", "--show-prefix"]).filter(String::is_empty)?;
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(SOURCES);
    let is_dirty = git(root, &status).is_none_or(|changes| !changes.is_empty());
    Some(commit + if is_dirty { "-dirty" } else { "" })
}

/// The text that `git archive` has put in place of `$Format:%H$`.
fn of_archive(root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(root.join("packaging/commit")).ok()?;
    let is_hash = |text: &&str| text.chars().all(|c| c.is_ascii_hexdigit());
    text.get(..12).filter(is_hash).map(str::to_owned)
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
