use super::{Arrival, Receiver};
use crate::{Data, Feedback, Gap, PathGap, PathId, ReceiverConfig};
use std::time::Duration;
use tidegate_basics::time::Instant;

const PATIENCE: Duration = Duration::from_millis(200);

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn data(path: u32, path_seq: u64, stream: u64) -> Data {
    Data {
        path: PathId(path),
        path_seq,
        stream,
        patience: PATIENCE,
        fin: false,
    }
}

fn receiver(buffer: u64) -> Receiver {
    Receiver::new(ReceiverConfig {
        buffer,
        ..ReceiverConfig::default()
    })
}

/// Section 3.1.2: "up to 10 acknowledgments", "no more than 10 ms".
#[test]
fn ten_packets_or_ten_milliseconds_make_a_feedback() {
    let mut receiver = receiver(1000);
    for n in 0..9 {
        receiver.receive(at(1), &data(0, n, n));
        assert_eq!(receiver.transmit(at(1)), None);
    }
    receiver.receive(at(2), &data(0, 9, 9));
    let feedback = receiver.transmit(at(2)).unwrap();
    assert_eq!((feedback.next, feedback.reports[0].largest), (10, 9));
    assert_eq!(receiver.transmit(at(2)), None);
    receiver.receive(at(20), &data(0, 10, 10));
    assert_eq!(receiver.timeout(), Some(at(30)));
    assert_eq!(receiver.transmit(at(29)), None);
    assert_eq!(receiver.transmit(at(30)).unwrap().reports[0].largest, 10);
}

/// "PNACKs are sent as soon as packet losses are detected."
#[test]
fn a_hole_on_a_path_is_told_at_once_and_taken_back_if_it_is_filled() {
    let mut receiver = receiver(1000);
    receiver.receive(at(0), &data(3, 0, 0));
    receiver.receive(at(1), &data(3, 4, 4));
    let feedback = receiver.transmit(at(1)).unwrap();
    let lost = PathGap {
        path: PathId(3),
        gap: Gap { first: 1, count: 3 },
    };
    assert_eq!(feedback.lost, [lost]);
    assert_eq!(feedback.reports[0].lost, 3);
    assert_eq!(feedback.missing, []);
    receiver.receive(at(2), &data(3, 2, 2));
    let feedback = receiver.transmit(at(12)).unwrap();
    assert_eq!(feedback.reports[0].lost, 2);
    assert_eq!(feedback.lost, []);
}

/// "We wait up to τ seconds for holes in the stream sequence to be filled before sending a SNACK."
#[test]
fn a_hole_in_the_stream_is_asked_for_after_tau_and_again() {
    let mut receiver = receiver(1000);
    receiver.receive(at(0), &data(0, 0, 0));
    receiver.receive(at(0), &data(1, 0, 5));
    let missing = |feedback: Option<Feedback>| feedback.map(|f| f.missing).unwrap_or_default();
    assert_eq!(missing(receiver.transmit(at(10))), []);
    assert_eq!(receiver.timeout(), Some(at(200)));
    let hole = Gap { first: 1, count: 4 };
    assert_eq!(missing(receiver.transmit(at(200))), [hole]);
    assert_eq!(receiver.transmit(at(399)), None);
    receiver.receive(at(399), &data(0, 1, 2));
    let rest = [Gap { first: 1, count: 1 }, Gap { first: 3, count: 2 }];
    assert_eq!(missing(receiver.transmit(at(400))), rest);
}

/// "SNACKs will be sent immediately if the receiver's buffer is more than half full."
#[test]
fn a_buffer_that_is_half_full_does_not_wait() {
    let mut receiver = receiver(10);
    receiver.receive(at(0), &data(0, 0, 1));
    for n in 1..5 {
        receiver.receive(at(0), &data(0, n, n + 1));
        assert_eq!(receiver.transmit(at(0)), None);
    }
    receiver.receive(at(0), &data(0, 5, 6));
    let feedback = receiver.transmit(at(0)).unwrap();
    assert_eq!(feedback.missing, [Gap { first: 0, count: 1 }]);
}

#[test]
fn what_lies_beyond_the_limit_is_refused() {
    let mut receiver = receiver(10);
    assert_eq!(receiver.receive(at(0), &data(0, 0, 10)), Arrival::Refused);
    assert_eq!(receiver.receive(at(0), &data(0, 1, 9)), Arrival::New);
    assert_eq!(receiver.receive(at(0), &data(0, 2, 9)), Arrival::Duplicate);
}

/// A report is repeated, so that a lost feedback does not look like a lost packet.
#[test]
fn a_report_is_given_twice() {
    let mut receiver = receiver(1000);
    receiver.receive(at(0), &data(1, 0, 0));
    assert_eq!(receiver.transmit(at(10)).unwrap().reports.len(), 1);
    receiver.receive(at(20), &data(2, 0, 1));
    assert_eq!(receiver.transmit(at(30)).unwrap().reports.len(), 2);
    receiver.receive(at(40), &data(2, 1, 2));
    assert_eq!(receiver.transmit(at(50)).unwrap().reports.len(), 1);
}

#[test]
fn the_stream_ends_with_its_last_packet() {
    let mut receiver = receiver(1000);
    let last = Data {
        fin: true,
        ..data(0, 1, 1)
    };
    receiver.receive(at(0), &last);
    assert!(!receiver.finished());
    receiver.receive(at(0), &data(0, 0, 0));
    assert_eq!(receiver.read(u64::MAX), 2);
    assert!(receiver.finished());
    assert_eq!(receiver.receive(at(0), &data(0, 2, 2)), Arrival::Refused);
}
