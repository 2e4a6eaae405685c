//! The paths that miss a bound.

use super::company::Company;
use super::meeting::Meeting;
use super::quantities::misses as is_missed;
use tidegate_study::{Entry, Listing, Sample};

/// Columns: percent, percent of the link, seconds, and milliseconds.
const HEADS: [&str; 6] = [
    "path",
    "kept, %",
    "share, %",
    "Linux's, %",
    "drained, s",
    "queue at the end, ms",
];

/// A row for each path that keeps too little, takes too much, or drains its queue too late.
pub fn misses(sample: &Sample, company: Company, meetings: &[Meeting]) -> Listing {
    let missed = meetings.iter().filter(|m| is_missed(sample, m));
    Listing {
        title: format!("{}: every path that misses a goal", company.name),
        heads: HEADS.map(String::from).into(),
        rows: missed.map(|meeting| row(sample, meeting)).collect(),
    }
}

fn row(sample: &Sample, meeting: &Meeting) -> Vec<Entry> {
    let [ours, linux] = meeting.shares(sample);
    vec![
        meeting.beside.path.name.clone().into(),
        meeting.kept(sample).into(),
        ours.into(),
        linux.into(),
        meeting.drained_s(sample).into(),
        meeting.left_ms(sample).into(),
    ]
}
