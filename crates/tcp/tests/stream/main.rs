//! The byte buffers against the simplest buffer that does the same.

use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use tidegate_tcp::stream::{ReceiveStream, SendStream};

/// The byte of the stream at `offset`.
fn byte(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

fn bytes(offset: u64, len: usize) -> Vec<u8> {
    (offset..).take(len).map(byte).collect()
}

#[test]
fn data_begin_at_offset_one() {
    let mut outgoing = SendStream::default();
    outgoing.write(b"abcdef");
    assert_eq!((outgoing.start(), outgoing.end()), (1, 7));
    assert_eq!(outgoing.slices(1, 6).concat(), b"abcdef");
    assert_eq!(outgoing.slices(4, 2).concat(), b"de");
    let mut incoming = ReceiveStream::default();
    incoming.insert(1, b"abc");
    let mut out = [0; 5];
    assert_eq!(incoming.read(&mut out), 3);
    assert_eq!(&out[..3], b"abc");
}

#[test]
fn syn_and_fin_are_acknowledged_too() {
    let mut outgoing = SendStream::default();
    outgoing.acknowledge(0);
    outgoing.write(b"ab");
    outgoing.acknowledge(1);
    assert_eq!(outgoing.start(), 1);
    outgoing.acknowledge(4);
    assert_eq!((outgoing.start(), outgoing.end()), (3, 3));
}

#[test]
#[should_panic(expected = "not yet acknowledged")]
fn what_is_acknowledged_is_gone() {
    let mut outgoing = SendStream::default();
    outgoing.write(b"ab");
    outgoing.acknowledge(2);
    outgoing.slices(1, 1);
}

#[test]
fn a_gap_holds_back_what_follows() {
    let mut incoming = ReceiveStream::default();
    incoming.insert(4, b"def");
    incoming.insert(10, b"j");
    assert_eq!(incoming.readable(), 0);
    incoming.insert(1, b"abc");
    assert_eq!((incoming.readable(), incoming.next()), (6, 7));
    incoming.insert(7, b"ghi");
    let mut out = [0; 20];
    assert_eq!(incoming.read(&mut out), 10);
    assert_eq!(&out[..10], b"abcdefghij");
}

#[test]
fn what_is_readable_cannot_be_changed() {
    let mut incoming = ReceiveStream::default();
    incoming.insert(1, b"abc");
    incoming.insert(1, b"xyzd");
    let mut out = [0; 4];
    assert_eq!(incoming.read(&mut out), 4);
    assert_eq!(&out, b"abcd");
    incoming.insert(1, b"old");
    assert_eq!(incoming.readable(), 0);
}

#[derive(Clone, Debug)]
enum Sending {
    Write(usize),
    Acknowledge(u64),
    Look(u64, usize),
}

fn sending() -> impl Strategy<Value = Sending> {
    prop_oneof![
        (0..100usize).prop_map(Sending::Write),
        (0..100u64).prop_map(Sending::Acknowledge),
        (0..100u64, 0..100usize).prop_map(|(from, len)| Sending::Look(from, len)),
    ]
}

proptest! {
    #[test]
    fn sending_hold_directions_was_written(operations in vec(sending(), 0..200)) {
        let mut stream = SendStream::default();
        for operation in operations {
            match operation {
                Sending::Write(len) => stream.write(&bytes(stream.end(), len)),
                Sending::Acknowledge(further) => {
                    let offset = (stream.start() + further).min(stream.end());
                    stream.acknowledge(offset);
                    prop_assert_eq!(stream.start(), offset);
                }
                Sending::Look(from, len) => {
                    let from = (stream.start() + from).min(stream.end());
                    let len = len.min((stream.end() - from) as usize);
                    prop_assert_eq!(stream.slices(from, len).concat(), bytes(from, len));
                }
            }
        }
    }

    /// In any order, with any overlaps: what is readable is the stream up to the first byte that
    /// has not come.
    #[test]
    fn receiving_puts_bytes_in_order(arrivals in vec((0..300u64, 0..60usize, 0..40usize), 0..200)) {
        let mut stream = ReceiveStream::default();
        let mut arrived = BTreeSet::new();
        let mut read = 1;
        for (ahead, len, reading) in arrivals {
            // From somewhat before what has been read to far beyond it.
            let offset = (read + ahead).saturating_sub(50).max(1);
            stream.insert(offset, &bytes(offset, len));
            arrived.extend((offset..).take(len));
            let next = (read..).find(|at| !arrived.contains(at)).unwrap();
            prop_assert_eq!(stream.next(), next);
            prop_assert_eq!(stream.readable() as u64, next - read);
            let mut out = vec![0; reading];
            let got = stream.read(&mut out);
            prop_assert_eq!(got, reading.min((next - read) as usize));
            prop_assert_eq!(&out[..got], &bytes(read, got)[..]);
            read += got as u64;
            prop_assert_eq!(stream.start(), read);
        }
    }
}
