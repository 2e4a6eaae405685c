//! The table for people: a line for each question, two columns for each link.

use crate::{Over, Performed};
use comfy_table::{CellAlignment, Table, presets};

/// A question, and how a performance answers it.
type Row = (&'static str, fn(&Performed) -> String);

const ROWS: [Row; 12] = [
    ("pages", |p| match p.summary.pages_given_up {
        0 => p.summary.pages.to_string(),
        lost => format!("{} ({lost} given up)", p.summary.pages),
    }),
    ("requests without an answer", |p| {
        p.summary.failures.to_string()
    }),
    ("page load p50 / p95, s", |p| {
        let s = &p.summary;
        pair(Some(s.page_load_p50_s), Some(s.page_load_p95_s), 1)
    }),
    ("beside a download", |p| {
        let s = &p.summary;
        let p50 = s.page_load_beside_download_p50_s;
        pair(p50, s.page_load_beside_download_p95_s, 1)
    }),
    ("video, mean Mbit/s", |p| {
        format!("{:.2}", p.summary.video_mbps)
    }),
    ("stalls, number / s in all", |p| {
        format!(
            "{} / {:.1}",
            p.summary.video_stalls, p.summary.video_stalled_s
        )
    }),
    ("start p50 / longest, s", |p| {
        let s = &p.summary;
        pair(Some(s.video_start_p50_s), Some(s.video_start_max_s), 1)
    }),
    ("download, Mbit/s", |p| {
        format!("{:.2}", p.summary.download_mbps)
    }),
    ("call, round trip p50 / p99, ms", |p| {
        pair(Some(p.seen.call.p50_ms), Some(p.seen.call.p99_ms), 0)
    }),
    ("beside a download", |p| {
        let call = &p.seen.call_beside_download;
        pair(Some(call.p50_ms), Some(call.p99_ms), 0)
    }),
    ("lost or later than 300 ms, %", |p| {
        format!("{:.1}", 100.0 * p.seen.call.lost_or_late)
    }),
    ("queue mean / p99, ms", |p| {
        let link = &p.observed;
        pair(Some(link.queue_mean_ms), Some(link.queue_p99_ms), 0)
    }),
];

/// The table, with two columns for each link.
pub fn table(overs: &[Over]) -> Table {
    let mut header = vec![String::new()];
    for over in overs {
        header.extend([format!("{}, untouched", over.link), over.udp.clone()]);
    }
    let mut table = Table::new();
    table
        .load_style(presets::ASCII_MARKDOWN)
        .set_header(&header);
    for (question, answer) in ROWS {
        let performed = overs.iter().flat_map(|over| [&over.untouched, &over.held]);
        table.add_row(
            [question.to_owned()]
                .into_iter()
                .chain(performed.map(answer)),
        );
    }
    for number in 1..header.len() {
        let column = table.column_mut(number).expect("as many as the header has");
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The results in one line.
pub fn line(performed: &Performed) -> String {
    let Performed { summary, seen, .. } = performed;
    let pages = pair(
        Some(summary.page_load_p50_s),
        Some(summary.page_load_p95_s),
        1,
    );
    let call = pair(Some(seen.call.p50_ms), Some(seen.call.p99_ms), 0);
    format!(
        "page load {pages} s, video {:.1} Mbit/s, {} stalls, download {:.1} Mbit/s, call {call} ms",
        summary.video_mbps, summary.video_stalls, summary.download_mbps
    )
}

fn pair(one: Option<f64>, other: Option<f64>, digits: usize) -> String {
    match (one, other) {
        (Some(one), Some(other)) => format!("{one:.digits$} / {other:.digits$}"),
        _ => String::from("–"),
    }
}
