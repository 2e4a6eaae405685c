use super::*;
use crate::SynOptions;

#[test]
fn three_segments_establish_and_options_are_agreed() {
    let mut pair = Pair::new(config(100), config(u32::MAX));
    let now = pair.now;
    let syn = pair.end(CLIENT).transmit(now).unwrap();
    assert_eq!((syn.seq, syn.flags, syn.len), (Seq(100), Flags::SYN, 0));
    assert_eq!(syn.syn.mss, Some(1460));
    assert!(syn.syn.sack_permitted);
    assert_eq!(syn.timestamps.unwrap().ecr, 0);
    assert!(
        pair.end(CLIENT).transmit(now).is_none(),
        "one SYN at a time"
    );

    let mut server = Connection::accept(config(u32::MAX), now, &syn).unwrap();
    let answer = server.transmit(now).unwrap();
    assert_eq!(answer.flags, Flags::SYN.with(Flags::ACK));
    assert_eq!((answer.seq, answer.ack), (Seq(u32::MAX), Seq(101)));
    assert_eq!(answer.timestamps.unwrap().ecr, syn.timestamps.unwrap().val);

    let replies = pair.inject(CLIENT, &answer);
    let [ack] = replies[..] else {
        panic!("one ACK, not {replies:?}");
    };
    assert_eq!(
        (ack.seq, ack.ack, ack.flags),
        (Seq(101), Seq(0), Flags::ACK)
    );
    server.receive(now, &ack);
    assert_eq!(server.state(), State::Established);
    assert_eq!(server.transmit(now), None);
}

#[test]
fn an_answer_holds_only_what_was_offered() {
    let plain = Config {
        timestamps: false,
        sack: false,
        window_scaling: false,
        ..config(1)
    };
    let mut pair = Pair::new(plain, config(2));
    let now = pair.now;
    let syn = pair.end(CLIENT).transmit(now).unwrap();
    let mut server = Connection::accept(config(2), now, &syn).unwrap();
    let answer = server.transmit(now).unwrap();
    assert_eq!(answer.timestamps, None);
    assert_eq!(
        answer.syn,
        SynOptions {
            mss: Some(1460),
            ..SynOptions::default()
        }
    );
    assert_eq!(server.window_scale(), 0);
}

#[test]
fn a_lost_syn_is_sent_again_after_one_second_and_then_another() {
    let mut pair = Pair::new(config(1), config(2));
    pair.lose = |from, n, _| from == CLIENT && n < 2;
    pair.run_for(Duration::from_millis(2019));
    assert!(pair.ends[SERVER].is_none() || pair.states()[CLIENT] == State::SynSent);
    pair.run_for(Duration::from_millis(2));
    assert_eq!(pair.states()[CLIENT], State::Established);
    assert_eq!(pair.end(CLIENT).info().cwnd, 1, "two were lost");
}

/// A SYN that is sent again on a path of seconds was not lost: the answer's timestamp is the first one's.
#[test]
fn a_slow_answer_is_no_loss() {
    for (timestamps, cwnd, rtt_ms) in [(true, 10, Some(3500)), (false, 1, None)] {
        let config = |isn| Config {
            timestamps,
            ..config(isn)
        };
        let mut pair = Pair::new(config(1), config(2));
        let start = pair.now;
        let syn = pair.end(CLIENT).transmit(start).unwrap();
        let mut server = Connection::accept(config(2), start, &syn).unwrap();
        let answer = server.transmit(start).unwrap();
        pair.lose = |_, _, _| true;
        pair.run_for(Duration::from_millis(3500));
        assert_eq!(
            pair.sent[CLIENT], 3,
            "sent again after one, two and three seconds"
        );
        let acks = pair.inject(CLIENT, &answer);
        let now = pair.now;
        while let Some(at) = server.timeout().filter(|at| *at <= now) {
            server.expire(at);
            server.transmit(at);
        }
        server.receive(now, &acks[0]);
        for info in [pair.end(CLIENT).info(), server.info()] {
            assert_eq!(info.cwnd, cwnd);
            assert_eq!(info.srtt, rtt_ms.map(Duration::from_millis));
        }
    }
}

#[test]
fn a_lost_last_ack_of_the_handshake_is_made_good_by_data() {
    let mut pair = Pair::new(config(1), config(2));
    pair.lose = |from, n, _| from == CLIENT && n == 1;
    pair.run_for(Duration::from_millis(50));
    assert_eq!(pair.states(), [State::Established, State::SynReceived]);
    assert_eq!(pair.end(CLIENT).write(10), 10);
    pair.run_for(Duration::from_millis(50));
    assert_eq!(pair.states(), [State::Established; 2]);
    assert_eq!(pair.end(SERVER).readable(), 10);
}

#[test]
fn a_lost_last_ack_of_the_handshake_is_made_good_by_another() {
    let mut pair = Pair::new(config(1), config(2));
    pair.lose = |from, n, _| from == CLIENT && n == 1;
    pair.run_for(Duration::from_millis(1030));
    assert_eq!(pair.states(), [State::Established; 2]);
    assert_eq!(pair.sent, [3, 2], "SYN and two ACKs; two SYN-ACKs");
}

#[test]
fn nobody_answers() {
    let mut pair = Pair::new(config(1), config(2));
    pair.lose = |_, _, _| true;
    // Four times 1 s, then 1 + 2 + … + 64 s, after eleven SYNs (tcp_syn_linear_timeouts = 4, tcp_syn_retries = 6).
    pair.run_for(Duration::from_millis(130_900));
    assert_eq!((pair.sent[CLIENT], pair.end(CLIENT).ending()), (11, None));
    pair.run_for(Duration::from_millis(200));
    assert_eq!(pair.end(CLIENT).ending(), Some(Ending::TimedOut));
}

#[test]
fn simultaneous_open() {
    let now = Instant::from_millis(5);
    let mut ends = [1, 2].map(|n| Connection::connect(config(n), now));
    let syns = ends.each_mut().map(|end| end.transmit(now).unwrap());
    ends[0].receive(now, &syns[1]);
    ends[1].receive(now, &syns[0]);
    let answers = ends.each_mut().map(|end| end.transmit(now).unwrap());
    assert!(
        answers
            .iter()
            .all(|a| a.flags == Flags::SYN.with(Flags::ACK))
    );
    ends[0].receive(now, &answers[1]);
    ends[1].receive(now, &answers[0]);
    assert_eq!(ends.map(|end| end.state()), [State::Established; 2]);
}

#[test]
fn a_reset_refuses_and_a_blind_one_does_not() {
    let mut pair = Pair::new(config(1), config(2));
    let now = pair.now;
    pair.end(CLIENT).transmit(now).unwrap();
    let mut reset = Segment {
        ack: Seq(9999),
        flags: Flags::RST.with(Flags::ACK),
        ..Segment::default()
    };
    assert_eq!(pair.inject(CLIENT, &reset), []);
    assert_eq!(pair.end(CLIENT).state(), State::SynSent);
    reset.ack = Seq(2);
    assert_eq!(pair.inject(CLIENT, &reset), []);
    assert_eq!(pair.end(CLIENT).ending(), Some(Ending::Reset));
}

#[test]
fn an_ack_of_something_else_is_reset() {
    let mut pair = Pair::new(config(1), config(2));
    let now = pair.now;
    pair.end(CLIENT).transmit(now).unwrap();
    let stale = Segment {
        ack: Seq(77),
        flags: Flags::ACK,
        ..Segment::default()
    };
    let answers = pair.inject(CLIENT, &stale);
    assert_eq!(answers.len(), 1);
    assert!(answers[0].flags.has(Flags::RST));
    assert_eq!(answers[0].seq, Seq(77));
    assert_eq!(pair.end(CLIENT).state(), State::SynSent);
}

/// Behind a queue of seconds every SYN that is sent again causes another SYN-ACK.
#[test]
fn syns_sent_again_do_not_bring_giving_up_nearer() {
    let mut pair = Pair::new(config(1), config(2));
    let now = pair.now;
    let syn = pair.end(CLIENT).transmit(now).unwrap();
    pair.deliver(SERVER, &syn);
    pair.ends[CLIENT] = None;
    for _ in 0..6 {
        let [answer] = pair.inject(SERVER, &syn)[..] else {
            panic!("one SYN-ACK");
        };
        assert_eq!(answer.flags, Flags::SYN.with(Flags::ACK));
    }
    // 1 + 2 + … + 32 s after six SYN-ACKs (tcp_synack_retries = 5).
    pair.run_for(Duration::from_millis(62_900));
    assert_eq!(pair.end(SERVER).ending(), None);
    pair.run_for(Duration::from_millis(200));
    assert_eq!(pair.end(SERVER).ending(), Some(Ending::TimedOut));
}
