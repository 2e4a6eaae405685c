//! HTML that is XML as well: everything from outside escaped, every element closed.

use crate::colour::{Pen, Pens};
use crate::grid::{Grid, Head, Kind};
use std::fmt::Write;

/// Text for an element or a quoted attribute. Characters that XML cannot hold become `�`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// `text` as a link target: letters and digits, everything else as hyphens.
pub(crate) fn anchor(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect()
}

/// A table. Names of runs carry the colour that the figures draw them in.
pub(crate) fn grid(grid: &Grid, pens: &Pens) -> String {
    let mut html = String::from("<div class=\"scroll\"><table>\n<thead>");
    html.push_str(&heads(&grid.heads));
    html.push_str("</thead>\n<tbody>\n");
    for row in &grid.rows {
        html.push_str("<tr>");
        for (head, cell) in grid.heads.iter().zip(row) {
            html.push_str(&cell_of(head.kind, cell.as_deref(), pens));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

fn cell_of(kind: Kind, cell: Option<&str>, pens: &Pens) -> String {
    let nothing = if kind == Kind::Number { "–" } else { "" };
    let text = cell.map_or(nothing.to_owned(), escape);
    match (kind, cell) {
        (Kind::Run, Some(name)) => {
            format!("<th scope=\"row\">{}{text}</th>", chip(pens.of(name)))
        }
        (Kind::Number, _) => format!("<td class=\"number\">{text}</td>"),
        _ => format!("<td>{text}</td>"),
    }
}

/// A small square of the pen's colour, hollow if its bars are.
pub(crate) fn chip(pen: Pen) -> String {
    let hex = pen.colour.hex();
    let shapes = if pen.dashed {
        format!(
            "<rect x=\"1\" y=\"1\" width=\"9\" height=\"9\" rx=\"2\" fill=\"none\" stroke=\"{hex}\" stroke-width=\"2\"/>"
        )
    } else {
        format!("<rect width=\"11\" height=\"11\" rx=\"2\" fill=\"{hex}\"/>")
    };
    format!("<svg class=\"chip\" width=\"11\" height=\"11\" aria-hidden=\"true\">{shapes}</svg>")
}

/// Two rows: quantities, each above its statistics.
fn heads(heads: &[Head]) -> String {
    let mut upper = String::from("<tr>");
    let mut lower = String::from("<tr>");
    for group in heads.chunk_by(|a, b| a.quantity == b.quantity) {
        let span = group.len();
        let class = if group[0].kind == Kind::Number {
            " class=\"number\""
        } else {
            ""
        };
        let name = escape(group[0].quantity);
        let _ = write!(
            upper,
            "<th scope=\"colgroup\" colspan=\"{span}\"{class}>{name}</th>"
        );
        for head in group {
            let statistic = escape(head.statistic);
            let unit = escape(head.unit);
            let _ = write!(
                lower,
                "<th scope=\"col\"{class}>{statistic}<br/>{unit}</th>"
            );
        }
    }
    format!("{upper}</tr>\n{lower}</tr>")
}

#[cfg(test)]
mod tests;
