//! The report as one self-contained HTML page.

use crate::report::{Comparison, FigureReport, Report};
use crate::table::{doubt, kernels, ours, papers};
use crate::{Entry, Listing, Results, Study, Verdict};
use std::fmt::Write;
use tidegate_report::{document, escape, plot, provenance};
use tidegate_scenario::Provenance;

/// How the words of the page are drawn.
const STYLE: &str = include_str!("page.css");

/// The study's figures: the paper's claim, the picture, and its numbers beside ours and, if it was run there, the
/// kernel's; at the end the provenance. The same results give the same bytes.
pub fn page(
    title: &str,
    introduction: &str,
    study: &Study,
    results: &Results,
    kernel: Option<&Results>,
    from: &Provenance,
) -> String {
    let report = study.report(results, kernel);
    let mut body = format!(
        "<header><h1>{}</h1></header>\n<p class=\"description\">{}</p>\n",
        escape(title),
        escape(introduction)
    );
    body.push_str(&overview(&report));
    for (figure, outcome) in study.figures().iter().zip(&report.figures) {
        let mut pictures = (figure.draw)(&results.all());
        if let Some(kernel) = kernel {
            pictures.extend((figure.draw)(&kernel.all()).into_iter().map(on_kernel));
        }
        body.push_str(&section(outcome, &pictures));
    }
    body.push_str(&left_out(&report));
    let _ = writeln!(body, "<footer>\n{}</footer>", provenance(from));
    document(title, STYLE, &body)
}

fn on_kernel(picture: plot::Figure) -> plot::Figure {
    plot::Figure {
        title: format!("{}, on the kernel", picture.title),
        ..picture
    }
}

fn left_out(report: &Report) -> String {
    let mut html = String::new();
    for left_out in &report.left_out {
        let _ = writeln!(
            html,
            "<p class=\"description\">{} is left out: {}</p>",
            escape(&left_out.figure),
            escape(&left_out.reason)
        );
    }
    html
}

/// How many of each figure's quantities have each verdict, with the kernel's beside ours.
fn overview(report: &Report) -> String {
    let has_kernel = report.figures.iter().any(FigureReport::has_kernel);
    let worlds = match has_kernel {
        true => ["", "kernel: "].as_slice(),
        false => &[""],
    };
    let mut html = String::from(
        "<div class=\"card\"><div class=\"scroll\"><table>\n<thead><tr><th>figure</th><th></th>",
    );
    for world in worlds {
        let _ = write!(
            html,
            "<th class=\"number\">{world}holds</th><th class=\"number\">direction</th>\
             <th class=\"number\">fails</th><th class=\"number\">unclear</th>\
             <th class=\"number\">input</th>"
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for figure in &report.figures {
        let _ = write!(
            html,
            "<tr><th scope=\"row\"><a href=\"#{id}\">{id}</a></th><td>{}</td>",
            escape(&figure.title),
            id = escape(&figure.id),
        );
        let quantities = &figure.quantities;
        html.push_str(&counts(quantities.iter().map(|q| q.verdict)));
        if has_kernel {
            let kernels = quantities.iter().filter_map(|q| q.kernel.as_ref());
            html.push_str(&counts(kernels.map(|k| k.verdict)));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div></div>\n");
    html
}

fn counts(verdicts: impl Iterator<Item = Verdict>) -> String {
    let verdicts: Vec<Verdict> = verdicts.collect();
    let mut html = String::new();
    for verdict in [
        Verdict::Holds,
        Verdict::Direction,
        Verdict::Fails,
        Verdict::Unclear,
        Verdict::Input,
    ] {
        let n = verdicts.iter().filter(|&&v| v == verdict).count();
        let class = if n > 0 { verdict.name() } else { "none" };
        let _ = write!(html, "<td class=\"number {class}\">{n}</td>");
    }
    html
}

fn section(figure: &FigureReport, pictures: &[plot::Figure]) -> String {
    let mut html = format!(
        "<section id=\"{0}\">\n<h2>{0}: {1}</h2>\n<p class=\"description\">{2}</p>\n",
        escape(&figure.id),
        escape(&figure.title),
        escape(&figure.claim),
    );
    if !figure.method.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", escape(&figure.method));
    }
    html.push_str("<div class=\"figures\">\n");
    for picture in pictures.iter().filter(|picture| !picture.is_empty()) {
        let class = match picture.size == plot::Figure::HALF {
            true => "half",
            false => "wide",
        };
        let svg = picture.svg();
        let _ = writeln!(html, "<figure class=\"card {class}\">{svg}</figure>");
    }
    html.push_str("</div>\n");
    html.push_str(&numbers(figure));
    for listing in &figure.listings {
        html.push_str(&listed(listing));
    }
    if let Some(doubt) = doubt(figure) {
        let _ = writeln!(html, "<p class=\"alarm\">{}</p>", escape(&doubt));
    }
    html.push_str("</section>\n");
    html
}

fn listed(listing: &Listing) -> String {
    let cell = |entry: &Entry| {
        let class = if entry.is_number() {
            " class=\"number\""
        } else {
            ""
        };
        format!("<td{class}>{}</td>", escape(&entry.shown()))
    };
    let heads = listing.heads.iter();
    let heads: String = heads.map(|h| format!("<th>{}</th>", escape(h))).collect();
    let rows = listing.rows.iter().map(|row| {
        let cells: String = row.iter().map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    });
    format!(
        "<h3>{}</h3>\n<div class=\"card\"><div class=\"scroll\"><table>\n<thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{}</tbody></table></div></div>\n",
        escape(&listing.title),
        rows.collect::<String>()
    )
}

fn numbers(figure: &FigureReport) -> String {
    let heads = match figure.has_kernel() {
        true => ["paper", "simulator", "kernel"].as_slice(),
        false => &["paper", "ours"],
    };
    let mut html = String::from(
        "<div class=\"card\"><div class=\"scroll\"><table>\n<thead><tr><th></th><th>unit</th>",
    );
    for head in heads {
        let _ = write!(html, "<th class=\"number\">{head}</th>");
    }
    html.push_str("<th>verdict</th></tr></thead>\n<tbody>\n");
    for quantity in &figure.quantities {
        html.push_str(&row(quantity));
    }
    html.push_str("</tbody></table></div></div>\n");
    html
}

fn row(quantity: &Comparison) -> String {
    let mut numbers = vec![papers(quantity), ours(quantity)];
    let mut verdict = judged(quantity.verdict);
    if !quantity.reason.is_empty() {
        let _ = write!(verdict, ": {}", escape(&quantity.reason));
    }
    if !quantity.derived.is_empty() {
        let _ = write!(
            verdict,
            "<br/>* the paper does not print it: {}",
            escape(&quantity.derived)
        );
    }
    if let Some(kernel) = &quantity.kernel {
        numbers.push(kernels(kernel));
        let _ = write!(verdict, "<br/>on the kernel: {}", judged(kernel.verdict));
    }
    let numbers: String = numbers
        .iter()
        .map(|number| format!("<td class=\"number\">{}</td>", escape(number)))
        .collect();
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td>{numbers}<td class=\"verdict\">{verdict}</td></tr>\n",
        escape(&quantity.name),
        escape(&quantity.unit),
    )
}

fn judged(verdict: Verdict) -> String {
    format!("<b class=\"{}\">{}</b>", verdict.name(), verdict.words())
}
