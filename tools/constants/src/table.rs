//! The results of a sweep, for terminals and for documents.

use crate::sweep::{Swept, Value, Verdict, change};
use crate::variable::Variable;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A table for each judge, in Markdown: its measures with the values in use, and by how much each other value of each
/// constant changes them. Values that change nothing are only counted.
pub fn table(swept: &[Swept]) -> String {
    let mut judges: Vec<&str> = swept.iter().map(|one| one.judge).collect();
    judges.sort_unstable();
    judges.dedup();
    let mut text = String::new();
    for judge in judges {
        let rows: Vec<&Swept> = swept.iter().filter(|one| one.judge == judge).collect();
        let measures = &rows[0].measures;
        let rule = "--- | ".repeat(measures.len());
        writeln!(text, "| {judge} | value | {} | |", measures.join(" | ")).expect("text");
        writeln!(text, "| --- | --- | {rule}--- |").expect("text");
        let in_use = &rows[0].values[0].measured;
        writeln!(text, "| as it is | | {} | |", joined(in_use, short)).expect("text");
        let others = rows
            .iter()
            .flat_map(|one| one.values[1..].iter().map(move |value| (one, value)));
        let (same, rest): (Vec<_>, Vec<_>) =
            others.partition(|(_, value)| value.verdict == Verdict::Same);
        for (one, value) in &rest {
            writeln!(text, "{}", row(one, value)).expect("text");
        }
        if !same.is_empty() {
            let all = same.len() + rest.len();
            writeln!(
                text,
                "\nThe other {} of {all} values: the same.",
                same.len()
            )
            .expect("text");
        }
        text.push('\n');
    }
    text
}

/// The worth of each mechanism: the differences without it that are beyond chance, judge by judge.
pub fn worth(swept: &[Swept]) -> String {
    let mut text = "| mechanism | what it does | without it |\n| --- | --- | --- |\n".to_owned();
    for of_one in swept.chunk_by(|a, b| a.constant == b.constant) {
        let differs: Vec<String> = of_one.iter().filter_map(seen_by).collect();
        let differs = match differs.is_empty() {
            true => "the same".to_owned(),
            false => differs.join("; "),
        };
        let Swept { constant, says, .. } = &of_one[0];
        let name = short_name(constant);
        writeln!(text, "| `{name}` | {says} | {differs} |").expect("text");
    }
    text.push('\n');
    text
}

/// The differences that a judge sees with the first other value, if any.
fn seen_by(one: &Swept) -> Option<String> {
    let value = &one.values[1];
    let measures = one.measures.iter().zip(changes(one, value)).enumerate();
    let differ = measures.filter(|&(n, _)| value.gains[n].abs() > 1.0);
    let differ: Vec<String> = differ
        .map(|(_, (name, change))| format!("{name} {change}"))
        .collect();
    (!differ.is_empty()).then(|| format!("{}: {}", one.judge, differ.join(", ")))
}

/// The constants that make no difference to any judge: without such a mechanism everything is the same.
pub fn unseen(swept: &[Swept]) -> String {
    let is_seen = |one: &Swept| {
        let others = one.values[1..].iter();
        others
            .map(|value| value.verdict)
            .any(|verdict| verdict != Verdict::Same)
    };
    let seen: BTreeSet<&str> = swept
        .iter()
        .filter(|one| is_seen(one))
        .map(|one| one.constant)
        .collect();
    let mut names: Vec<String> = swept
        .iter()
        .filter(|one| !seen.contains(one.constant))
        .map(|one| format!("`{}`", short_name(one.constant)))
        .collect();
    names.dedup();
    match names.is_empty() {
        true => String::new(),
        false => format!("No judge sees {}.\n", names.join(", ")),
    }
}

/// The name without the prefix of all constants, and of all switches.
fn short_name(constant: &str) -> &str {
    let name = constant.trim_start_matches("TG_");
    name.trim_start_matches("WITH_")
}

/// The changes by a value.
fn row(one: &Swept, value: &Value) -> String {
    format!(
        "| `{}` | {} → {} | {} | {} |",
        short_name(one.constant),
        one.in_use,
        value.value,
        changes(one, value).join(" | "),
        value.verdict.words()
    )
}

/// By how much it changes each measure.
fn changes(one: &Swept, value: &Value) -> Vec<String> {
    let before = one.values[0].measured.iter();
    let measured = before.zip(&value.measured).zip(&value.certain);
    measured
        .map(|((&before, &after), &certain)| with_interval(change(before, after), certain))
        .collect()
}

fn joined(numbers: &[f64], form: impl Fn(f64) -> String) -> String {
    let each: Vec<String> = numbers.iter().map(|&number| form(number)).collect();
    each.join(" | ")
}

/// A change, with its interval where there are several seeds.
fn with_interval(change: f64, certain: f64) -> String {
    let change = percent(change);
    match certain.is_finite() && !change.is_empty() {
        true => format!("{} ± {:.1}", change.trim_end_matches(" %"), certain * 100.0) + " %",
        false => change,
    }
}

/// With its sign; empty for less than a tenth.
fn percent(change: f64) -> String {
    match change * 100.0 {
        // Nothing was measured.
        none if none.is_nan() => "–".to_owned(),
        small if small.abs() < 0.1 => String::new(),
        large if large.abs() >= 10.0 => format!("{large:+.0} %"),
        change => format!("{change:+.1} %"),
    }
}

/// Three significant digits.
fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.3}"),
    }
}

/// The constants, their values and judges.
pub fn listed(variables: &[Variable]) -> String {
    let rows = variables.iter().map(|variable| {
        let Variable {
            name,
            place,
            in_use,
            ..
        } = variable;
        format!(
            "{name:28} {in_use:>10}  {place:18} {}",
            variable.judges.join(", ")
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Self::InUse => "in use",
            Self::Same => "the same",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Trade => "a trade",
            Self::Unjudged => "",
        }
    }
}

#[cfg(test)]
mod tests;
