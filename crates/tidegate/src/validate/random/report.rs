//! What came of all drawn scenarios: for people a table, for programs JSON.

use super::super::ValidateArgs;
use super::Outcome;
use super::chance::Held;
use crate::provenance::{Made, print_json, provenance};
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use tidegate_terminal::{self as terminal, Style, Table};

/// The share of numbers that is to agree, and how many times beyond chance none may be.
const GOAL: f64 = 0.97;
const WORST: f64 = 2.0;

/// So many differences are listed for people.
const LISTED: usize = 40;

/// What came of all.
#[derive(Default)]
pub struct Report {
    held: Vec<Held>,
    scenarios: u32,
    doubtful: Vec<Doubtful>,
    /// Scenarios that were not run.
    pub unfinished: u32,
}

/// A scenario whose run on the kernel does not count.
#[derive(Serialize)]
struct Doubtful {
    seed: u64,
    warning: String,
}

/// All numbers of a kind.
#[derive(Default, Serialize)]
struct Kind {
    numbers: usize,
    agree: usize,
    /// How many times beyond chance the furthest is, 1 if none is.
    furthest: f64,
}

/// As `--json` has it.
#[derive(Serialize)]
struct Json<'a> {
    scenarios: u32,
    unfinished: u32,
    share: f64,
    kinds: BTreeMap<&'static str, Kind>,
    doubtful: &'a [Doubtful],
    differences: Vec<&'a Held>,
}

impl Report {
    /// Of one more scenario.
    pub fn add(&mut self, seed: u64, outcome: Outcome) {
        match outcome {
            Outcome::Held(held) => {
                self.scenarios += 1;
                self.held.extend(held);
            }
            Outcome::Doubtful(warning) => self.doubtful.push(Doubtful { seed, warning }),
        }
    }

    /// Scenarios that are done.
    pub fn done(&self) -> u32 {
        self.scenarios + self.doubtful.len() as u32
    }

    /// Whether enough agrees, and nothing is far beyond chance.
    pub fn reaches_the_goals(&self) -> bool {
        self.share() >= GOAL && self.held.iter().all(|held| held.times < WORST)
    }

    fn share(&self) -> f64 {
        let agree = self.held.iter().filter(|held| held.agrees).count();
        agree as f64 / self.held.len().max(1) as f64
    }

    fn kinds(&self) -> BTreeMap<&'static str, Kind> {
        let mut kinds: BTreeMap<_, Kind> = BTreeMap::new();
        for held in &self.held {
            let kind = kinds.entry(held.kind).or_default();
            kind.numbers += 1;
            kind.agree += usize::from(held.agrees);
            kind.furthest = kind.furthest.max(held.times);
        }
        kinds
    }

    /// The furthest first.
    fn differences(&self) -> Vec<&Held> {
        let mut differ: Vec<_> = self.held.iter().filter(|held| !held.agrees).collect();
        differ.sort_by(|a, b| b.times.total_cmp(&a.times));
        differ
    }

    /// Prints it.
    pub fn show(&self, args: &ValidateArgs, count: u32) -> Result<()> {
        if args.json {
            let json = Json {
                scenarios: self.scenarios,
                unfinished: self.unfinished,
                share: self.share(),
                kinds: self.kinds(),
                doubtful: &self.doubtful,
                differences: self.differences(),
            };
            let seeds = args.seed..args.seed + u64::from(count);
            return print_json(&json, provenance(Made::OnKernel, seeds));
        }
        let mut out = terminal::out();
        writeln!(out, "{}\n", self.table())?;
        if let Some(table) = self.listed() {
            writeln!(out, "{table}\n")?;
        }
        for Doubtful { seed, warning } in &self.doubtful {
            writeln!(out, "seed {seed} is not counted: {warning}")?;
        }
        let (share, scenarios) = (100.0 * self.share(), self.scenarios);
        writeln!(
            out,
            "{share:.1} % of {} numbers of {scenarios} scenarios are within chance and 5 % (goal: {:.0} %, and none beyond \
             twice).",
            self.held.len(),
            100.0 * GOAL
        )?;
        Ok(())
    }

    fn table(&self) -> String {
        let mut table = Table::new(Style::Ruled);
        table
            .heads(["", "numbers", "agree", "furthest, times"])
            .right([1, 2, 3]);
        for (name, kind) in self.kinds() {
            let share = 100.0 * kind.agree as f64 / kind.numbers as f64;
            table.row([
                name.to_owned(),
                kind.numbers.to_string(),
                format!("{share:.1} %"),
                format!("{:.2}", kind.furthest),
            ]);
        }
        table.trimmed()
    }

    fn listed(&self) -> Option<String> {
        let differ = self.differences();
        let mut table = Table::new(Style::Ruled);
        table
            .heads([
                "seed",
                "number",
                "kernel",
                "simulator: least, median, largest",
                "times",
            ])
            .right([0, 2, 3, 4]);
        for held in differ.iter().take(LISTED) {
            table.row([
                held.seed.to_string(),
                format!("{}: {}", held.of, held.kind),
                short(held.kernel),
                [held.least, held.median, held.largest]
                    .map(short)
                    .join("  "),
                format!("{:.2}", held.times),
            ]);
        }
        (!table.is_empty()).then(|| table.trimmed())
    }
}

/// Of four digits.
fn short(x: f64) -> String {
    match x.abs() {
        x if x >= 1e6 => format!("{:.2}M", x / 1e6),
        x if x >= 1e4 => format!("{:.1}k", x / 1e3),
        _ => format!("{x:.1}"),
    }
}
