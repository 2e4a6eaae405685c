//! The kinds of recordings, and how each is recognised.

use crate::Refused;
use std::borrow::Cow;
use strum::{EnumIter, EnumMessage, IntoEnumIterator};

/// A kind of recording.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    strum::Display,
    EnumIter,
    EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// A speed test of MONROE-Nettest.
    #[strum(
        message = "MONROE-Nettest (RMBT): JSON of a speed test, or CSV with a test in each row"
    )]
    Monroe,
    /// What ERRANT has emulated.
    #[strum(message = "ERRANT's log file: the rates, round trips and losses that it has emulated")]
    Errant,
    /// The dataset Lumos5G.
    #[strum(message = "Lumos5G: CSV with iperf3's goodput of every second, in Mbit/s")]
    Lumos5g,
    /// The datasets of NUWiNS.
    #[strum(message = "NUWiNS (Starlink, 5G): CSV of time and throughput_mbps, two a second")]
    Nuwins,
    /// The dataset of University College Cork.
    #[strum(
        serialize = "5gdataset",
        message = "UCC's 5Gdataset and 4G dataset (G-NetTrack): CSV with DL_bitrate and UL_bitrate, in kbit/s"
    )]
    FiveGDataset,
    /// A trace of Mahimahi's.
    #[strum(message = "Mahimahi: the millisecond of a delivery opportunity in each line")]
    Mahimahi,
    /// A log of Mahimahi's or Pantheon's.
    #[strum(message = "log of Pantheon's tunnel or of Mahimahi's mm-link")]
    Pantheon,
    /// A capture.
    #[strum(message = "pcap or pcapng: the packets of one direction, by their times")]
    Pcap,
    /// A result of iperf3.
    #[strum(message = "iperf3 --json: bits_per_second of every interval")]
    Iperf3,
}

impl Kind {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Its name among the options.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Its description, in a line.
    pub fn about(self) -> &'static str {
        self.get_message().expect("each has one")
    }
}

/// Magic numbers of captures: classic pcap with µs and ns in either byte order, and pcapng.
const CAPTURES: [[u8; 4]; 5] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// The kind of a file that begins with `head`, if only one kind does.
pub fn detect(head: &[u8]) -> Option<Kind> {
    if CAPTURES.iter().any(|magic| head.starts_with(magic)) {
        return Some(Kind::Pcap);
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        return of_json(text);
    }
    let first = text.lines().next()?;
    of_columns(first).or_else(|| of_lines(text))
}

fn of_json(text: &str) -> Option<Kind> {
    let has = |word: &str| text.contains(&format!("\"{word}\""));
    if has("res_details") || has("res_dl_throughput_kbps") || has("res_status") {
        return Some(Kind::Monroe);
    }
    (has("intervals") || has("test_start") || has("connecting_to")).then_some(Kind::Iperf3)
}

/// Recognises a kind by the names of its columns.
fn of_columns(header: &str) -> Option<Kind> {
    let names: Vec<_> = header
        .split(',')
        .map(|name| Cow::from(name.trim().trim_matches('"')))
        .collect();
    let has = |name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
    let all = |wanted: &[&str]| wanted.iter().all(|name| has(name));
    [
        (Kind::FiveGDataset, &["DL_bitrate", "Timestamp"][..]),
        (Kind::Lumos5g, &["run_num", "seq_num", "Throughput"]),
        (Kind::Nuwins, &["time", "throughput_mbps"]),
        (
            Kind::Errant,
            &["technology", "quality", "download", "upload"],
        ),
        (Kind::Monroe, &["res_dl_throughput_kbps"]),
    ]
    .into_iter()
    .find_map(|(kind, columns)| all(columns).then_some(kind))
}

/// Recognises a kind by the first lines that are not comments.
fn of_lines(text: &str) -> Option<Kind> {
    let is_log = |words: &[&str]| {
        let event = words.get(1).is_some_and(|w| ["#", "+", "-"].contains(w));
        event && words.len() >= 3 && words[0].parse::<f64>().is_ok()
    };
    // The last line of `text` can be cut off.
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let words: Vec<_> = lines.next()?.split_whitespace().collect();
    if is_log(&words) {
        return Some(Kind::Pantheon);
    }
    let is_time = matches!(words[..], [only] if only.parse::<u32>().is_ok());
    is_time.then_some(Kind::Mahimahi)
}

/// The kind was not given, and none is certain.
pub fn unknown() -> Refused {
    let kinds: Vec<_> = Kind::all().map(|kind| kind.to_string()).collect();
    Refused::whole(format!(
        "nothing in it tells what it is; say --from KIND, one of {}",
        kinds.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_taken_only_where_nothing_else_begins_so() {
        let found = |head: &str| detect(head.as_bytes());
        assert_eq!(detect(b"\x0a\x0d\x0d\x0a\x1c\0"), Some(Kind::Pcap));
        assert_eq!(detect(b"\x4d\x3c\xb2\xa1"), Some(Kind::Pcap));
        assert_eq!(found("12\n13\n"), Some(Kind::Mahimahi));
        assert_eq!(found("# base\n0 + 1504\n"), Some(Kind::Pantheon));
        assert_eq!(
            found("{\"start\": {\"connecting_to\": {}}"),
            Some(Kind::Iperf3)
        );
        assert_eq!(found("{\"res_status\": \"success\"}"), Some(Kind::Monroe));
        assert_eq!(found("\u{feff}time,throughput_mbps\n"), Some(Kind::Nuwins));
        for other in [
            "",
            "\n",
            "seconds,bits_per_second\n0,1\n",
            "time,rate\n",
            "{}",
            "[1]",
            "x",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    #[test]
    fn every_kind_has_a_line_and_a_name_that_is_read_back() {
        for kind in Kind::all() {
            assert!(!kind.about().is_empty());
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
    }
}
