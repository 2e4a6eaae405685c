//! One self-contained HTML page: no script, no font, no image from anywhere else.

use crate::agreement;
use crate::colour::Pens;
use crate::figures::figures;
use crate::grid::Grid;
use crate::html::{anchor, escape, grid};
use crate::overview;
use crate::plot::Figure;
use crate::provenance;
use crate::reading::reading;
use crate::svg::theme_rules;
use crate::tables::{tables, warnings};
use data_encoding::BASE64;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use tidegate_scenario::{Comparison, Provenance, ResultSet};

const STYLE: &str = include_str!("page.css");

/// What the words of the page mean.
const GLOSSARY: [(&str, &str); 6] = [
    (
        "Queueing delay",
        "how long each packet waited in front of the link, told by the link itself; nothing of it is \
         estimated.",
    ),
    (
        "Goodput",
        "payload handed to the receiving application each second, warm-up excluded; of several \
         flows, the sum.",
    ),
    (
        "RTT",
        "the sender's smoothed round-trip time; of several flows, the largest of each number.",
    ),
    (
        "Utilisation",
        "bytes delivered ÷ bytes that the link could have carried while there was demand.",
    ),
    (
        "Vs 1st",
        "the number to its left as a share of the first run's: 100 % is the same.",
    ),
    (
        "Jain's index",
        "how evenly the flows of one direction share: 1 is even, 1/n is one flow taking all from n.",
    ),
];

/// All result sets as one page of HTML that is well-formed XML too: for each set a reading in words,
/// the tables and the figures; at the end where they come from. The same sets give the same bytes.
pub fn page(sets: &[ResultSet], from: &Provenance) -> String {
    let pens = pens(sets);
    let title = title(sets);
    let mut body = heading(&title);
    if sets.is_empty() {
        body.push_str("<p>There are no results.</p>\n");
    }
    if sets.len() > 1 {
        body.push_str(&overview(sets, &pens));
    }
    for (index, set) in sets.iter().enumerate() {
        body.push_str(&section(set, index, sets.len() > 1, &pens));
    }
    results_document(&title, &body, from)
}

/// Simulator against kernel as one page of HTML that is well-formed XML too: the table of comparisons with the known
/// reasons of differences, then for each set, which holds a kernel's and a simulator's run, what [`page`] shows of it,
/// with their curves in the same figures.
pub fn agreement_page(comparisons: &[Comparison], sets: &[ResultSet], from: &Provenance) -> String {
    const TITLE: &str = "The simulator against the kernel";
    let pens = pens(sets);
    let mut body = heading(TITLE);
    let summary = escape(&agreement::summary(comparisons));
    let _ = writeln!(body, "<p class=\"description\">{summary}</p>");
    body.push_str(&links(sets));
    body.push_str(&card(&agreement::grid_with_reasons(comparisons), &pens));
    for (index, set) in sets.iter().enumerate() {
        body.push_str(&section(set, index, true, &pens));
    }
    results_document(TITLE, &body, from)
}

/// One pen for each run's name.
fn pens(sets: &[ResultSet]) -> Pens {
    let runs = sets.iter().flat_map(|set| &set.runs);
    Pens::new(runs.map(|run| run.name.as_str()))
}

fn heading(title: &str) -> String {
    format!("<header><h1>{}</h1></header>\n", escape(title))
}

/// Results with everything around them.
fn results_document(title: &str, body: &str, from: &Provenance) -> String {
    let footer = format!("<footer>\n{}{}</footer>\n", provenance(from), glossary());
    document(title, "", &format!("{body}{footer}"))
}

/// A page of HTML that is well-formed XML too, if `body` is: in the style of all pages here, with `style` on top.
/// Whatever `body` holds, the page loads nothing, and a browser runs no script and applies no other style.
pub fn document(title: &str, style: &str, body: &str) -> String {
    let style = format!("\n{STYLE}{}{style}", theme_rules());
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n\
         <title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         </body>\n</html>\n",
        policy(&style),
        escape(title),
    )
}

/// Allows this style alone, identified by its hash.
fn policy(style: &str) -> String {
    let hash = BASE64.encode(&Sha256::digest(style));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
}

/// A figure in two sizes, page-wide and phone-wide; a browser shows the one that fits.
pub fn responsive(figure: &Figure) -> String {
    let narrow = Figure {
        size: Figure::PHONE,
        ..figure.clone()
    };
    format!(
        "<div class=\"on-desk\">{}</div><div class=\"on-phone\">{}</div>",
        figure.svg(),
        narrow.svg()
    )
}

fn title(sets: &[ResultSet]) -> String {
    match sets {
        [set] => set.scenario.clone(),
        _ => format!("Tidegate: {} scenarios", sets.len()),
    }
}

fn anchor_of(set: &ResultSet, index: usize) -> String {
    format!("s{}-{}", index + 1, anchor(&set.scenario))
}

fn section(set: &ResultSet, index: usize, headed: bool, pens: &Pens) -> String {
    let mut html = format!("<section id=\"{}\">\n", anchor_of(set, index));
    if headed {
        let _ = writeln!(html, "<h2>{}</h2>", escape(&set.scenario));
    }
    if !set.description.is_empty() {
        let _ = writeln!(
            html,
            "<p class=\"description\">{}</p>",
            escape(&set.description)
        );
    }
    html.push_str(&alarm(set));
    html.push_str(&words(set));
    let (main, rest): (Vec<Grid>, Vec<Grid>) = tables(set)
        .into_iter()
        .partition(|table| table.title.is_empty());
    main.iter()
        .for_each(|table| html.push_str(&card(table, pens)));
    let figures = figures(set, pens);
    html.push_str(&pictures(&figures.main));
    if !figures.more.is_empty() {
        let more = pictures(&figures.more);
        let _ = writeln!(
            html,
            "<details><summary>More curves</summary>\n{more}</details>"
        );
    }
    rest.iter()
        .for_each(|table| html.push_str(&card(table, pens)));
    html.push_str("</section>\n");
    html
}

fn words(set: &ResultSet) -> String {
    let mut html = String::from("<ul class=\"reading\">\n");
    for sentence in reading(set) {
        let _ = writeln!(html, "<li>{}</li>", escape(&sentence));
    }
    html.push_str("</ul>\n");
    html
}

fn alarm(set: &ResultSet) -> String {
    let warnings = warnings(set);
    if warnings.is_empty() {
        return String::new();
    }
    let mut html =
        String::from("<div class=\"alarm\" role=\"alert\"><strong>Warning</strong><ul>\n");
    for (run, warning) in warnings {
        let _ = writeln!(html, "<li><b>{}</b>: {}</li>", escape(run), escape(warning));
    }
    html.push_str("</ul></div>\n");
    html
}

fn card(table: &Grid, pens: &Pens) -> String {
    let heading = match table.title {
        "" => String::new(),
        title => format!("<h3>{}</h3>\n", escape(title)),
    };
    format!("<div class=\"card\">{heading}{}</div>\n", grid(table, pens))
}

fn pictures(figures: &[Figure]) -> String {
    let mut html = String::from("<div class=\"figures\">\n");
    for figure in figures {
        let class = if figure.size == Figure::HALF {
            "half"
        } else {
            "wide"
        };
        let _ = writeln!(
            html,
            "<figure class=\"card {class}\">{}</figure>",
            figure.svg()
        );
    }
    html.push_str("</div>\n");
    html
}

/// One line a run over all sets, with a link to each set.
fn overview(sets: &[ResultSet], pens: &Pens) -> String {
    links(sets) + &card(&overview::grid(sets), pens)
}

/// A link to each set.
fn links(sets: &[ResultSet]) -> String {
    let mut html = String::from("<nav>");
    for (index, set) in sets.iter().enumerate() {
        let (to, name) = (anchor_of(set, index), escape(&set.scenario));
        let _ = write!(html, "<a href=\"#{to}\">{name}</a> ");
    }
    html + "</nav>\n"
}

fn glossary() -> String {
    let mut html = String::from("<details><summary>What the words mean</summary><dl>\n");
    for (word, meaning) in GLOSSARY {
        let _ = writeln!(html, "<dt>{word}</dt><dd>{meaning}</dd>");
    }
    html.push_str("</dl></details>\n");
    html
}

#[cfg(test)]
mod tests;
