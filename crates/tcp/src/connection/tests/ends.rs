use super::*;

#[test]
fn the_client_closes_first() {
    let mut pair = Pair::established();
    pair.end(CLIENT).write(5000);
    pair.end(CLIENT).close();
    assert_eq!(pair.end(CLIENT).write(1), 0, "after closing");
    pair.run_for(Duration::from_millis(300));
    assert_eq!(pair.states(), [State::FinWait2, State::CloseWait]);
    assert_eq!(pair.end(SERVER).readable(), 5000);
    let now = pair.now;
    assert_eq!(pair.end(SERVER).read(now, u64::MAX), 5000);
    assert!(pair.end(SERVER).at_end());

    pair.end(SERVER).write(7);
    pair.end(SERVER).close();
    pair.run_for(Duration::from_millis(300));
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
    assert_eq!(pair.end(CLIENT).readable(), 7);
    pair.run_for(Duration::from_secs(61));
    assert_eq!(pair.states(), [State::Closed; 2]);
    assert_eq!(pair.end(CLIENT).ending(), Some(Ending::Closed));
    assert_eq!(pair.end(SERVER).ending(), Some(Ending::Closed));
}

#[test]
fn both_close_at_once() {
    let mut pair = Pair::established();
    pair.end(CLIENT).close();
    pair.end(SERVER).close();
    pair.run_for(Duration::from_millis(300));
    assert_eq!(pair.states(), [State::TimeWait; 2]);
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut pair = Pair::established();
    let before = pair.sent[CLIENT];
    assert_eq!(before, 2, "SYN and ACK");
    pair.lose = |from, n, _| from == CLIENT && n == 2;
    pair.end(CLIENT).close();
    pair.run_for(Duration::from_secs(2));
    assert_eq!(pair.states(), [State::FinWait2, State::CloseWait]);
}

#[test]
fn a_lost_last_ack_is_repeated_from_time_wait() {
    let mut pair = Pair::established();
    pair.end(CLIENT).close();
    pair.run_for(Duration::from_millis(300));
    pair.lose = |from, n, segment| from == CLIENT && n == 3 && segment.flags == Flags::ACK;
    assert_eq!(pair.sent[CLIENT], 3, "SYN, ACK and FIN");
    pair.end(SERVER).close();
    pair.run_for(Duration::from_millis(30));
    assert_eq!(pair.states(), [State::TimeWait, State::LastAck]);
    pair.run_for(Duration::from_secs(2));
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
}

#[test]
fn an_abort_resets_the_peer() {
    let mut pair = Pair::established();
    pair.end(CLIENT).write(100_000);
    pair.run_for(Duration::from_millis(5));
    pair.end(CLIENT).abort();
    assert_eq!(pair.end(CLIENT).write(1), 0);
    pair.run_for(Duration::from_millis(100));
    assert_eq!(pair.states(), [State::Closed; 2]);
    assert_eq!(pair.end(CLIENT).ending(), Some(Ending::Aborted));
    assert_eq!(pair.end(SERVER).ending(), Some(Ending::Reset));
}

#[test]
fn a_dead_peer_is_given_up() {
    let mut pair = Pair::established();
    pair.lose = |_, _, _| true;
    pair.end(CLIENT).write(1000);
    // Fifteen doublings from 200 ms to at most 120 s: Linux's 924.6 s with a probe more or less.
    pair.run_for(Duration::from_secs(800));
    assert_eq!(pair.end(CLIENT).ending(), None);
    pair.run_for(Duration::from_secs(300));
    assert_eq!(pair.end(CLIENT).ending(), Some(Ending::TimedOut));
}

#[test]
fn data_flow_both_ways_across_the_wrap() {
    let mut pair = Pair::established();
    pair.end(CLIENT).write(300_000);
    pair.end(SERVER).write(200_000);
    let (mut up, mut down) = (0, 0);
    for _ in 0..100 {
        pair.run_for(Duration::from_millis(10));
        let now = pair.now;
        up += pair.end(SERVER).read(now, u64::MAX);
        down += pair.end(CLIENT).read(now, u64::MAX);
        pair.pump();
    }
    assert_eq!((up, down), (300_000, 200_000));
    assert_eq!(pair.end(CLIENT).info().retransmits, 0);
}
