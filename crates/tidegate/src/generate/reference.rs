//! The reference pages: a scenario's keys, the fields of results, and the columns of tables and rows. They come from
//! the types and tables themselves, so that they cannot be wrong.

use super::keys::{Kind, Row, Section, sections, toml};
use crate::link::passed;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use tidegate_daemon::COLUMNS;
use tidegate_report::{METRICS, meanings};

/// Whole scenarios that together contain every key.
const EXAMPLES: [&str; 2] = [
    include_str!("../../../../scenarios/reference/simulator.toml"),
    include_str!("../../../../scenarios/reference/laboratory.toml"),
];

/// A page of the reference.
pub struct Page {
    /// Its file name.
    pub file: &'static str,
    /// Its contents.
    pub text: String,
}

/// All pages.
pub fn pages() -> Vec<Page> {
    let schema = tidegate_scenario::schema();
    let mut json = serde_json::to_string_pretty(&schema).expect("a schema");
    json.push('\n');
    let page = |file, text| Page { file, text };
    vec![
        page("scenarios.md", scenarios(&schema)),
        page("results.md", results()),
        page("columns.md", columns()),
        page("names.md", names()),
        page("scenario.schema.json", json),
    ]
}

/// Writes the pages.
///
/// # Errors
/// If they cannot be written.
pub fn write(folder: &Path) -> std::io::Result<()> {
    let mut pages = pages().into_iter();
    pages.try_for_each(|page| std::fs::write(folder.join(page.file), page.text))
}

const GENERATED: &str = "<!-- Written by `./dev reference` from the code: change it there. -->\n";

fn scenarios(schema: &Value) -> String {
    let examples = EXAMPLES.map(|text| {
        let table: ::toml::Table = text.parse().expect("TOML");
        serde_json::to_value(table).expect("JSON")
    });
    let mut text = format!(
        "# Scenarios: every key\n\n{GENERATED}\n\
         A scenario is a TOML file that `tidegate sim` and `tidegate lab` run. [Run an experiment](../experiment.md)\n\
         says how to write one, [links](../links.md) in which order a packet passes the parts of a link.\n\
         A key that is not known and a number that is out of its range are refused, with their line. An editor that knows JSON Schema completes keys and\n\
         checks them as you type, with this as the file's first line:\n\n\
         ```toml editor\n#:schema https://raw.githubusercontent.com/tidegate/tidegate/main/docs/reference/scenario.schema.json\n```\n\n\
         The shortest scenario that there can be:\n\n\
         ```toml scenario\n{SHORTEST}```\n\n\
         Two scenarios that have every key between them are shipped: `scenarios/reference/simulator.toml` and\n\
         `scenarios/reference/laboratory.toml`. The examples below are theirs.\n"
    );
    for section in sections(schema, &examples) {
        write_section(&mut text, &section, true);
    }
    text
}

const SHORTEST: &str = r#"name = "shortest"
duration_s = 10
down = { rate = { constant_mbps = 20 }, delay_ms = 20 }
up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }, { name = "tide", law = "tide" }]
"#;

fn results() -> String {
    let mut text = format!(
        "# Results: every field\n\n{GENERATED}\n\
         `tidegate sim --json` and `tidegate lab --json` print one object for a scenario, and an array of them for\n\
         its variants. A distribution in which nothing was counted is all zero; fields may be added at any time.\n\
         What the tables for people show of it is explained in [columns](columns.md).\n"
    );
    for section in sections(&tidegate_scenario::results_schema(), &[]) {
        write_section(&mut text, &section, false);
    }
    text
}

fn columns() -> String {
    let mut text = format!(
        "# Columns: every table and CSV\n\n{GENERATED}\n\
         ## Tables of `sim` and `lab`\n\n\
         Columns that are empty in every run are left out, and so are the least important ones where the terminal\n\
         is too narrow, which the table says. \"vs 1st\" compares with the first run. With `sim --seeds N` the main\n\
         table has means with their 95 % confidence intervals, of columns that have the same names.\n"
    );
    for table in meanings() {
        let title = match table.title {
            "" => "The main table",
            title => title,
        };
        let _ = write!(
            text,
            "\n### {title}\n\n| column | unit | what it is |\n| --- | --- | --- |\n"
        );
        for column in table.columns {
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                column.name, column.unit, column.about
            );
        }
    }
    text.push_str(
        "\n## Rows of `sim --out` and `reproduce --out`\n\n\
         A row for each run: first the values that were varied, each in a column of its key's name; then `run`, its\n\
         name, and `key`, a hash of all that its result depends on ([sweeps](../sweeps.md)); then these numbers. A\n\
         cell is empty where there was nothing of it.\n\n\
         | column | what it is |\n| --- | --- |\n",
    );
    for metric in &METRICS {
        let _ = writeln!(text, "| `{}` | {} |", metric.name, metric.about);
    }
    text.push_str(
        "\n## Rows of `link --log`\n\nA row for each tenth of a second.\n\n| column | what it is |\n| --- | --- |\n",
    );
    for (name, about) in passed::COLUMNS {
        let _ = writeln!(text, "| `{name}` | {about} |");
    }
    text.push_str(
        "\n## `tidegate top`\n\nA row for each flow and direction; on a narrow terminal the least important columns go.\n\n\
         | column | what it is |\n| --- | --- |\n",
    );
    for column in COLUMNS {
        let title = match column.title() {
            "" => "↓ ↑",
            title => title,
        };
        let _ = writeln!(text, "| `{title}` | {} |", column.about());
    }
    text.push_str(OTHERS);
    text
}

fn names() -> String {
    let mut text = format!(
        "# Names: one quantity everywhere\n\n{GENERATED}\n\
         Where each number of a run is found. Names state their unit; the statistic of a distribution stands before the\n\
         unit in columns (`queue_delay_p95_ms`) and below it in JSON (`queue_delay_ms.p95`). What goes before a column's\n\
         name in a row of a run says whose it is: `up_` is the uplink's or an upload's, `ping_`, `fetch_` and `video_` are\n\
         those workloads'. \"Of several\" is said in [columns](columns.md).\n\n\
         * **row of a run**: `tidegate sim --out`, `r.runs` and `r.metrics` in [Python](../python.md#results)\n\
         * **JSON**: in an entry of `runs` of `tidegate sim --json` and `tidegate lab --json` ([results](results.md)); `[]` is\n\
         \x20\x20each entry of a list\n\
         * **Python, each**: a column with a row for each flow, link and so on\n\
         * **curve**: in `--series`, and in `r.series` of Python\n\
         * **table**: what `tidegate sim` and `tidegate lab` print\n\n\
         | row of a run | JSON | Python, each | curve | table |\n| --- | --- | --- | --- | --- |\n"
    );
    let code = |name: String| format!("`{name}`");
    for metric in &METRICS {
        let shown = metric
            .shown
            .split_once(':')
            .map(|(title, column)| match title {
                "" => column.to_owned(),
                title => format!("{title}: {column}"),
            });
        let cells = [
            Some(code(metric.name.into())),
            Some(metric.field)
                .filter(|field| !field.is_empty())
                .map(|field| code(field.into())),
            metric
                .of_each()
                .map(|(table, column)| code(format!("r.{table}[\"{column}\"]"))),
            metric.curve().map(code),
            shown,
        ];
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".into()));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Tables whose rows name what they have.
const OTHERS: &str = "
## `reproduce`

A table for each figure or table of a paper, a row for each number that it prints.

| column | what it is |
| --- | --- |
| the first, `unit` | What the number is of. |
| `paper` | As printed; a span where the figure can only be read so. |
| `ours` or `simulator`, `kernel` | Measured by us, ± the 95 % confidence interval over seeds; with `--lab` in both worlds. |
| `verdict` | *holds*: within the tolerance that the figure states; *in direction*: the same effect, at least a quarter of its size; *fails*; *unclear*: the seeds leave it open; *input*: the model was derived from that number. The reasons stand below the table. |

## `probe run`

A row for each property of the link, a column for each direction: its words say what they are, and
[how they come about](../internals/probe.md#how-the-numbers-come-about) is described apart.

## `bench`

| column | what it is |
| --- | --- |
| the first, `value`, `unit` | What was measured. |
| `ratio`, `to` | The value divided by that of what it is compared with, and what that is, if there is such a thing. |
";

fn write_section(text: &mut String, section: &Section, is_written: bool) {
    let places: Vec<_> = section
        .places
        .iter()
        .filter(|place| !place.is_empty())
        .collect();
    let heading: Vec<_> = places.iter().map(|place| format!("`{place}`")).collect();
    let heading = match heading.is_empty() {
        true => "At the top".to_owned(),
        false => heading.join(", "),
    };
    let _ = write!(text, "\n## {heading}\n\n{}\n", wrapped(&section.about));
    if section.kind == Kind::OneOf {
        text.push_str("\nOne of these:\n");
    }
    text.push('\n');
    text.push_str(match (section.kind, is_written) {
        (Kind::Words, _) => "| word | what it is |\n| --- | --- |\n",
        (_, true) => "| key | type | unit | range | default | example | what it is |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        (_, false) => "| field | type | unit | what it is |\n| --- | --- | --- | --- |\n",
    });
    for row in &section.rows {
        let line = match (section.kind, is_written) {
            (Kind::Words, _) => format!("| `\"{}\"` | {} |", row.name, row.about),
            (kind, true) => format!(
                "| `{}` | {} | {} | {} | {} | {} | {} |",
                row.name,
                form(row),
                row.unit.as_deref().unwrap_or_default(),
                row.range.as_deref().unwrap_or_default(),
                default(row, kind),
                row.example
                    .as_ref()
                    .filter(|_| row.section.is_none())
                    .map(code)
                    .unwrap_or_default(),
                row.about,
            ),
            (_, false) => format!(
                "| `{}` | {} | {} | {} |",
                row.name,
                form(row),
                row.unit.as_deref().unwrap_or_default(),
                row.about,
            ),
        };
        text.push_str(&line);
        text.push('\n');
    }
}

/// The form of a value, as a link if a section describes it.
fn form(row: &Row) -> String {
    match &row.section {
        Some(heading) => format!("[{}](#{})", row.form, anchor(heading)),
        None => row.form.clone(),
    }
}

/// The anchor that GitHub and mdBook give a heading: lower-case words, joined.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " _-".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn default(row: &Row, kind: Kind) -> String {
    match &row.default {
        _ if kind == Kind::OneOf => String::new(),
        _ if row.required => "required".into(),
        None | Some(Value::Null) => "–".into(),
        Some(value) if toml(value).len() > 40 => "as below".into(),
        Some(value) => code(value),
    }
}

fn code(value: &Value) -> String {
    format!("`{}`", toml(value))
}

/// Wraps text at 110 characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("one at least");
        if !line.is_empty() && line.chars().count() + word.chars().count() > 109 {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
