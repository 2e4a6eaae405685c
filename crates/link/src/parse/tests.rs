use super::*;
use crate::{DelayTrace, RateSeries, Trace};

/// Reads the bytes in pieces of `size`.
fn in_pieces<R: Recording>(bytes: &[u8], size: usize) -> Result<R, ParseError> {
    let mut reader = Reader::default();
    bytes
        .chunks(size)
        .try_for_each(|piece| reader.take(piece))?;
    reader.finish()
}

#[test]
fn pieces_of_any_size_make_the_same_recording() {
    let text = "1\n2\n2\n40\n1000\n";
    for size in 1..=text.len() {
        assert_eq!(in_pieces(text.as_bytes(), size), Trace::parse(text));
        // A last line needs no end.
        assert_eq!(
            in_pieces(text.trim_end().as_bytes(), size),
            Trace::parse(text)
        );
    }
    let text = "0,1e6\n0.5,2000000\n1,0\n";
    for size in 1..=text.len() {
        assert_eq!(in_pieces(text.as_bytes(), size), RateSeries::parse(text));
    }
}

#[test]
fn a_byte_order_mark_and_windows_lines_are_no_part_of_the_text() {
    assert_eq!(Trace::parse("\u{feff}1\r\n2\r\n"), Trace::parse("1\n2\n"));
    assert_eq!(
        RateSeries::parse("\u{feff}seconds,bits_per_second\r\n0,5e6\r\n"),
        RateSeries::parse("0,5e6")
    );
    assert_eq!(
        DelayTrace::parse("\u{feff}12\r\n9.5"),
        DelayTrace::parse("12\n9.5\n")
    );
    // A byte order mark is skipped in the first line only.
    assert!(Trace::parse("1\n\u{feff}2\n").is_err());
}

#[test]
fn what_is_no_text_is_refused_where_it_begins() {
    let said = |bytes: &[u8]| in_pieces::<Trace>(bytes, 100).unwrap_err().to_string();
    assert_eq!(
        said(b"\xff\xfe1\0\n\0"),
        "line 1: expected text in UTF-8, found UTF-16"
    );
    assert_eq!(
        said(b"1\n\x80\n"),
        "line 2: expected text, found other bytes"
    );
    assert_eq!(
        said(&[0; 10_000]),
        "line 1: expected a short line, found more than 256 bytes"
    );
    let long = format!("1\n{}\n", "7".repeat(300));
    assert_eq!(
        said(long.as_bytes()),
        "line 2: expected a short line, found more than 256 bytes"
    );
}

/// A scenario can come from somebody else and name any file that its reader can read, so errors must not quote it.
#[test]
fn no_word_of_a_file_is_told() {
    let secret = "root:$y$j9T$hunter2:19000:0:99999:7:::";
    let told = [
        Trace::parse(secret).unwrap_err(),
        RateSeries::parse(secret).unwrap_err(),
        DelayTrace::parse(secret).unwrap_err(),
        RateSeries::parse(&format!("0,{secret}")).unwrap_err(),
    ];
    for error in told {
        let said = error.to_string();
        assert!(said.ends_with("found a word of 38 characters"), "{said}");
        assert!(
            !said.contains("hunter2") && !said.contains("root"),
            "{said}"
        );
    }
}
