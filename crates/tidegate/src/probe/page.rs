//! The results as a self-contained page, with the verdict first.

use super::measure::Measured;
use super::pictures::{Picture, of_way, one_way_delays, over_minutes};
use super::show::{further, measured, missing};
use super::tables::{Grid, grids};
use super::verdict::Verdict;
use std::fmt::Write;
use tidegate_report::{document, escape, provenance, responsive};
use tidegate_scenario::Provenance;

const STYLE: &str = include_str!("page.css");

/// Explains the page's terms.
const GLOSSARY: [(&str, &str); 6] = [
    (
        "Grade",
        "by how much longer a round trip takes while the link is full: A+ less than 5 ms, A 30, B 60, C 200, D 400, F more; \
         the scale of well-known bufferbloat tests.",
    ),
    (
        "Round trips a minute",
        "how often somebody could ask and be answered: 60 000 divided by the round trip in ms. Of single packets beside \
         the load, or (responsiveness) of connections beside and on it, after draft-ietf-ippm-responsiveness.",
    ),
    (
        "Buffer",
        "how much the link keeps before it drops: counted in packets, bytes or time, and dropping at its tail, at its head, \
         or before it is full (a managed queue).",
    ),
    (
        "Bursts",
        "how often the link serves this device, if it does so in turns.",
    ),
    (
        "Each way",
        "downlink: from the server to here; uplink: from here to the server.",
    ),
    (
        "Steering",
        "what tidegate run would do: a prediction, made by playing what was recorded of this link in the simulator.",
    ),
];

/// The whole page.
pub fn page(measured: &Measured, from: &Provenance) -> String {
    let results = &measured.results;
    let verdict = Verdict::of(results);
    let mut body = first(&verdict, &self::measured(results));
    for grid in grids(results) {
        body.push_str(&card(&grid));
    }
    for (name, found) in &measured.ways {
        let heading = match *name {
            "down" => "Downlink: from the server to here",
            _ => "Uplink: from here to the server",
        };
        let _ = writeln!(body, "<h2>{heading}</h2>");
        body.extend(of_way(found).iter().map(picture));
    }
    body.push_str("<h2>During the whole measurement</h2>\n");
    body.push_str(&picture(&one_way_delays(measured)));
    body.extend(results.minutes.iter().map(|m| picture(&over_minutes(m))));
    for sentence in missing(results).into_iter().chain(further(results)) {
        let _ = writeln!(body, "<p class=\"description\">{}.</p>", escape(&sentence));
    }
    body.push_str(&glossary());
    let _ = writeln!(body, "<footer>\n{}</footer>", provenance(from));
    let title = format!("The link to {}", results.server);
    document(&title, STYLE, &body)
}

/// The summary for readers who read no further.
fn first(verdict: &Verdict, about: &str) -> String {
    let grade = verdict.grade.map(|grade| {
        let name = grade.name();
        format!(
            "<p class=\"grade grade-{}\"><small>Grade</small> {name}</p>\n",
            &name[..1]
        )
    });
    let lines: String = verdict
        .lines
        .iter()
        .map(|line| format!("<li>{}</li>\n", escape(line)))
        .collect();
    format!(
        "<header class=\"card verdict\">\n{}<div><h1>{}</h1>\n<ul>\n{lines}</ul>\n\
         <p class=\"description\">{}, by tidegate probe {}.</p></div>\n</header>\n",
        grade.unwrap_or_default(),
        escape(&verdict.headline),
        escape(about),
        env!("CARGO_PKG_VERSION")
    )
}

fn card(grid: &Grid) -> String {
    let head = |name: &&str| match *name {
        "" => "<td></td>".to_owned(),
        name => format!("<th scope=\"col\">{}</th>", escape(name)),
    };
    let heads: String = grid.heads.iter().map(head).collect();
    let row = |(what, cells): &(String, Vec<String>)| {
        let cells: String = cells
            .iter()
            .map(|cell| format!("<td>{}</td>", escape(cell)))
            .collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(what))
    };
    let rows: String = grid.rows.iter().map(row).collect();
    format!(
        "<section class=\"card\"><h2>{}</h2>\n<table class=\"facts\">\n<thead><tr><td></td>{heads}</tr></thead>\n\
         <tbody>{rows}</tbody></table></section>\n",
        escape(&sentence(grid.title))
    )
}

/// The text with a capital letter first.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn picture(Picture { figure, caption }: &Picture) -> String {
    format!(
        "<figure class=\"card\">{}<figcaption>{}</figcaption></figure>\n",
        responsive(figure),
        escape(caption)
    )
}

fn glossary() -> String {
    let mut html = String::from("<footer><details><summary>What the words mean</summary><dl>\n");
    for (word, meaning) in GLOSSARY {
        let _ = writeln!(html, "<dt>{word}</dt><dd>{meaning}</dd>");
    }
    html.push_str("</dl></details></footer>\n");
    html
}

#[cfg(test)]
mod tests;
