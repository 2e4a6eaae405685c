//! Good files spoiled at random: nothing panics, and whatever can be read can be written and played.

use crate::support::{TEXTS, conversation, pcap, pcapng, read};
use std::io::ErrorKind;
use std::time::Duration;
use tidegate_link::{RateSeries, Trace};
use tidegate_recordings::{Form, Options};
use tidegate_testing::Spoiler;

/// Spoiled files of each sample.
const TIMES: u64 = 300;

/// Files of every kind.
fn samples() -> Vec<(String, Vec<u8>)> {
    let frames = conversation();
    let texts = TEXTS
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.to_vec()));
    let captures = [
        ("µs.pcap", pcap(&frames, false, false, 200)),
        ("ns.pcap", pcap(&frames, true, true, 200)),
        ("pcapng", pcapng(&frames, 9, 1_000_000_000)),
    ];
    let captures = captures.map(|(name, bytes)| (name.to_owned(), bytes));
    texts.chain(captures).collect()
}

/// A file that can be read can be written, and a link plays it.
fn is_played(bytes: &[u8], options: &Options) {
    let Ok(import) = read(bytes, options) else {
        return;
    };
    // Skip recordings that are too long or too fast for a test's memory.
    let large = import.recorded.nanobits() > 1_000_000_000_u128 * 8_000_000_000
        || import.recorded.length_ns() > 10_000_000_000_000;
    if large {
        return;
    }
    for form in [Form::Series, Form::Mahimahi] {
        let mut written = Vec::new();
        let bin = Duration::from_millis(100);
        if let Err(error) = import.recorded.write(form, bin, &mut written) {
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            continue;
        }
        let text = String::from_utf8(written).unwrap();
        let played = match form {
            Form::Series => RateSeries::parse(&text).map(drop),
            Form::Mahimahi => Trace::parse(&text).map(drop),
        };
        assert_eq!(played, Ok(()), "{form}");
    }
}

#[test]
fn a_spoiled_file_is_read_or_refused() {
    for (number, (name, good)) in (0..).zip(samples()) {
        for time in 0..TIMES {
            let seed = number * TIMES + time;
            let mut bytes = good.clone();
            let mut spoiler = Spoiler::new(seed);
            spoiler.spoil(&mut bytes);
            let options = Options {
                session: (!spoiler.once_in(3)).then(|| "1".to_owned()),
                ..Options::default()
            };
            let read = std::panic::catch_unwind(|| is_played(&bytes, &options));
            assert!(read.is_ok(), "{name} with seed {seed}");
        }
    }
}

#[test]
fn a_file_that_ends_anywhere_is_read_or_refused() {
    for (name, good) in samples() {
        for end in 0..good.len().min(1500) {
            let read = std::panic::catch_unwind(|| is_played(&good[..end], &Options::default()));
            assert!(read.is_ok(), "{name} up to byte {end}");
        }
    }
}

#[test]
fn every_sample_is_played() {
    for (name, good) in samples() {
        let down = Options {
            direction: name
                .contains("bidir")
                .then_some(tidegate_recordings::Direction::Down),
            session: match name.as_str() {
                "lumos5g.csv" => Some("driving/CW/1".into()),
                "monroe.csv" => Some("1".into()),
                _ => None,
            },
            ..Options::default()
        };
        assert!(read(&good, &down).is_ok(), "{name}");
        is_played(&good, &down);
    }
}
