//! The artefact's claims: `claims.toml`.

use crate::expected::Number;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::Path;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// How far a number may be off.
    pub tolerance: Tolerance,
    /// The claims, in the order in which they are run.
    pub claim: Vec<Claim>,
}

/// Tolerance of a number: a share of the number or an amount in its unit, whichever is larger.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// As a share of the number.
    pub relative: f64,
    /// In its unit.
    pub absolute: f64,
}

/// A claim, and the command that reproduces it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name on the command line.
    pub id: String,
    /// What is claimed, in a sentence.
    pub says: String,
    /// The page of the documents that states it.
    pub page: String,
    /// The command, without the program's name and `--json`.
    pub command: String,
    /// Approximate time on two cores, in minutes.
    pub minutes: f64,
    /// Numbers that the tables show, by figure and name; all others are compared as well.
    #[serde(default)]
    pub shows: Vec<Shown>,
}

/// A number that is shown.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// Its figure's id.
    pub figure: String,
    /// The quantity's name.
    pub name: String,
}

impl Claims {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(name)?;
        let claims: Self = toml::from_str(&text).with_context(name)?;
        ensure!(!claims.claim.is_empty(), "{}: no claim", name());
        let mut ids: Vec<_> = claims.claim.iter().map(|claim| &claim.id).collect();
        ids.sort_unstable();
        let twice = ids.windows(2).find(|two| two[0] == two[1]);
        ensure!(twice.is_none(), "{}: a claim twice: {twice:?}", name());
        Ok(claims)
    }
}

impl Claim {
    /// Its numbers that the tables show.
    ///
    /// # Errors
    /// If one of them is missing.
    pub fn shown<'a>(&self, numbers: &'a [Number]) -> Result<Vec<&'a Number>> {
        let found = self.shows.iter().map(|shown| {
            let number = numbers.iter().find(|number| shown.is(number));
            number.with_context(|| {
                let (figure, name) = (&shown.figure, &shown.name);
                format!(
                    "claim \"{}\" shows \"{name}\" of {figure}, which is not there",
                    self.id
                )
            })
        });
        found.collect()
    }
}

impl Shown {
    /// Whether it is that number.
    pub fn is(&self, number: &Number) -> bool {
        self.figure == number.figure && self.name == number.name
    }
}
