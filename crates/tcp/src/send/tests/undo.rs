use super::*;

/// A timeout while everything is only late; the first ACK of a late segment is about to come.
fn late(setup: Setup) -> Script {
    let mut s = Script::new(setup);
    s.write(40 * MSS);
    s.at(310);
    assert_eq!(s.sent().last(), Some(&0));
    assert_eq!(s.info().recovery, Recovery::Loss);
    assert_eq!(s.info().cwnd, 1);
    s
}

fn without_sack(timestamps: bool) -> Setup {
    Setup {
        sack: false,
        timestamps,
        ..Setup::default()
    }
}

#[test]
fn frto_undoes_a_timeout_that_came_too_early() {
    let mut s = Script::with_segments(40);
    // The probe at 202 ms sends segment 10; the timeout follows 300 ms after it.
    s.at(510);
    assert_eq!(s.sent_at().last(), Some(&(502, 0)));
    assert_eq!(s.info().recovery, Recovery::Loss);
    s.at(520).ack(1, &[]);
    // New data, no retransmissions.
    assert_eq!(s.sent(), [11, 12]);
    s.at(521).ack(2, &[]);
    let info = s.info();
    assert_eq!((info.recovery, info.undos), (Recovery::Open, 1));
    assert!(info.cwnd >= 10, "{}", info.cwnd);
    assert_eq!(info.ssthresh, Window::NO_SSTHRESH);
    assert_eq!(s.sender.board.lost(), 0);
    s.at(540).ack(11, &[]);
    assert_eq!(s.info().retransmits, 1);
}

#[test]
fn an_echo_from_before_the_retransmission_undoes_the_timeout_at_once() {
    let mut s = late(without_sack(true));
    s.at(320).ack_echoing(1, &[], Some(1));
    let info = s.info();
    assert_eq!(info.undos, 1);
    assert!(info.cwnd >= 10);
    assert_eq!(s.sender.board.lost(), 0);
}

#[test]
fn an_echo_of_the_retransmission_undoes_nothing() {
    let mut s = late(without_sack(true));
    s.at(400).ack_echoing(1, &[], Some(300));
    let info = s.info();
    assert_eq!((info.undos, info.recovery), (0, Recovery::Loss));
    assert_eq!(info.ssthresh, 5);
}

#[test]
fn a_dsack_for_every_retransmission_undoes_the_recovery() {
    let mut s = Script::with_segments(11);
    s.at(100).ack(0, &[(1, 4)]);
    assert_eq!(s.sent()[10..], [0, 10]);
    assert_eq!(s.info().ssthresh, 5);
    // The original was only late: both arrive.
    s.at(150).ack(11, &[]);
    assert_eq!((s.info().cwnd, s.info().undos), (6, 0));
    s.at(200).ack(11, &[(0, 1)]);
    let info = s.info();
    assert_eq!((info.undos, info.recovery), (1, Recovery::Open));
    assert_eq!((info.cwnd, info.ssthresh), (10, Window::NO_SSTHRESH));
}

#[test]
fn an_old_echo_undoes_a_recovery_in_its_midst() {
    let mut s = Script::new(Setup {
        timestamps: true,
        ..Setup::default()
    });
    s.write(20 * MSS);
    s.at(100).ack_echoing(0, &[(1, 4)], Some(1));
    assert_eq!(s.info().recovery, Recovery::Recovery);
    // The original of 0 arrives: its echo is older than the retransmission.
    s.at(110).ack_echoing(4, &[], Some(2));
    let info = s.info();
    assert!(info.undos == 1 && info.cwnd >= 10, "{info:?}");
    assert_eq!(info.ssthresh, Window::NO_SSTHRESH);
}

#[test]
fn more_dsacks_than_retransmissions_are_not_believed() {
    let mut s = Script::with_segments(11);
    s.at(100).ack(0, &[(1, 4)]);
    s.at(150).ack(11, &[]);
    s.at(200).ack(11, &[(0, 3)]);
    assert_eq!(s.info().undos, 0);
}

#[test]
fn a_dsack_widens_the_reordering_window_by_a_quarter_round_trip() {
    let mut s = Script::with_segments(200);
    // Reordering is seen, without a loss.
    s.at(100).ack(0, &[(1, 2)]).ack(2, &[]).ack(10, &[]);
    s.at(200).ack(10, &[(11, 13)]);
    assert_eq!(s.sender.reordering_window(), 25_000);
    // The timer adds two ticks.
    s.sent();
    s.at(240);
    assert_eq!(s.sent_at()[0], (227, 10));
    // It was only late: the copy is reported, and the next ACK with news counts it.
    s.at(245).ack(13, &[]);
    s.at(330).ack(13, &[(10, 11)]);
    s.at(331).ack(14, &[]);
    assert_eq!(s.sender.reordering_window(), 50_000);
    // One step a round trip, however many DSACKs.
    s.at(332).ack(15, &[]);
    assert_eq!(s.sender.reordering_window(), 50_000);
}
