use super::super::tests::{MSS, Script};
use crate::{FlowControl, ReceiveBuffer};

const BUFFER: u64 = 20_000;

/// A receiver that tells its rate, with a full buffer and nothing to acknowledge.
fn full() -> Script {
    let mut script = Script::new(ReceiveBuffer::Fixed(BUFFER));
    script.receiver.flow_control = FlowControl::Adaptive;
    script.receiver.tell_read_rate(script.now);
    for n in 0..BUFFER / u64::from(MSS) {
        script.data(1 + n * u64::from(MSS), MSS);
        script.wait(1);
        script.advertise();
    }
    assert_eq!(script.receiver.info().window, 0);
    script
}

#[test]
fn what_finds_no_room_is_dropped_and_acknowledged() {
    let mut script = full();
    script.data(BUFFER + 1, MSS);
    let (ack, window, _) = script.ack().expect("an ACK");
    assert_eq!((ack, window), (BUFFER + 1, 0));
    assert_eq!(script.receiver.info().dropped, 1);
    // Beyond the window, but not beyond the buffer.
    script.read(u64::from(MSS));
    script.data(BUFFER + 1, MSS);
    assert_eq!(script.receiver.next(), BUFFER + 1 + u64::from(MSS));
}

#[test]
fn the_first_opening_leaves_at_once_and_the_next_ones_in_time() {
    let mut script = full();
    script.wait(10);
    script.read(1000);
    assert_eq!(script.ack().expect("an open window").1, 1000);
    // The reader is faster than the peer was told, and the window more than double.
    script.wait(10);
    script.read(5000);
    assert!(script.ack().is_none());
    script.wait(1);
    assert!(script.ack().is_none());
    // A 64th of 100 ms.
    script.wait(1);
    let (_, window, _) = script.ack().expect("proactive feedback");
    assert_eq!(window, 6000);
    // Once is enough.
    script.wait(100);
    assert!(script.ack().is_none());
}

#[test]
fn an_ack_that_data_bring_takes_its_place() {
    let mut script = full();
    script.wait(10);
    script.read(1000);
    script.advertise();
    script.wait(10);
    script.read(5000);
    script.data(BUFFER + 1, MSS);
    script.data(BUFFER + 1 + u64::from(MSS), MSS);
    assert!(script.ack().is_some());
    assert_eq!(script.receiver.feedback.expect("it tells").timeout(), None);
}

#[test]
fn the_rate_falls_with_what_arrives_unread() {
    let mut script = full();
    let told = |script: &mut Script| {
        let now = script.now;
        script
            .receiver
            .advertise(now, true)
            .read_rate
            .map(|report| report.kbps)
    };
    for _ in 0..20 {
        script.wait(100);
        script.read(1000);
        script.data(script.receiver.next(), 1000);
    }
    let reading = told(&mut script).expect("a rate");
    assert!((79..=80).contains(&reading), "{reading} kbit/s");
    for n in 0..4 {
        script.wait(100);
        // Dropped or not.
        script.data(BUFFER + 1 + 50_000 * n, MSS);
    }
    assert_eq!(told(&mut script), Some(reading >> 4));
}

#[test]
fn nothing_is_told_before_anything_has_come() {
    let mut script = Script::new(ReceiveBuffer::Fixed(BUFFER));
    script.receiver.tell_read_rate(script.now);
    assert_eq!(script.receiver.report_bytes(), 0);
    let now = script.now;
    assert_eq!(script.receiver.advertise(now, true).read_rate, None);
}
