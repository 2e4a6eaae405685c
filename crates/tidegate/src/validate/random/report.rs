//! The report on all random scenarios: a table for people, JSON for programs.

use super::chance::Held;
use crate::provenance::print_json;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use tidegate_scenario::Provenance;
use tidegate_terminal::{self as terminal, Style, Table};

/// The part of the numbers that must agree, and the ratio to the range that none may reach.
const GOAL: f64 = 0.97;
pub const WORST: f64 = 2.0;

/// How many differences the table lists.
const LISTED: usize = 40;

/// The results of all scenarios.
#[derive(Default)]
pub struct Report {
    held: Vec<Held>,
    /// How many numbers of the simulator's further run were compared, and how many agree.
    own: [usize; 2],
    scenarios: u32,
    doubtful: Vec<Doubtful>,
    /// Scenarios that were not compared.
    pub unfinished: u32,
}

/// A scenario whose kernel run does not count.
#[derive(Serialize)]
struct Doubtful {
    scenario: String,
    warning: String,
}

/// Totals of a kind of number.
#[derive(Default, Serialize)]
struct Kind {
    numbers: usize,
    agree: usize,
    /// The largest ratio to the range, at least 1; none if only one side has a number.
    #[serde(serialize_with = "super::chance::finite")]
    furthest: f64,
    /// The mean rank of the kernel's values among the simulator's: a half, unless one of the two is biased.
    rank: f64,
}

/// The report in JSON.
#[derive(Serialize)]
struct Json<'a> {
    scenarios: u32,
    unfinished: u32,
    share: f64,
    /// The same for the simulator's further run.
    own_share: f64,
    kinds: BTreeMap<&'static str, Kind>,
    doubtful: &'a [Doubtful],
    differences: Vec<&'a Held>,
}

impl Report {
    /// Adds a scenario, with the numbers of the simulator's further run.
    pub fn add(&mut self, held: Vec<Held>, own: &[Held]) {
        self.scenarios += 1;
        self.own[0] += own.len();
        self.own[1] += own.iter().filter(|held| held.agrees).count();
        self.held.extend(held);
    }

    /// Adds a scenario whose kernel run does not count.
    pub fn add_doubtful(&mut self, scenario: &str, warning: &str) {
        self.doubtful.push(Doubtful {
            scenario: scenario.to_owned(),
            warning: warning.to_owned(),
        });
    }

    /// The number with the largest ratio in each of up to `most` scenarios, the largest first.
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

    /// How many scenarios are done.
    pub fn done(&self) -> u32 {
        self.scenarios + self.doubtful.len() as u32
    }

    /// Whether enough numbers agree, and none is far beyond chance.
    pub fn reaches_the_goals(&self) -> bool {
        self.share() >= GOAL && !self.held.iter().any(is_far)
    }

    fn share(&self) -> f64 {
        let agree = self.held.iter().filter(|held| held.agrees).count();
        agree as f64 / self.held.len().max(1) as f64
    }

    /// The share that a perfect simulator would reach.
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

    /// The differences, the largest ratio first.
    fn differences(&self) -> Vec<&Held> {
        let mut differ: Vec<_> = self.held.iter().filter(|held| !held.agrees).collect();
        differ.sort_by(|a, b| b.times.total_cmp(&a.times));
        differ
    }

    /// Prints the report.
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

/// Whether a number is far beyond chance, and stays so in further kernel runs.
fn is_far(held: &Held) -> bool {
    held.times >= WORST && held.confirmed >= WORST
}

/// A number with up to four digits.
fn short(x: f64) -> String {
    match x.abs() {
        x if x >= 1e6 => format!("{:.2}M", x / 1e6),
        x if x >= 1e4 => format!("{:.1}k", x / 1e3),
        _ => format!("{x:.1}"),
    }
}
