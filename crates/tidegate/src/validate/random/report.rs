//! What came of all drawn scenarios: for people a table, for programs JSON.

use super::chance::Held;
use crate::provenance::print_json;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use tidegate_scenario::Provenance;
use tidegate_terminal::{self as terminal, Style, Table};

/// The share of numbers that is to agree, and how many times beyond chance none may be.
const GOAL: f64 = 0.97;
pub const WORST: f64 = 2.0;

/// So many differences are listed for people.
const LISTED: usize = 40;

/// What came of all.
#[derive(Default)]
pub struct Report {
    held: Vec<Held>,
    /// How many numbers of a further run of the simulator's there are, and agree.
    own: [usize; 2],
    scenarios: u32,
    doubtful: Vec<Doubtful>,
    /// Scenarios that were not held.
    pub unfinished: u32,
}

/// A scenario whose run on the kernel does not count.
#[derive(Serialize)]
struct Doubtful {
    scenario: String,
    warning: String,
}

/// All numbers of a kind.
#[derive(Default, Serialize)]
struct Kind {
    numbers: usize,
    agree: usize,
    /// How many times beyond chance the furthest is, 1 if none is; none where only one of the two has it.
    #[serde(serialize_with = "super::chance::finite")]
    furthest: f64,
    /// The mean of the kernel's ranks among the simulator's: a half, unless one of the two is biased.
    rank: f64,
}

/// As `--json` has it.
#[derive(Serialize)]
struct Json<'a> {
    scenarios: u32,
    unfinished: u32,
    share: f64,
    /// The share of a further run of the simulator's.
    own_share: f64,
    kinds: BTreeMap<&'static str, Kind>,
    doubtful: &'a [Doubtful],
    differences: Vec<&'a Held>,
}

impl Report {
    /// Of one more scenario, with those of a further run of the simulator's.
    pub fn add(&mut self, held: Vec<Held>, own: &[Held]) {
        self.scenarios += 1;
        self.own[0] += own.len();
        self.own[1] += own.iter().filter(|held| held.agrees).count();
        self.held.extend(held);
    }

    /// Of one that the kernel was too busy for.
    pub fn add_doubtful(&mut self, scenario: &str, warning: &str) {
        self.doubtful.push(Doubtful {
            scenario: scenario.to_owned(),
            warning: warning.to_owned(),
        });
    }

    /// The furthest number of each of so many scenarios, the furthest first.
    pub fn furthest(&self, most: usize) -> Vec<Held> {
        let mut furthest: Vec<Held> = Vec::new();
        let confirmed = |held: &Held| held.times.min(held.confirmed);
        let mut differ = self.differences();
        differ.sort_by(|a, b| confirmed(b).total_cmp(&confirmed(a)));
        for held in differ {
            if furthest.iter().all(|h| h.scenario != held.scenario) {
                furthest.push(held.clone());
            }
        }
        furthest.truncate(most);
        furthest
    }

    /// Scenarios that are done.
    pub fn done(&self) -> u32 {
        self.scenarios + self.doubtful.len() as u32
    }

    /// Whether enough agrees, and nothing is far beyond chance.
    pub fn reaches_the_goals(&self) -> bool {
        self.share() >= GOAL && !self.held.iter().any(is_far)
    }

    fn share(&self) -> f64 {
        let agree = self.held.iter().filter(|held| held.agrees).count();
        agree as f64 / self.held.len().max(1) as f64
    }

    /// What a simulator that is the kernel would have.
    fn own_share(&self) -> f64 {
        self.own[1] as f64 / self.own[0].max(1) as f64
    }

    fn kinds(&self) -> BTreeMap<&'static str, Kind> {
        let mut kinds: BTreeMap<_, Kind> = BTreeMap::new();
        for held in &self.held {
            let kind = kinds.entry(held.kind).or_default();
            kind.numbers += 1;
            kind.agree += usize::from(held.agrees);
            kind.furthest = kind.furthest.max(held.times);
            kind.rank += held.rank;
        }
        for kind in kinds.values_mut() {
            kind.rank /= kind.numbers as f64;
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
    pub fn show(&self, json: bool, from: Provenance) -> Result<()> {
        if json {
            let json = Json {
                scenarios: self.scenarios,
                unfinished: self.unfinished,
                share: self.share(),
                own_share: self.own_share(),
                kinds: self.kinds(),
                doubtful: &self.doubtful,
                differences: self.differences(),
            };
            return print_json(&json, from);
        }
        let mut out = terminal::out();
        writeln!(out, "{}\n", self.table())?;
        if let Some(table) = self.listed() {
            writeln!(out, "{table}\n")?;
        }
        for Doubtful { scenario, warning } in &self.doubtful {
            writeln!(out, "{scenario} is not counted: {warning}")?;
        }
        let (share, scenarios) = (100.0 * self.share(), self.scenarios);
        let own = 100.0 * self.own_share();
        writeln!(
            out,
            "{share:.1} % of {} numbers of {scenarios} scenarios are within chance and 5 % (goal: {:.0} %, and none beyond \
             twice). Of a further run of the simulator's {own:.1} % are.",
            self.held.len(),
            100.0 * GOAL
        )?;
        Ok(())
    }

    fn table(&self) -> String {
        let mut table = Table::new(Style::Ruled);
        table
            .heads(["", "numbers", "agree", "furthest, times", "mean rank"])
            .right([1, 2, 3, 4]);
        for (name, kind) in self.kinds() {
            let share = 100.0 * kind.agree as f64 / kind.numbers as f64;
            table.row([
                name.to_owned(),
                kind.numbers.to_string(),
                format!("{share:.1} %"),
                format!("{:.2}", kind.furthest),
                format!("{:.2}", kind.rank),
            ]);
        }
        table.trimmed()
    }

    fn listed(&self) -> Option<String> {
        let differ = self.differences();
        let mut table = Table::new(Style::Ruled);
        table
            .heads([
                "scenario",
                "number",
                "kernel",
                "simulator: least, median, largest",
                "times",
                "kernel again",
                "times",
            ])
            .right([2, 3, 4, 5, 6]);
        for held in differ.iter().take(LISTED) {
            let confirmed = (!held.again.is_empty()).then(|| format!("{:.2}", held.confirmed));
            table.row([
                held.scenario.clone(),
                format!("{}: {}", held.of, held.kind),
                short(held.kernel),
                [held.least, held.median, held.largest]
                    .map(short)
                    .join("  "),
                format!("{:.2}", held.times),
                held.again
                    .iter()
                    .copied()
                    .map(short)
                    .collect::<Vec<_>>()
                    .join("  "),
                confirmed.unwrap_or_default(),
            ]);
        }
        (!table.is_empty()).then(|| table.trimmed())
    }
}

/// Whether a number is far beyond chance, and stays so in further runs of the kernel's.
fn is_far(held: &Held) -> bool {
    held.times >= WORST && held.confirmed >= WORST
}

/// Of four digits.
fn short(x: f64) -> String {
    match x.abs() {
        x if x >= 1e6 => format!("{:.2}M", x / 1e6),
        x if x >= 1e4 => format!("{:.1}k", x / 1e3),
        _ => format!("{x:.1}"),
    }
}
