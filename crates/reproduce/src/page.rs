//! The report as one self-contained HTML page.

use crate::report::{Comparison, FigureReport, Report};
use crate::table::{ours, papers};
use crate::{Results, Study, Verdict};
use std::fmt::Write;
use tidegate_report::{document, escape, plot};

/// How the words of the page are drawn.
const STYLE: &str = include_str!("page.css");

/// The study's figures: what the paper says, the picture, and its numbers beside ours. The same
/// results give the same bytes.
pub fn page(title: &str, introduction: &str, study: &Study, results: &Results) -> String {
    let report = study.report(results);
    let mut body = format!(
        "<header><h1>{}</h1></header>\n<p class=\"description\">{}</p>\n",
        escape(title),
        escape(introduction)
    );
    body.push_str(&overview(&report));
    for (figure, outcome) in study.figures().iter().zip(&report.figures) {
        let pictures = (figure.draw)(&results.all());
        body.push_str(&section(outcome, &pictures));
    }
    document(title, STYLE, &body)
}

/// How many of each figure's quantities came out how.
fn overview(report: &Report) -> String {
    let mut html = String::from(
        "<div class=\"card\"><div class=\"scroll\"><table>\n<thead><tr><th>figure</th><th></th>\
         <th class=\"number\">holds</th><th class=\"number\">direction</th>\
         <th class=\"number\">fails</th></tr></thead>\n<tbody>\n",
    );
    for figure in &report.figures {
        let count = |verdict| {
            let quantities = figure.quantities.iter();
            quantities.filter(|q| q.verdict == verdict).count()
        };
        let _ = write!(
            html,
            "<tr><th scope=\"row\"><a href=\"#{id}\">{id}</a></th><td>{}</td>",
            escape(&figure.title),
            id = escape(&figure.id),
        );
        for verdict in [Verdict::Holds, Verdict::Direction, Verdict::Fails] {
            let n = count(verdict);
            let class = if n > 0 { verdict.name() } else { "none" };
            let _ = write!(html, "<td class=\"number {class}\">{n}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div></div>\n");
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
    html.push_str(&numbers(&figure.quantities));
    html.push_str("</section>\n");
    html
}

fn numbers(quantities: &[Comparison]) -> String {
    let mut html = String::from(
        "<div class=\"card\"><div class=\"scroll\"><table>\n<thead><tr><th></th><th>unit</th>\
         <th class=\"number\">paper</th><th class=\"number\">ours</th><th>verdict</th></tr></thead>\n\
         <tbody>\n",
    );
    for quantity in quantities {
        let reason = match quantity.reason.as_str() {
            "" => String::new(),
            reason => format!(", because {}", escape(reason)),
        };
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"verdict\"><b class=\"{}\">{}</b>{reason}</td></tr>",
            escape(&quantity.name),
            escape(&quantity.unit),
            escape(&papers(quantity)),
            escape(&ours(quantity)),
            quantity.verdict.name(),
            quantity.verdict.words(),
        );
    }
    html.push_str("</tbody></table></div></div>\n");
    html
}
