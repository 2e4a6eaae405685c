//! `hashes.txt`: the behaviour's version, then a line for each run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use tidegate_sim::BEHAVIOUR_VERSION;

/// By the run's name: its case and its own name.
pub type Hashes = BTreeMap<String, String>;

/// Contents of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Golden {
    pub version: u32,
    pub hashes: Hashes,
}

impl Golden {
    /// The committed file; nothing, if there is none.
    pub fn read() -> Self {
        let text = std::fs::read_to_string(path()).unwrap_or_default();
        Self::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path().display()))
    }

    pub fn write(&self) {
        std::fs::write(path(), self.text()).unwrap_or_else(|e| panic!("{}: {e}", path().display()));
    }

    fn parse(text: &str) -> Result<Self, String> {
        let Some((first, lines)) = text.split_once('\n') else {
            return Ok(Self::default());
        };
        let version = first.strip_prefix("behaviour version ");
        let version = version
            .and_then(|v| v.parse().ok())
            .ok_or_else(|| format!("line 1: \"{first}\", expected \"behaviour version N\""))?;
        let hashes = (2..).zip(lines.lines()).map(|(number, line)| {
            let (hash, name) = line
                .split_once(' ')
                .ok_or_else(|| format!("line {number}: \"{line}\", expected a hash and a name"))?;
            Ok((name.to_owned(), hash.to_owned()))
        });
        Ok(Self {
            version,
            hashes: hashes.collect::<Result<_, String>>()?,
        })
    }

    fn text(&self) -> String {
        let mut text = format!("behaviour version {}\n", self.version);
        for (name, hash) in &self.hashes {
            writeln!(text, "{hash} {name}").expect("a string takes everything");
        }
        text
    }

    /// Whether this can be written over `committed`: a run's result never changes under the same version.
    pub fn may_replace(&self, committed: &Self) -> Result<(), String> {
        let changed = self.changed(committed);
        if changed.is_empty() || self.version > committed.version {
            return Ok(());
        }
        Err(format!(
            "behaviour version {} has these results in the committed file already:\n{}\
             raise BEHAVIOUR_VERSION in crates/sim/src/behaviour.rs above {} first",
            self.version,
            list(&changed),
            committed.version
        ))
    }

    /// Whether the committed file is the same.
    pub fn equals(&self, committed: &Self) -> Result<(), String> {
        if self.version != committed.version {
            return Err(format!(
                "hashes.txt is of behaviour version {}, BEHAVIOUR_VERSION is {BEHAVIOUR_VERSION}: write it anew",
                committed.version
            ));
        }
        let names = self.hashes.keys().chain(committed.hashes.keys());
        let one_sided = |name: &&String| {
            self.hashes.contains_key(*name) != committed.hashes.contains_key(*name)
        };
        let mut odd = self.changed(committed);
        odd.extend(names.filter(one_sided));
        if odd.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} of {} runs differ from hashes.txt, or are not in it, or not run any more:\n{}\
             if that is on purpose, raise BEHAVIOUR_VERSION and write the file anew (see main.rs)",
            odd.len(),
            self.hashes.len(),
            list(&odd)
        ))
    }

    /// Names of the runs in both with different hashes.
    fn changed<'a>(&'a self, committed: &Self) -> Vec<&'a String> {
        let before = |name| committed.hashes.get(name);
        let changed = self
            .hashes
            .iter()
            .filter(|(name, hash)| before(*name).is_some_and(|h| h != *hash));
        changed.map(|(name, _)| name).collect()
    }
}

fn list(names: &[&String]) -> String {
    names
        .iter()
        .fold(String::new(), |all, name| all + "  " + name + "\n")
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/hashes.txt")
}

fn golden(version: u32, hashes: &[(&str, &str)]) -> Golden {
    let own = |&(name, hash): &(&str, &str)| (name.to_owned(), hash.to_owned());
    Golden {
        version,
        hashes: hashes.iter().map(own).collect(),
    }
}

#[test]
fn what_is_written_is_read() {
    let golden = golden(7, &[("a/run, with a name", "00ff"), ("b/x", "1234")]);
    assert_eq!(Golden::parse(&golden.text()), Ok(golden));
}

#[test]
fn other_results_need_another_version() {
    let before = golden(7, &[("a", "1"), ("b", "2")]);
    let another_run = golden(7, &[("a", "1"), ("c", "3")]);
    assert_eq!(another_run.may_replace(&before), Ok(()));
    let same_version = golden(7, &[("a", "1"), ("b", "3")]).may_replace(&before);
    assert!(same_version.unwrap_err().contains("  b\nraise"));
    assert_eq!(golden(8, &[("a", "9")]).may_replace(&before), Ok(()));
}

#[test]
fn every_difference_is_found() {
    let committed = golden(7, &[("a", "1"), ("b", "2")]);
    assert_eq!(committed.equals(&committed), Ok(()));
    for (other, word) in [
        (golden(8, &[("a", "1"), ("b", "2")]), "version 7"),
        (golden(7, &[("a", "1"), ("b", "3")]), "  b\n"),
        (golden(7, &[("a", "1")]), "  b\n"),
        (golden(7, &[("a", "1"), ("b", "2"), ("c", "3")]), "  c\n"),
    ] {
        let difference = other.equals(&committed).unwrap_err();
        assert!(difference.contains(word), "{difference}");
    }
}
