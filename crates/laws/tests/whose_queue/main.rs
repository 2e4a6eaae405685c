//! Whose queue is it? `tide` asks, by falling silent, and behaves by the answer.

mod draws;
mod fifo;
mod question;

use fifo::{Answer, Fifo, Obeys};
use tidegate_laws::sys;

const RTT_US: u32 = 40_000;
const SECOND_US: u64 = 1_000_000;
/// The queue of the other's packets, and what ours add to it.
const OTHERS_US: u64 = 100_000;
const OURS_US: u64 = 110_000;

/// 20 Mbit/s for us alone, with a larger window than was asked for: a queue of 80 ms stands.
fn alone() -> Fifo {
    let mut fifo = Fifo::new(20.0, RTT_US);
    let standing = fifo.carries(80_000) - fifo.carries(0);
    fifo.obeys = Obeys::More(standing);
    fifo.ours.cwnd = fifo.carries(300_000);
    fifo
}

/// 20 Mbit/s, and another's packets that fill the queue whatever we do.
fn beside_others() -> Fifo {
    let mut fifo = Fifo::new(20.0, RTT_US);
    fifo.ours.cwnd = fifo.carries(OURS_US);
    fifo.others.cwnd = fifo.carries(OTHERS_US);
    fifo
}

/// The same once the answer is known.
fn competing() -> Fifo {
    let mut fifo = beside_others();
    assert!(fifo.until(5 * SECOND_US, |f| f.is(sys::TG_TIDE_COMPETING)));
    fifo.pass(5 * SECOND_US);
    assert!(fifo.is(sys::TG_TIDE_COMPETING));
    fifo
}

/// The queue falls by a millisecond in each millisecond of a silence.
#[test]
fn a_queue_that_is_ours_alone_is_found_to_be_ours() {
    let mut fifo = alone();
    let competed = fifo.until(20 * SECOND_US, |f| !f.is_steered());
    assert!(!competed, "{:?}", fifo.answers);
    assert!(fifo.waited_us > 50_000, "it stands: {}", fifo.waited_us);
    assert!(fifo.answers.len() > 5, "{:?}", fifo.answers);
    assert!(fifo.answers.iter().all(|a| *a == Answer::Ours));
}

/// The wait before the next question is doubled with each answer, up to a second.
#[test]
fn what_is_ours_is_asked_more_and_more_seldom() {
    let mut fifo = alone();
    let mut waits_us = Vec::new();
    while waits_us.len() < 4 {
        let known = fifo.answers.len();
        assert!(fifo.until(10 * SECOND_US, |f| f.answers.len() > known));
        waits_us.push(fifo.path.ask_wait_us);
    }
    let first_us = 8 * fifo.path.h_us;
    let near = |us: u32, expected: u32| us.abs_diff(expected) < first_us / 20;
    assert!(near(waits_us[0], first_us), "{waits_us:?}");
    assert!(near(waits_us[1], 2 * first_us), "{waits_us:?}");
    assert_eq!(waits_us[2..], [1_000_000; 2]);
}

/// The question costs no share of the link: a silence takes no more than the queue has.
#[test]
fn to_ask_costs_nothing_while_the_queue_is_ours() {
    let mut fifo = alone();
    fifo.pass(2 * SECOND_US);
    let began = fifo.path.questions;
    let used = fifo.used_in(10 * SECOND_US);
    assert!(fifo.path.questions > began + 5);
    assert!(used > 0.99, "{used}");
}

/// Others' packets leave in the silences: the queue falls by less than we are silent. Then the window leaves room for twice
/// what comes.
#[test]
fn a_queue_that_others_fill_is_found_to_be_theirs() {
    let mut fifo = competing();
    assert!(!fifo.answers.contains(&Answer::Ours), "{:?}", fifo.answers);
    let used = fifo.used_in(5 * SECOND_US);
    let came = used * fifo.carries(u64::from(fifo.waited_us)) as f64;
    let rounds = fifo.window as f64 / came;
    assert!(rounds >= 1.9, "room for {rounds} round trips");
    // So its congestion window limits it.
    let share = fifo.share();
    assert!((used - share).abs() < 0.02, "{used} of {share}");
}

/// While it competes it asks once a minute, and in between only if as much comes as the link is known to give. Here the
/// other was there from the start, so only the first question shows that the link gives more.
#[test]
fn a_competing_path_asks_seldom() {
    let mut fifo = competing();
    let began = fifo.path.questions;
    let used = fifo.used_in(80 * SECOND_US);
    let asked = fifo.path.questions - began;
    assert!((1..=2).contains(&asked), "{asked}");
    assert!(fifo.is(sys::TG_TIDE_COMPETING));
    assert!(!fifo.answers.contains(&Answer::Ours), "{:?}", fifo.answers);
    assert!(used > 0.95 * fifo.share(), "{used} of {}", fifo.share());
}

/// The others have gone, and more comes: it asks, finds that the queue is ours, and drains it. It asks within four seconds,
/// whenever it asked before.
#[test]
fn when_the_others_have_gone_the_queue_is_drained() {
    for quarters in 0..40 {
        let mut fifo = competing();
        fifo.pass(quarters * SECOND_US / 4);
        fifo.others.cwnd = 0;
        let noticed = fifo.until(7 * SECOND_US, Fifo::is_steered);
        assert!(noticed, "{quarters}: {:?}", fifo.answers);
        fifo.pass(5 * SECOND_US);
        assert!(fifo.waited_us < 15_000, "{}", fifo.waited_us);
        assert_eq!(fifo.path.risen_us, 0, "all of it was queue");
        let used = fifo.used_in(5 * SECOND_US);
        assert!(used > 0.98, "{used}");
    }
}

/// The others have gone, and while it asks, the sender does not fill its window, as after a loss: nothing falls silent. That
/// is no sign of others, and it asks again soon.
#[test]
fn a_question_that_nothing_answers_is_asked_again() {
    let mut fifo = competing();
    fifo.others.cwnd = 0;
    fifo.obeys = Obeys::Not;
    let known = fifo.answers.len();
    assert!(fifo.until(20 * SECOND_US, |f| f.answers.len() > known));
    assert!(fifo.is(sys::TG_TIDE_COMPETING));
    fifo.obeys = Obeys::More(0);
    assert!(
        fifo.until(7 * SECOND_US, Fifo::is_steered),
        "{:?}",
        fifo.answers
    );
}

/// A packet of the path's record, a moment after the last, that has waited `queue_us`.
fn arrives(path: &mut sys::tg_tide, now_us: u64, queue_us: u32) {
    let arrival = sys::tg_arrival {
        now_us,
        queue_us,
        len: 1_448,
        fresh: 1,
        ..Default::default()
    };
    // SAFETY: the record is exclusively ours.
    unsafe { sys::tg_tide_tell_queue(path, &raw const arrival) };
}

/// BBR empties the queue for 200 ms and a round trip, every ten seconds, and comes back.
#[test]
fn a_queue_that_is_empty_for_a_second_ends_competing() {
    let mut path = competing().path;
    let now_us = path.arrived_us + 1_000;
    arrives(&mut path, now_us, 0);
    for empty_us in [200_000 + u64::from(RTT_US), 900_000] {
        arrives(&mut path, now_us + empty_us, 0);
        assert_eq!(path.state, sys::TG_TIDE_COMPETING, "after {empty_us} us");
    }
    arrives(&mut path, now_us + 1_100_000, 0);
    assert_eq!(path.state, sys::TG_TIDE_RUNNING);
    assert!(path.ask_us <= now_us + 1_100_000, "nor waits to ask again");
}

/// The delay that is left when the queue is drained is path.
#[test]
fn a_delay_that_stays_when_the_others_have_gone_is_path() {
    let mut fifo = competing();
    fifo.longer_us = 30_000;
    fifo.pass(SECOND_US);
    fifo.others.cwnd = 0;
    assert!(
        fifo.until(20 * SECOND_US, |f| f.path.risen_us > 0),
        "{:?}",
        fifo.answers
    );
    let off_us = fifo.path.risen_us.abs_diff(30_000);
    assert!(off_us < 3_000, "{}", fifo.path.risen_us);
    fifo.pass(5 * SECOND_US);
    assert!(fifo.waited_us < 40_000, "{}", fifo.waited_us);
}

/// A steered link of 20 Mbit/s, whose path then becomes longer.
fn longer(by_us: u32) -> Fifo {
    let mut fifo = Fifo::new(20.0, RTT_US);
    fifo.ours.cwnd = fifo.carries(300_000);
    fifo.pass(2 * SECOND_US);
    assert!(fifo.waited_us < 15_000, "{}", fifo.waited_us);
    fifo.longer_us = by_us;
    fifo
}

/// A longer path does not fall in a silence. It is taken for another's queue until our own packets stand in it as well;
/// then floors rise, and the link is steered as one that is as far away.
#[test]
fn a_path_that_has_become_longer_ends_with_risen_floors() {
    for by_us in [40_000, 60_000, 100_000, 200_000] {
        let mut fifo = longer(by_us);
        let risen = fifo.until(10 * SECOND_US, |f| f.path.risen_us > 0);
        assert!(risen, "{by_us}: {:?}", fifo.answers);
        let off_us = fifo.path.risen_us.abs_diff(by_us);
        assert!(off_us < 3_000, "{} for {by_us}", fifo.path.risen_us);
        fifo.pass(8 * SECOND_US);
        let used = fifo.used_in(10 * SECOND_US);
        assert!(used > 0.9, "{used} for {by_us}");
    }
}

/// The link's rate is known to a twentieth. The forecast is not: the test prints how far it goes beyond.
#[test]
fn the_rate_of_a_link_that_runs_empty_is_known() {
    for mbit in [2.0, 20.0, 200.0] {
        let mut fifo = Fifo::new(mbit, RTT_US);
        fifo.ours.cwnd = fifo.carries(300_000);
        let bit = f64::from(1 << sys::TG_TIDE_Q) / 8.0;
        let mut most_forecast = 0.0_f64;
        fifo.pass(5 * SECOND_US);
        for _ in 0..100 {
            fifo.pass(SECOND_US / 10);
            let [link, forecast] =
                [fifo.path.link_rate, fifo.path.m].map(|rate| rate as f64 / bit / mbit);
            assert!((0.95..1.05).contains(&link), "{link} of {mbit} Mbit/s");
            most_forecast = most_forecast.max(forecast);
        }
        println!("{mbit} Mbit/s: forecasts of up to {most_forecast:.2} of it");
    }
}

/// A path that has become longer by less than half a period costs nothing, either.
#[test]
fn a_path_that_has_become_a_little_longer_stays_used() {
    for by_us in [3_000, 5_000, 10_000, 20_000] {
        let mut fifo = longer(by_us);
        fifo.pass(20 * SECOND_US);
        let used = fifo.used_in(10 * SECOND_US);
        assert!(used > 0.9, "{used} for {by_us}");
    }
}

/// A sender that its own congestion window limits falls silent for no window. No silence is heard, and the path never
/// competes.
#[test]
fn where_nothing_falls_silent_nothing_is_heard() {
    for others in [false, true] {
        let mut fifo = if others { beside_others() } else { alone() };
        fifo.obeys = Obeys::Not;
        let competed = fifo.until(20 * SECOND_US, |f| !f.is_steered());
        assert!(!competed, "{:?}", fifo.answers);
        assert!(fifo.path.questions > 3);
        assert!(
            fifo.answers.iter().all(|a| *a == Answer::Nothing),
            "{:?}",
            fifo.answers
        );
    }
}

/// Another flow of ours, with another record, waits as well: the queue is ours, and the two must not compete with each
/// other. No question is asked; the queue is drained whenever it has stood for long, so that their delays move
/// together.
#[test]
fn a_queue_in_which_other_flows_of_ours_wait_is_ours() {
    let mut fifo = beside_others();
    fifo.beside = 60;
    let mut drains_us = Vec::new();
    while fifo.until(20 * SECOND_US, |f| f.is(sys::TG_TIDE_RECHECKING)) && drains_us.len() < 8 {
        drains_us.push(fifo.path.arrived_us);
        assert!(fifo.until(2 * SECOND_US, |f| f.is(sys::TG_TIDE_RUNNING)));
    }
    assert_eq!((fifo.path.questions, fifo.answers.len()), (0, 0));
    let waits_us: Vec<_> = drains_us.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let stands_us = u64::from(sys::TG_TIDE_SUSPECT_SHARED) * u64::from(RTT_US)
        / u64::from(sys::TG_TIDE_BUCKETS);
    assert!(drains_us[0] > stands_us, "{drains_us:?}");
    let in_time = |wait_us: &u64| (stands_us..stands_us + 2 * SECOND_US).contains(wait_us);
    assert!(
        waits_us.len() == 7 && waits_us.iter().all(in_time),
        "{waits_us:?}"
    );
    // If the other waits for less than half of it, it waits in another queue.
    fifo.beside = 40;
    assert!(fifo.until(10 * SECOND_US, |f| f.is(sys::TG_TIDE_COMPETING)));
    fifo.beside = 60;
    fifo.pass(SECOND_US);
    assert!(!fifo.is(sys::TG_TIDE_COMPETING));
}
