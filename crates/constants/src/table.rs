//! What a sweep shows, for terminals and for documents.

use crate::sweep::{Swept, Verdict};
use crate::variable::Variable;
use std::fmt::Write;

/// A table for each constant and judge, in Markdown.
pub fn table(swept: &[Swept]) -> String {
    let mut text = String::new();
    for one in swept {
        let heads = one.measures.join(" | ");
        let rule = "--- | ".repeat(one.measures.len());
        writeln!(text, "{} ({}): {}", one.constant, one.place, one.says).expect("text");
        writeln!(
            text,
            "\n| {} | {heads} | beside the value in use |",
            one.judge
        )
        .expect("text");
        writeln!(text, "| --- | {rule}--- |").expect("text");
        for value in &one.values {
            let numbers: Vec<String> = value.measured.iter().map(|&number| short(number)).collect();
            let numbers = numbers.join(" | ");
            writeln!(
                text,
                "| {} | {numbers} | {} |",
                value.value,
                value.verdict.words()
            )
            .expect("text");
        }
        text.push('\n');
    }
    text
}

/// Three digits that mean something.
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
