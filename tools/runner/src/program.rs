//! The test programs that cargo has built, and what their packages' manifests say about them.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// How a program spends its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It waits in real time, or measures it.
    RealTime,
    /// It needs the machine to itself, after all others.
    Alone,
    /// It computes, partly inside the kernel, which needs root.
    Kernel,
    /// It computes, mostly without privilege.
    Computes,
}

/// A test program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Package and target.
    pub name: String,
    /// The package's folder, where cargo would start it.
    pub folder: PathBuf,
    /// The program itself.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// How it spends its time.
    pub kind: Kind,
    /// About how long it takes.
    pub minutes: u32,
}

/// The part of cargo's messages that is used here.
#[derive(Deserialize)]
struct Message {
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    executable: Option<PathBuf>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The part of a manifest that is used here.
#[derive(Default, Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Default, Deserialize)]
struct Package {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    tests: Tests,
}

/// `package.metadata.tests`: minutes by the target's name.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Tests {
    #[serde(default)]
    real_time: HashMap<String, u32>,
    #[serde(default)]
    alone: HashMap<String, u32>,
    #[serde(default)]
    kernel: HashMap<String, u32>,
}

impl Tests {
    fn of(manifest: &Path) -> Result<Self> {
        let what = || manifest.display().to_string();
        let text = std::fs::read_to_string(manifest).with_context(what)?;
        let manifest: Manifest = toml::from_str(&text).with_context(what)?;
        Ok(manifest.package.metadata.tests)
    }

    fn kind(&self, target: &str) -> (Kind, u32) {
        let kinds = [
            (Kind::RealTime, &self.real_time),
            (Kind::Alone, &self.alone),
            (Kind::Kernel, &self.kernel),
        ];
        let found = kinds.iter().find_map(|(kind, minutes)| {
            let minutes = minutes.get(target)?;
            Some((*kind, *minutes))
        });
        found.unwrap_or((Kind::Computes, 0))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        let all = [&self.real_time, &self.alone, &self.kernel];
        all.into_iter().flat_map(HashMap::keys)
    }
}

/// Reads cargo's messages, a line each, and the manifests of the packages whose tests they name.
///
/// # Errors
/// If a line is not JSON, or a manifest's entry about tests is not understood, or names a test that does not exist.
pub fn read(messages: impl BufRead) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for line in messages.lines() {
        let line = line.context("cannot read cargo's messages")?;
        let message: Message = serde_json::from_str(&line)
            .with_context(|| format!("{line}: expected a message from cargo in JSON"))?;
        programs.extend(program(message)?);
    }
    if programs.is_empty() {
        bail!(
            "cargo's messages name no test program, expected those of cargo test --no-run --message-format json"
        );
    }
    check_names(&programs)?;
    Ok(programs)
}

/// Refuses a manifest with an entry for a test program that its package does not have: an entry for a misspelt name
/// would have no effect.
fn check_names(programs: &[Program]) -> Result<()> {
    for Program { folder, .. } in programs {
        let manifest = folder.join("Cargo.toml");
        let own = || programs.iter().filter(|p| p.folder == *folder);
        for name in Tests::of(&manifest)?.names() {
            if !own().any(|p| p.target() == name) {
                let all: Vec<_> = own().map(Program::target).collect();
                bail!(
                    "{}: package.metadata.tests has \"{name}\", expected one of {}",
                    manifest.display(),
                    all.join(", ")
                );
            }
        }
    }
    Ok(())
}

/// The test program that the message is about, if it is about one.
fn program(message: Message) -> Result<Option<Program>> {
    let (Some(manifest), Some(target), Some(executable), Some(Profile { test: true })) = (
        message.manifest_path,
        message.target,
        message.executable,
        message.profile,
    ) else {
        return Ok(None);
    };
    let folder = manifest.parent().context("a manifest in a folder")?;
    let package = folder.file_name().context("a package in a folder")?;
    let own = ["test", "bench", "example"].contains(&target.kind[0].as_str());
    let target = if own { &target.name } else { "unit" };
    let (kind, minutes) = Tests::of(&manifest)?.kind(target);
    Ok(Some(Program {
        name: format!("{}/{target}", package.display()),
        folder: folder.into(),
        executable,
        arguments: Vec::new(),
        kind,
        minutes,
    }))
}

impl Program {
    /// Its name without the package's.
    fn target(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// A run of only these tests, one after the other.
    pub fn only(&self, tests: &[&str]) -> Self {
        let chosen = ["--test-threads=1", "--exact"].iter().chain(tests);
        Self {
            arguments: chosen.map(ToString::to_string).collect(),
            ..self.clone()
        }
    }

    /// The examples in the workspace's documentation, in the calling folder.
    pub fn documentation() -> Self {
        Self {
            name: "doc".into(),
            folder: ".".into(),
            executable: "cargo".into(),
            arguments: ["test", "--workspace", "--locked", "--doc"]
                .map(Into::into)
                .into(),
            kind: Kind::Computes,
            minutes: 0,
        }
    }
}

/// The programs with these names; all if no name is given.
///
/// # Errors
/// If no program has a name.
pub fn choose(programs: Vec<Program>, names: &[String]) -> Result<Vec<Program>> {
    for name in names {
        if !programs.iter().any(|p| p.name == *name) {
            let all: Vec<_> = programs.iter().map(|p| p.name.as_str()).collect();
            bail!(
                "no test program \"{name}\", expected one of {}",
                all.join(", ")
            );
        }
    }
    let chosen = |p: &Program| names.is_empty() || names.contains(&p.name);
    Ok(programs.into_iter().filter(chosen).collect())
}

#[cfg(test)]
mod tests;
