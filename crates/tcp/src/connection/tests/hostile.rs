//! RFC 5961, PAWS, and segments from elsewhere.

use super::*;

#[test]
fn a_reset_counts_only_at_the_next_byte() {
    let mut pair = Pair::established();
    let mut reset = pair.forged(CLIENT, Flags::RST);
    reset.seq = Seq(reset.seq.0.wrapping_add(1));
    let answers = pair.inject(SERVER, &reset);
    assert_eq!(answers.len(), 1, "challenged (RFC 5961 section 3.2)");
    assert_eq!(answers[0].flags, Flags::ACK);
    assert_eq!(pair.states()[SERVER], State::Established);

    reset.seq = Seq(reset.seq.0.wrapping_add(1 << 30));
    assert_eq!(pair.inject(SERVER, &reset), [], "out of the window");

    let reset = pair.forged(CLIENT, Flags::RST);
    assert_eq!(pair.inject(SERVER, &reset), []);
    assert_eq!(pair.end(SERVER).ending(), Some(Ending::Reset));
}

#[test]
fn a_syn_in_the_middle_is_challenged() {
    let mut pair = Pair::established();
    let syn = pair.forged(CLIENT, Flags::SYN);
    let answers = pair.inject(SERVER, &syn);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].flags, Flags::ACK);
    assert_eq!(pair.states()[SERVER], State::Established);
}

#[test]
fn an_old_duplicate_is_refused_by_its_timestamp() {
    let mut pair = Pair::established();
    let mut data = pair.forged(CLIENT, Flags::ACK);
    data.len = 100;
    data.timestamps = shifted(&data, -200);
    let answers = pair.inject(SERVER, &data);
    assert_eq!(answers.len(), 1, "RFC 7323 section 5.3 R1: acknowledged");
    assert_eq!(pair.end(SERVER).readable(), 0);

    data.timestamps = shifted(&data, 200);
    pair.inject(SERVER, &data);
    assert_eq!(pair.end(SERVER).readable(), 100);
}

#[test]
fn an_ack_of_what_was_never_sent_is_answered_and_ignored() {
    let mut pair = Pair::established();
    let mut ack = pair.forged(CLIENT, Flags::ACK);
    ack.ack = Seq(ack.ack.0.wrapping_add(5000));
    ack.len = 10;
    let answers = pair.inject(SERVER, &ack);
    assert_eq!(answers.len(), 1);
    assert_eq!(pair.end(SERVER).readable(), 0);
}

#[test]
fn a_segment_without_ack_is_dropped() {
    let mut pair = Pair::established();
    let mut data = pair.forged(CLIENT, Flags::PSH);
    data.len = 10;
    assert_eq!(pair.inject(SERVER, &data), []);
    assert_eq!(pair.end(SERVER).readable(), 0);
}

#[test]
fn data_beyond_the_window_are_refused_with_an_ack() {
    let mut pair = Pair::established();
    let mut data = pair.forged(CLIENT, Flags::ACK);
    data.seq = Seq(data.seq.0.wrapping_add(1 << 29));
    data.len = 10;
    let answers = pair.inject(SERVER, &data);
    assert_eq!(answers.len(), 1);
    assert_eq!(pair.end(SERVER).readable(), 0);
}
