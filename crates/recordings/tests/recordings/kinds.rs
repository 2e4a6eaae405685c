//! Each kind, on a small file of its format.

use crate::support::{by_default, conversation, pcap, pcapng, read, tcp, text, written};
use tidegate_recordings::{Direction, Form, Import, Kind, Options, Recorded};

/// Rates in Mbit/s with their lengths in seconds.
fn steps(import: &Import) -> Vec<(f64, f64)> {
    match &import.recorded {
        Recorded::Rates(steps) => steps
            .iter()
            .map(|step| (step.length_ns as f64 / 1e9, step.bps / 1e6))
            .collect(),
        Recorded::Packets(_) => panic!("packets"),
    }
}

/// Times in ms with bytes.
fn packets(import: &Import) -> Vec<(f64, u64)> {
    match &import.recorded {
        Recorded::Packets(packets) => packets
            .iter()
            .map(|packet| (packet.at_ns as f64 / 1e6, packet.bytes))
            .collect(),
        Recorded::Rates(_) => panic!("rates"),
    }
}

fn up() -> Options {
    Options {
        direction: Some(Direction::Up),
        ..Options::default()
    }
}

fn session(name: &str) -> Options {
    Options {
        session: Some(name.into()),
        ..Options::default()
    }
}

#[test]
fn five_g_dataset() {
    let import = by_default("5gdataset.csv");
    assert_eq!(import.kind, Kind::FiveGDataset);
    // Missing values and the gap have rate 0; two samples of one time give their mean.
    let expected = [
        (1.0, 12.0),
        (1.0, 15.0),
        (1.0, 0.0),
        (1.0, 40.0),
        (1.0, 43.0),
        (1.0, 0.0),
        (3.0, 0.0),
        (1.0, 90.0),
        (1.0, 91.0),
        (1.0, 64.0),
    ];
    assert_eq!(steps(&import), expected);
    assert!(import.is.contains("no capacity"), "{}", import.is);
    let notes = import.notes.join("\n");
    assert!(
        notes.contains("since nothing was measured: 2, of 4 s in all, the longest of 3 s"),
        "{notes}"
    );
    assert!(
        notes.contains("with the time of the one before, averaged with it: 1"),
        "{notes}"
    );
    let up = read(text("5gdataset.csv"), &up()).unwrap();
    assert_eq!(steps(&up)[3..5], [(1.0, 1.0), (1.0, 1.2)]);
}

#[test]
fn lumos5g_has_a_session_for_each_run() {
    let error = read(text("lumos5g.csv"), &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("3 sessions, expected one: choose with --session"),
        "{error}"
    );
    assert!(error.contains("\"walking/CW/1\" (lines 2 to 7)"), "{error}");
    let import = read(text("lumos5g.csv"), &session("walking/CW/1")).unwrap();
    assert_eq!(import.kind, Kind::Lumos5g);
    let rates = [310.5, 622.0, 840.0, 12.0, 0.0, 700.0];
    assert_eq!(steps(&import), rates.map(|mbps| (1.0, mbps)));
    let error = read(text("lumos5g.csv"), &session("flying"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no session \"flying\"; it has"), "{error}");
}

#[test]
fn nuwins() {
    let import = by_default("nuwins.csv");
    assert_eq!(import.kind, Kind::Nuwins);
    assert_eq!(steps(&import)[..3], [(0.5, 0.0), (0.5, 12.4), (0.5, 88.1)]);
    assert_eq!(import.recorded.length_ns(), 5_000_000_000);
    let (text, written) = written(&import.recorded, Form::Series);
    assert!(
        text.starts_with("seconds,bits_per_second\n0,0\n0.5,12400000\n1,88100000\n"),
        "{text}"
    );
    assert_eq!(written.lines, 10);
}

/// A merged file with one run after another.
#[test]
fn sessions_that_lie_apart_are_numbered() {
    let one = std::str::from_utf8(text("nuwins.csv")).unwrap();
    let later = one.replace("T10:", "T11:");
    let rows = later.split_once('\n').unwrap().1;
    let merged = format!("{one}{rows}");
    let error = read(merged.as_bytes(), &Options::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("2 sessions, expected one"), "{error}");
    assert!(error.contains("\"2\" (lines 12 to 21)"), "{error}");
    let second = read(merged.as_bytes(), &session("2")).unwrap();
    assert_eq!(second.recorded, by_default("nuwins.csv").recorded);
}

#[test]
fn errant_holds_a_rate_until_the_next_one() {
    let import = by_default("errant.csv");
    assert_eq!(import.kind, Kind::Errant);
    assert_eq!(
        steps(&import),
        [(10.0, 21.0), (10.0, 9.0005), (11.0, 34.0), (10.0, 27.0)]
    );
    let notes = import.notes.join("\n");
    assert!(
        notes.contains("its rtt, 41 to 66 ms, mean 51.8, is no part"),
        "{notes}"
    );
    assert!(notes.contains("its loss, 0 to 1 %"), "{notes}");
    assert_eq!(
        steps(&read(text("errant.csv"), &up()).unwrap())[2],
        (11.0, 6.50025)
    );
}

#[test]
fn monroe_in_detail_is_the_bytes_of_all_flows() {
    let import = by_default("monroe.json");
    assert_eq!(import.kind, Kind::Monroe);
    let bytes: u64 = packets(&import).iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(bytes, 1_700_000 + 1_300_000);
    assert_eq!(import.recorded.length_ns(), 1_000_000_000);
    assert!(import.notes[0].contains("61.0 ms"), "{:?}", import.notes);
    let (text, _) = written(&import.recorded, Form::Series);
    // 40,000 and 30,000 bytes in the first tenth of a second.
    assert!(text.contains("\n0,5600000\n0.1,0\n"), "{text}");
    let up = read(text_of("monroe.json"), &up()).unwrap();
    assert_eq!(packets(&up).last(), Some(&(700.0, 370_000)));
}

fn text_of(name: &str) -> &'static [u8] {
    text(name)
}

#[test]
fn of_monroes_means_one_is_chosen() {
    let error = read(text("monroe.csv"), &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("3 speed tests") && error.contains("--session 1 to 3"),
        "{error}"
    );
    let import = read(text("monroe.csv"), &session("2")).unwrap();
    assert_eq!(steps(&import), [(8.0, 12.0)]);
    let error = read(text("monroe.csv"), &session("3"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("did the test fail?"), "{error}");
    let (series, written) = written(&import.recorded, Form::Series);
    assert_eq!(series, "seconds,bits_per_second\n0,12000000\n4,12000000\n");
    assert_eq!(written.period.as_secs(), 8);
}

#[test]
fn mahimahi_comes_through_as_it_is() {
    let import = by_default("mahimahi.down");
    assert_eq!(import.kind, Kind::Mahimahi);
    let (trace, written) = written(&import.recorded, Form::Mahimahi);
    let lines = "1\n1\n2\n5\n5\n5\n9\n14\n20\n20\n33\n40\n41\n41\n60\n";
    assert_eq!(trace, lines);
    assert_eq!(written.period.as_millis(), 60);
    assert!(
        import.notes[0].contains("empty or comments: 2"),
        "{:?}",
        import.notes
    );
}

#[test]
fn a_log_with_opportunities_is_a_capacity_and_one_without_goodput() {
    let import = by_default("mm-link.log");
    assert_eq!(import.kind, Kind::Pantheon);
    assert!(
        import.is.contains("the capacity that was emulated"),
        "{}",
        import.is
    );
    let at = [0.0, 1.0, 4.0, 6.0, 6.0, 10.0];
    assert_eq!(packets(&import), at.map(|ms| (ms, 1500)));
    let import = by_default("pantheon.log");
    assert!(import.is.contains("goodput"), "{}", import.is);
    assert_eq!(
        packets(&import),
        [(0.0, 1500), (31.125, 1400), (65.625, 1500)]
    );
}

#[test]
fn iperf3_without_what_it_omits() {
    let import = by_default("iperf3.json");
    assert_eq!(import.kind, Kind::Iperf3);
    assert!(import.is.contains("received"), "{}", import.is);
    let steps = steps(&import);
    let rates: Vec<_> = steps.iter().map(|(_, mbps)| *mbps).collect();
    assert_eq!(rates, [20.1234565, 24.0, 0.0, 18.5, 21.0]);
    assert_eq!(steps[0].0, 1.0001);
    assert!(
        import.notes[0].contains("told to omit: 1"),
        "{:?}",
        import.notes
    );
}

#[test]
fn of_both_directions_one_is_chosen() {
    let both = text("iperf3-bidir.json");
    let error = read(both, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("--direction down or up"), "{error}");
    let way = |direction| {
        let options = Options {
            direction: Some(direction),
            ..Options::default()
        };
        steps(&read(both, &options).unwrap())
    };
    assert_eq!(way(Direction::Up), [(1.0, 10.0), (1.0, 20.0)]);
    assert_eq!(way(Direction::Down), [(1.0, 5.0), (1.0, 6.0)]);
}

/// Twenty packets of 1500 bytes, 10 ms apart.
fn is_the_download(import: &Import) {
    let expected: Vec<_> = (0..20).map(|n| (f64::from(n) * 10.0, 1500)).collect();
    assert_eq!(packets(import), expected);
    let whose = "TCP from 10.0.0.1:443 to 10.0.0.2:50000, the busiest of 3 flows";
    assert!(import.notes[0].starts_with(whose), "{:?}", import.notes);
}

#[test]
fn a_capture_of_any_make_is_its_busiest_flow() {
    let frames = conversation();
    for big_endian in [false, true] {
        for nanoseconds in [false, true] {
            // Whole packets, and headers alone.
            for kept in [262_144, 60] {
                let file = pcap(&frames, big_endian, nanoseconds, kept);
                is_the_download(&read(&file, &Options::default()).unwrap());
            }
        }
    }
    // Microseconds, nanoseconds, and 2⁻³⁰ s, in which 10 ms are no whole number.
    for (resolution, units) in [(6, 1_000_000), (9, 1_000_000_000)] {
        let file = pcapng(&frames, resolution, units);
        is_the_download(&read(&file, &Options::default()).unwrap());
    }
    let file = pcapng(&frames, 0x80 | 30, 1 << 30);
    let import = read(&file, &Options::default()).unwrap();
    let [.., (last, _)] = packets(&import)[..] else {
        panic!("no packets");
    };
    assert!((last - 190.0).abs() < 1e-5, "{last}");
}

#[test]
fn a_filter_chooses_other_packets() {
    let file = pcap(&conversation(), false, false, 262_144);
    let filtered = |filter: &str| {
        let options = Options {
            filter: Some(filter.parse().unwrap()),
            ..Options::default()
        };
        read(&file, &options)
    };
    let acknowledgements = packets(&filtered("dst=10.0.0.2:443").unwrap());
    assert_eq!(acknowledgements.len(), 20);
    assert!(acknowledgements.iter().all(|(_, bytes)| *bytes == 40));
    let all = filtered("src=10.0.0.1").unwrap();
    assert_eq!(packets(&all).len(), 40);
    assert!(all.notes[0].starts_with("2 of 3 flows"), "{:?}", all.notes);
    let error = filtered("src=10.9.9.9").unwrap_err().to_string();
    assert!(
        error.contains("no packet fits --filter") && error.contains("3 flows"),
        "{error}"
    );
}

#[test]
fn packets_a_little_out_of_order_are_sorted() {
    let mut frames = conversation();
    frames.swap(4, 8);
    let import = read(&pcap(&frames, false, false, 100), &Options::default()).unwrap();
    let times: Vec<_> = packets(&import).iter().map(|(ms, _)| *ms).collect();
    assert!(times.is_sorted());
    assert!(
        import.notes[1].contains("not in order of time and are sorted"),
        "{:?}",
        import.notes
    );
}

#[test]
fn packets_that_a_machine_put_together_are_told_of() {
    let frames = [(0, tcp(1, 2, 20_000)), (9000, tcp(1, 2, 20_000))];
    let import = read(&pcap(&frames, false, false, 100), &Options::default()).unwrap();
    assert!(
        import.notes[1].contains("put segments together"),
        "{:?}",
        import.notes
    );
}
