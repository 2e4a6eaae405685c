//! Options in places where other systems than Linux put them.

use crate::packet::with_options;
use tidegate_tcp::{Flags, ReadReport, Segment, Seq, SynOptions, Timestamps, wire};

fn parsed(flags: Flags, options: &[u8]) -> Segment {
    wire::parse(&with_options(flags, options)).unwrap().segment
}

#[test]
fn the_rest_after_the_end_of_the_list_is_nothing() {
    // After END even an illegal length is padding.
    let segment = parsed(Flags::SYN, &[3, 3, 7, 0, 2, 0, 0, 0]);
    assert_eq!(
        segment.syn,
        SynOptions {
            window_scale: Some(7),
            ..SynOptions::default()
        }
    );
}

#[test]
fn unknown_options_are_skipped() {
    // MD5 (RFC 2385), fast open, and an experiment with an identifier (RFC 6994).
    let md5 = [[19, 18].as_slice(), &[0xaa; 16]].concat();
    let others = [34, 2, 253, 6, 0xf9, 0x89, 1, 2];
    let known = [2, 4, 0x05, 0xb4, 1, 1];
    let segment = parsed(Flags::SYN, &[&md5[..], &others, &known].concat());
    assert_eq!(
        segment.syn,
        SynOptions {
            mss: Some(1460),
            ..SynOptions::default()
        }
    );
}

#[test]
fn any_order_and_any_padding() {
    // As Windows and BSD lay out their SYNs.
    let windows = parsed(Flags::SYN, &[2, 4, 5, 0xb4, 1, 3, 3, 8, 1, 1, 4, 2]);
    let bsd = parsed(Flags::SYN, &[2, 4, 5, 0xb4, 1, 3, 3, 8, 4, 2, 0, 0]);
    assert_eq!(windows.syn, bsd.syn);
    let expected = SynOptions {
        mss: Some(1460),
        window_scale: Some(8),
        sack_permitted: true,
        afc_permitted: false,
    };
    assert_eq!(bsd.syn, expected);
}

#[test]
fn timestamps_need_no_padding() {
    let segment = parsed(Flags::ACK, &[8, 10, 0, 0, 0, 1, 0xff, 0, 0, 2, 0, 0]);
    assert_eq!(
        segment.timestamps,
        Some(Timestamps {
            val: 1,
            ecr: 0xff00_0002
        })
    );
}

#[test]
fn options_of_a_syn_mean_nothing_without_it() {
    let options = [2, 4, 5, 0xb4, 1, 3, 3, 8, 1, 1, 4, 2];
    assert_eq!(parsed(Flags::ACK, &options).syn, SynOptions::default());
}

#[test]
fn a_syn_acknowledges_no_data_selectively() {
    let options = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    assert!(parsed(Flags::SYN, &options).sack.is_empty());
    let ack = parsed(Flags::ACK, &options);
    assert_eq!(ack.sack.as_slice(), [(Seq(1), Seq(2))]);
}

#[test]
fn no_segment_size_of_zero_is_believed() {
    assert_eq!(parsed(Flags::SYN, &[2, 4, 0, 0]).syn.mss, None);
}

#[test]
fn of_repeated_options_the_last_counts() {
    let segment = parsed(Flags::SYN, &[2, 4, 1, 0, 2, 4, 2, 0]);
    assert_eq!(segment.syn.mss, Some(512));
}

#[test]
fn what_does_not_fit_beside_timestamps_is_left_out() {
    let mut segment = Segment {
        flags: Flags::ACK,
        timestamps: Some(Timestamps::default()),
        ..Segment::default()
    };
    for n in 0..4 {
        assert!(segment.sack.push(Seq(20 * n), Seq(20 * n + 10)));
    }
    assert_eq!(segment.header_bytes(), 60);
    let mut packet = Vec::new();
    wire::write(&mut packet, &crate::packet::v4(), &segment, [&[], &[]]);
    let read = wire::parse(&packet).unwrap().segment;
    assert_eq!(read.sack.as_slice(), &segment.sack.as_slice()[..3]);
}

/// AFC's options, and options that look like them: kind 253, 0xafc0 (RFC 6994).
mod afc {
    use super::*;
    use tidegate_tcp::wire::Malformed;

    const RATE: [u8; 8] = [253, 8, 0xaf, 0xc0, 3, 0, 0x17, 0x70];
    const REPORT: ReadReport = ReadReport {
        kbps: 6000,
        refused: 3,
    };

    #[test]
    fn permitted_in_a_syn_and_a_rate_in_others() {
        let permitted = [253, 4, 0xaf, 0xc0];
        assert!(parsed(Flags::SYN, &permitted).syn.afc_permitted);
        assert!(!parsed(Flags::ACK, &permitted).syn.afc_permitted);
        assert_eq!(parsed(Flags::ACK, &RATE).read_rate, Some(REPORT));
        assert_eq!(parsed(Flags::SYN, &RATE).read_rate, None);
    }

    #[test]
    fn other_experiments_are_skipped() {
        let nothing = [
            [253, 2, 1, 1, 1, 1, 1, 1],
            [253, 3, 0xaf, 1, 1, 1, 1, 1],
            // The identifier of another, and of another kind.
            [253, 8, 0xaf, 0xc1, 0, 0, 0x17, 0x70],
            [254, 8, 0xaf, 0xc0, 0, 0, 0x17, 0x70],
            // Lengths that are not ours.
            [253, 7, 0xaf, 0xc0, 0, 0, 0x17, 1],
            [253, 6, 0xaf, 0xc0, 0, 0, 1, 1],
        ];
        for options in nothing {
            for flags in [Flags::ACK, Flags::SYN] {
                let segment = parsed(flags, &options);
                assert_eq!(segment.read_rate, None, "{options:?}");
                assert!(!segment.syn.afc_permitted, "{options:?}");
            }
        }
    }

    #[test]
    fn a_length_beyond_the_header_condemns_the_segment() {
        let cut = with_options(Flags::ACK, &[1, 1, 1, 1, 253, 8, 0xaf, 0xc0]);
        let illegal = Malformed::Option { kind: 253, len: 8 };
        assert_eq!(wire::parse(&cut), Err(illegal));
    }

    /// 40 bytes of options: timestamps 12, the rate 8, and the SACK option the rest.
    #[test]
    fn a_rate_takes_the_place_of_a_sack_block() {
        for (timestamps, blocks, header) in [(true, 2, 60), (false, 3, 56)] {
            let mut segment = Segment {
                flags: Flags::ACK,
                timestamps: timestamps.then(Timestamps::default),
                read_rate: Some(REPORT),
                ..Segment::default()
            };
            for n in 0..4 {
                assert!(segment.sack.push(Seq(20 * n), Seq(20 * n + 10)));
            }
            assert_eq!(segment.header_bytes(), header);
            let mut packet = Vec::new();
            wire::write(&mut packet, &crate::packet::v4(), &segment, [&[], &[]]);
            let read = wire::parse(&packet).unwrap().segment;
            assert_eq!(read.sack.as_slice(), &segment.sack.as_slice()[..blocks]);
            assert_eq!(read.read_rate, Some(REPORT));
        }
    }

    /// All options of our SYN take 24 of the 40 bytes.
    #[test]
    fn everything_fits_into_a_syn() {
        let segment = Segment {
            flags: Flags::SYN,
            timestamps: Some(Timestamps::default()),
            syn: SynOptions {
                mss: Some(1460),
                window_scale: Some(7),
                sack_permitted: true,
                afc_permitted: true,
            },
            ..Segment::default()
        };
        assert_eq!(segment.header_bytes(), 20 + 24);
        let mut packet = Vec::new();
        wire::write(&mut packet, &crate::packet::v4(), &segment, [&[], &[]]);
        assert_eq!(wire::parse(&packet).unwrap().segment, segment);
    }
}
