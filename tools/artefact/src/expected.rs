//! The expected numbers: `expected.json`, which `expect` writes.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The commit that this program is built from.
const COMMIT: &str = env!("TIDEGATE_COMMIT");

/// The whole file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The simulator's behaviour version that produced them.
    pub behaviour: u32,
    /// The commit of the program that wrote the last of them.
    pub commit: String,
    /// The numbers of each claim, in the order in which its command prints them.
    pub claims: BTreeMap<String, Vec<Number>>,
}

/// A number of a figure.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The figure's id.
    pub figure: String,
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its value; none if it is not a number, such as a ratio of two zeros.
    pub value: Option<f64>,
    /// How it compares with the paper's: holds, direction, fails, input.
    pub verdict: String,
}

impl Expected {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(name)?;
        serde_json::from_str(&text).with_context(name)
    }

    /// Writes the file with a number a line, so that a change of one number is one line of a diff.
    pub fn write(&mut self, path: &Path) -> Result<()> {
        self.commit = COMMIT.into();
        let mut text = format!(
            "{{\"behaviour\": {}, \"commit\": {:?}, \"claims\": {{\n",
            self.behaviour, self.commit
        );
        let claims: Vec<_> = self.claims.iter().map(of_claim).collect::<Result<_>>()?;
        text.push_str(&claims.join(",\n"));
        text.push_str("\n}}\n");
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }

    /// The expected numbers of a claim.
    pub fn of(&self, claim: &str) -> Option<&[Number]> {
        self.claims.get(claim).map(Vec::as_slice)
    }
}

fn of_claim((id, numbers): (&String, &Vec<Number>)) -> Result<String> {
    let lines = numbers.iter().map(serde_json::to_string);
    let lines = lines.collect::<serde_json::Result<Vec<_>>>()?;
    Ok(format!(
        "{}: [\n{}\n]",
        serde_json::to_string(id)?,
        lines.join(",\n")
    ))
}
