//! A trial's result as one page to keep or to share.

use super::outcome::{Row, TrialReport};
use super::plan::Purpose;
use super::table::rows;
use super::verdict::Verdict;
use super::words::{self, ms};
use std::fmt::Write;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure, Mark, Scale};
use tidegate_report::{document, escape, provenance, responsive};
use tidegate_scenario::Provenance;

/// Readable on a phone: pictures are no wider than a card.
const STYLE: &str = "\
main { max-width: 660px; }
h1 { font-size: 23px; }
footer { overflow-wrap: anywhere; }
h2.first { margin-top: 0; padding-top: 0; border-top: none; }
.verdict { border-left: 6px solid var(--neutral); }
.helps { border-left-color: #009e73; }
.hurts { border-left-color: #d55e00; }
.verdict p { margin: 8px 0 0; }
td, th { white-space: normal; }
td.number { white-space: nowrap; }
.note { color: var(--pencil); font-weight: normal; }
.numbers table { width: 100%; }
";

/// The page.
pub fn page(outcome: &TrialReport, from: &Provenance) -> String {
    let class = match outcome.finding.verdict {
        Verdict::Helps => "helps",
        Verdict::Hurts => "hurts",
        Verdict::NoDifference | Verdict::Undecided => "same",
    };
    let mut body = format!(
        "<header class=\"card verdict {class}\"><h1>{}</h1>\n",
        escape(&outcome.headline)
    );
    for sentence in &outcome.said {
        let _ = writeln!(body, "<p>{}</p>", escape(sentence));
    }
    body.push_str("</header>\n");
    if outcome.finding.loaded_ms.is_some() {
        body.push_str(&numbers(outcome));
    }
    let figures = [over_time(outcome), by_pairs(outcome)];
    body.push_str("<div class=\"figures\">\n");
    for figure in figures.iter().filter(|figure| !figure.is_empty()) {
        let _ = writeln!(
            body,
            "<figure class=\"card wide\">{}</figure>",
            responsive(figure)
        );
    }
    body.push_str("</div>\n");
    body.push_str(&slots(outcome));
    body.push_str(&how(outcome, from));
    document("A trial of Tidegate", STYLE, &body)
}

fn numbers(outcome: &TrialReport) -> String {
    let mut html = String::from(
        "<div class=\"card numbers\"><h2 class=\"first\">In numbers</h2>\n<table>\n<thead><tr><th scope=\"col\"></th>\
         <th scope=\"col\" class=\"number\">without</th><th scope=\"col\" class=\"number\">with steering</th></tr></thead>\n<tbody>\n",
    );
    for [what, without, with, note] in rows(outcome) {
        let note = match note.as_str() {
            "" => String::new(),
            note => format!("<br/><span class=\"note\">{}</span>", escape(note)),
        };
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{}{note}</th><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escape(&what),
            escape(&without),
            escape(&with)
        );
    }
    html + "</tbody></table></div>\n"
}

/// The pens of all pages: unsteered curves are grey.
fn pen(steered: bool) -> Pen {
    Pen::nth(if steered { 2 } else { 1 })
}

fn name(steered: bool) -> &'static str {
    if steered { "with steering" } else { "without" }
}

/// Every round trip over time, with a curve for each slot.
fn over_time(outcome: &TrialReport) -> Figure {
    let mut curves: Vec<Curve> = Vec::new();
    for row in &outcome.slots {
        let trips = row.slot.round_trips.iter();
        let points = trips.map(|trip| (trip.at_s, trip.ms)).collect();
        let name = name(row.slot.steered);
        let listed = curves.iter().any(|curve| curve.label == name);
        let label = if listed { "" } else { name };
        curves.push(Curve::new(label, pen(row.slot.steered), Mark::Line, points));
    }
    Figure {
        title: "Delay under load, every round trip".into(),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("ms", Scale::FromZero),
        curves,
        size: Figure::HALF,
    }
}

/// The slots' medians, which the test compares.
fn by_pairs(outcome: &TrialReport) -> Figure {
    let curves = [false, true].map(|steered| {
        let counts =
            |row: &&Row| row.slot.purpose == Purpose::Counts && row.slot.steered == steered;
        let slots = outcome.slots.iter().filter(counts);
        let points = slots.filter_map(|row| Some((row.slot.pair as f64 - 1.0, row.median_ms?)));
        Curve::new(name(steered), pen(steered), Mark::Bars, points.collect())
    });
    let mut pairs = Axis::categories((1..=outcome.about.pairs).map(|pair| pair.to_string()));
    pairs.label = "pair of slots".into();
    Figure {
        title: "Median delay of each slot".into(),
        x: pairs,
        y: Axis::new("ms", Scale::FromZero),
        curves: curves.into(),
        size: Figure::HALF,
    }
}

fn slots(outcome: &TrialReport) -> String {
    let mut html = String::from(
        "<details class=\"card\"><summary>Every slot</summary>\n<div class=\"scroll\"><table>\n<thead><tr>\
         <th scope=\"col\">pair</th><th scope=\"col\">steering</th><th scope=\"col\" class=\"number\">median</th>\
         <th scope=\"col\" class=\"number\">95 %</th><th scope=\"col\" class=\"number\">answers</th>\
         <th scope=\"col\" class=\"number\">rate</th></tr></thead>\n<tbody>\n",
    );
    for row in &outcome.slots {
        let pair = match row.slot.purpose {
            Purpose::WarmUp => "warm-up".into(),
            Purpose::Counts => row.slot.pair.to_string(),
            Purpose::Check => "twice the load".into(),
        };
        let delay = |value: Option<f64>| value.map_or("–".into(), ms);
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{pair}</th><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{} of {}</td><td class=\"number\">{}</td></tr>",
            name(row.slot.steered),
            delay(row.median_ms),
            delay(row.p95_ms),
            row.answered,
            row.answered + row.slot.unanswered,
            words::rate(row.slot.bps(outcome.finding.direction))
        );
    }
    html + "</tbody></table></div></details>\n"
}

fn how(outcome: &TrialReport, from: &Provenance) -> String {
    let about = &outcome.about;
    let by = match about.pinged_by {
        super::ping::By::Echo => "ICMP echoes",
        super::ping::By::Handshake => "TCP handshakes",
    };
    let sentence = format!(
        "Slots of {} s with steering (law {}) and without took turns, in an order drawn by lot within each pair (seed {}), \
         while “{}” filled the link over {}. {by} with {} were timed meanwhile. The medians of the slots are compared by a \
         sign-flip test; the first pair does not count, and {}.",
        about.slot_s,
        about.law,
        about.seed,
        about.load,
        about.interfaces.join(", "),
        about.pinged,
        words::threshold()
    );
    format!(
        "<footer><p>{}</p>\n<p>Begun at {}.</p>\n{}</footer>\n",
        escape(&sentence),
        escape(&date(about.at)),
        provenance(from)
    )
}

/// A time in seconds since 1970 as UTC: 2026-03-01 14:05 UTC.
fn date(at: u64) -> String {
    // SAFETY: zeroes are a valid tm, which gmtime_r fills in.
    let date = unsafe {
        let mut date = std::mem::zeroed();
        libc::gmtime_r(&(at as libc::time_t), &raw mut date);
        date
    };
    let (year, month) = (date.tm_year + 1900, date.tm_mon + 1);
    let (day, hour, minute) = (date.tm_mday, date.tm_hour, date.tm_min);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_772_373_900), "2026-03-01 14:05 UTC");
    }
}
