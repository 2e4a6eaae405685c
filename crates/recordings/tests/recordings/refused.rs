//! Errors say where a file is wrong, what was found and expected, and what to do.

use crate::support::{conversation, pcap, read, text};
use std::time::Duration;
use tidegate_recordings::{Kind, Options, Place};

fn refused(file: impl AsRef<[u8]>) -> String {
    read(file.as_ref(), &Options::default())
        .unwrap_err()
        .to_string()
}

/// The error contains all of these words.
fn says(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "no \"{word}\" in: {error}");
    }
}

#[test]
fn what_is_of_no_kind() {
    says(&refused(""), &["the file is empty"]);
    says(
        &refused("hello\n"),
        &["say --from KIND", "lumos5g", "iperf3"],
    );
    let options = Options {
        kind: Some(Kind::Nuwins),
        ..Options::default()
    };
    let error = read(b"time,rate\n1,2\n", &options).unwrap_err();
    assert_eq!(error.place, Place::Line(1));
    says(
        &error.to_string(),
        &["no column throughput_mbps", "found \"time,rate\""],
    );
}

#[test]
fn a_cell_that_is_no_number() {
    let head = "time,throughput_mbps\n";
    says(
        &refused(format!("{head}1,2\n2,fast\n")),
        &[":3: ", "found \"fast\""],
    );
    says(
        &refused(format!("{head}1,2\n2,-4\n")),
        &[":3: ", "at least 0", "\"-4\""],
    );
    says(
        &refused(format!("{head}1,2\nnoon,4\n")),
        &[":3: ", "expected a time", "\"noon\""],
    );
    says(
        &refused(format!("{head}1,2\n2\n")),
        &[":3: ", "expected 2 columns", "found 1"],
    );
    says(
        &refused(format!("{head}1,-\n2,nan\n")),
        &["no sample has a rate"],
    );
    says(&refused(head), &["sessions, expected one"]);
    let long = "x".repeat(500);
    let error = refused(format!("{head}1,{long}\n"));
    assert!(error.len() < 200, "{error}");
    let bytes = [head.as_bytes(), b"1,2\n2,\xff\n"].concat();
    says(&refused(bytes), &[":3: ", "UTF-8"]);
}

#[test]
fn a_unit_that_cannot_be() {
    let head = "Timestamp,DL_bitrate,UL_bitrate\n";
    let error = refused(format!("{head}2020.02.01_10.00.00,200000000,1\n"));
    says(
        &error,
        &[
            ":2: DL_bitrate: ",
            "200000000 kbit/s",
            "100 Gbit/s",
            "unit another",
        ],
    );
}

#[test]
fn times_that_go_back_and_gaps_that_are_too_long() {
    let rows = |times: &[f64]| {
        let rows = times.iter().map(|t| format!("{t},5\n"));
        format!("time,throughput_mbps\n{}", rows.collect::<String>())
    };
    says(
        &refused(rows(&[1.0, 2.0, 1.5])),
        &[":4: ", "goes back by 0.5 s", "sort the file"],
    );
    says(
        &refused(rows(&[1.0, 2.0, 60.0])),
        &["2 sessions", "--session"],
    );
    let cut = "run_num,seq_num,Throughput\n1,1,5\n1,2,5\n1,30,5\n";
    says(
        &refused(cut),
        &[
            ":3: ",
            "nothing was measured for 27 s",
            "expected 10 s at most",
            "--longest-gap",
        ],
    );
    let patient = Options {
        longest_gap: Duration::from_secs(60),
        ..Options::default()
    };
    let import = read(cut.as_bytes(), &patient).unwrap();
    assert_eq!(import.recorded.length_ns(), 30_000_000_000);
    says(&import.notes.join(""), &["measured: 1, of 27 s"]);
}

#[test]
fn json_that_is_cut_off_or_has_failed() {
    let whole = text("iperf3.json");
    let error = refused(&whole[..whole.len() / 2]);
    says(&error, &["the JSON ends here unfinished"]);
    assert!(error.starts_with(':'), "{error}");
    let failed = r#"{"start": {"connecting_to": {}}, "intervals": [], "error": "unable to connect to server: Connection refused"}"#;
    says(
        &refused(failed),
        &["iperf3 has failed: \"unable to connect to server: Connection refused\""],
    );
    let twice = [whole, whole].concat();
    says(
        &refused(twice),
        &["2 results of iperf3", "--session 1 to 2"],
    );
    let text = String::from_utf8(whole.to_vec()).unwrap();
    let error = refused(text.replace("24000000.0", "24e15"));
    says(&error, &["interval 3, 1.0001 to 2.0003 s", "100 Gbit/s"]);
}

#[test]
fn lines_of_logs_and_traces() {
    says(
        &refused("1\n2\nx\n"),
        &[":3: ", "whole number of milliseconds", "\"x\""],
    );
    says(
        &refused("1\n5\n2\n"),
        &[":3: ", "before the line before", "sort -n"],
    );
    says(&refused("0\n0\n"), &["all of it is at one moment"]);
    says(
        &refused("1 + 1504\n2 ? 3\n"),
        &[":2: ", "expected a time in ms, #, + or -"],
    );
    says(&refused("1 + 1504\n"), &["no line with # or -"]);
    says(
        &refused("5000 # 1504\n1 # 1504\n"),
        &[":2: ", "4.999 s before"],
    );
}

#[test]
fn a_capture_that_is_cut_off() {
    let whole = pcap(&conversation(), false, false, 262_144);
    let error = read(&whole[..whole.len() - 5], &Options::default()).unwrap_err();
    assert!(
        matches!(error.place, Place::Packet(42, byte) if byte as usize == whole.len() - 58),
        "{error}"
    );
    says(&error.to_string(), &["the file ends within it", "editcap"]);
    says(&refused(&whole[..10]), &["the file ends within its header"]);
    says(&refused(&whole[..24]), &["no IP packet among 0 records"]);
    let mut wifi = whole.clone();
    wifi[20] = 105;
    says(&refused(wifi), &["link type 105, expected Ethernet"]);
    let mut clock = conversation();
    clock[10].0 += 5_000_000;
    let error = refused(pcap(&clock, false, false, 100));
    says(
        &error,
        &["packet 13 at byte", "before that of an earlier one"],
    );
}

#[test]
fn an_option_of_another_kind() {
    let filter = Options {
        filter: Some("src=:1".parse().unwrap()),
        ..Options::default()
    };
    let error = read(text("nuwins.csv"), &filter).unwrap_err();
    says(&error.to_string(), &["--filter", "of kind nuwins"]);
    let session = Options {
        session: Some("1".into()),
        ..Options::default()
    };
    let error = read(text("mahimahi.down"), &session).unwrap_err();
    says(&error.to_string(), &["no sessions"]);
}
