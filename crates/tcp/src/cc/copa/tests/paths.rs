//! Copa over a bottleneck.

use super::*;

/// A flow over `link`, 20 s old.
fn settled(link: Link) -> Bottleneck<Copa> {
    let mut b = Bottleneck::new(Copa::default(), link);
    b.run(Duration::from_secs(20), |_| {});
    b
}

/// Segments that wait in the queue over the next 20 s, one value an ACK.
fn queues(b: &mut Bottleneck<Copa>) -> Vec<u64> {
    let mut queues = Vec::new();
    b.run(Duration::from_secs(20), |b| queues.push(b.queue()));
    queues
}

/// §3: between 0 and 2.5/δ packets, and so a mean of half of that.
#[test]
fn alone_up_to_two_and_a_half_over_delta_packets_wait() {
    for (rate, rtt) in [(1000, 50), (2000, 100), (5000, 40)] {
        let mut b = settled(Link::new(rate, rtt, 10_000));
        let before = b.delivered;
        let queues = queues(&mut b);
        assert_eq!(b.control.competition.mode, Mode::Default);
        let most = *queues.iter().max().unwrap();
        assert!((3..=8).contains(&most), "{most} at {rate}/s, {rtt} ms");
        let mean = queues.iter().sum::<u64>() as f64 / queues.len() as f64;
        assert!((1.5..=3.5).contains(&mean), "{mean} at {rate}/s, {rtt} ms");
        let carried = (b.delivered - before) as f64 / (20 * rate) as f64;
        assert!(carried > 0.97, "{carried} at {rate}/s, {rtt} ms");
    }
}

/// §3: the queue empties every five round trips.
#[test]
fn alone_the_queue_empties_every_five_round_trips() {
    let mut b = settled(Link::new(2000, 100, 10_000));
    let mut emptied = Vec::new();
    let mut was_empty = false;
    b.run(Duration::from_secs(20), |b| {
        let empty = b.queue() == 0;
        if empty && !was_empty && emptied.last().is_none_or(|&at| b.now - at > ms(150)) {
            emptied.push(b.now);
        }
        was_empty = empty;
    });
    let between = (*emptied.last().unwrap() - emptied[0]) / (emptied.len() as u32 - 1);
    assert!((ms(350)..=ms(650)).contains(&between), "{between:?}");
}

#[test]
fn slow_start_fills_the_pipe_in_as_many_rounds_as_it_doubles() {
    let mut b = Bottleneck::new(Copa::default(), Link::new(2000, 100, 10_000));
    let began = b.now;
    assert!(b.run_until(Duration::from_secs(10), |b| !b.control.slow_start));
    // From 10 to 200 in four and a half rounds, and one until it is seen.
    let rounds = (b.now - began).as_secs_f64() / 0.1;
    assert!((4.5..=7.0).contains(&rounds), "{rounds}");
    assert!((200..=450).contains(&b.window.cwnd), "{}", b.window.cwnd);
}

/// §5.4 has no collapse: what is lost at random says nothing of a queue.
#[test]
fn random_loss_costs_what_is_lost() {
    let mut link = Link::new(1000, 50, 10_000);
    link.loss_every = 50;
    let mut b = settled(link);
    let before = b.delivered;
    b.run(Duration::from_secs(20), |_| {});
    let carried = (b.delivered - before) as f64 / 20_000.0;
    assert!(carried > 0.9, "{carried}");
}

#[test]
fn a_rate_ten_times_as_high_is_found_in_few_rounds() {
    let mut b = settled(Link::new(1000, 50, 10_000));
    b.link.rate = 10_000;
    // v/δ a round with v doubling from the fourth on: 450 packets more in about twelve rounds.
    let found = b.run_until(Duration::from_secs(2), |b| {
        u64::from(b.window.cwnd) >= b.link.bdp()
    });
    assert!(found, "{}", b.window.cwnd);
}

#[test]
fn pacing_follows_the_window() {
    let b = settled(Link::new(1000, 50, 10_000));
    let expected = 2 * b.control.cwnd * u64::from(MSS) * 1_000_000 / b.control.delays.standing;
    assert_eq!(b.window.pacing_rate, Some(expected >> Q16));
}
