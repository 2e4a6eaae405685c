use super::super::plan::Planned;
use super::super::slot::{RoundTrip, Way};
use super::super::words;
use super::*;

/// A slot with 50 round trips around this median.
fn slot(pair: usize, steered: bool, ms: f64) -> Slot {
    let purpose = if pair == 0 {
        Purpose::WarmUp
    } else {
        Purpose::Counts
    };
    let planned = Planned {
        purpose,
        pair,
        steered,
    };
    let trip = |number| RoundTrip {
        at_s: f64::from(number),
        ms: ms + f64::from(number % 5 - 2),
    };
    Slot {
        seconds: 7.0,
        round_trips: (0..50).map(trip).collect(),
        carried: [
            Way {
                reached_bytes: 10_000_000,
                active: 1.0,
                ..Way::default()
            },
            Way::default(),
        ],
        ..Slot::new(planned)
    }
}

/// Six pairs after a warm-up: delays in ms with steering, and without.
fn trial(delays: [[f64; 2]; 6]) -> Measured {
    let warm_up = [slot(0, true, 5000.0), slot(0, false, 53.0)];
    let pairs = (1..).zip(delays);
    let pairs = pairs
        .flat_map(|(pair, [with, without])| [slot(pair, true, with), slot(pair, false, without)]);
    Measured {
        idle_ms: vec![50.0; 30],
        slots: warm_up.into_iter().chain(pairs).collect(),
        cut_short: None,
    }
}

fn judged(measured: &Measured) -> Decision {
    let finding = judge(measured);
    // Every finding has a sentence.
    assert!(words::headline(&finding).ends_with('.'));
    let said = words::sentences(&finding, measured.cut_short);
    assert!(said.iter().all(|sentence| !sentence.is_empty()));
    (finding.verdict, finding.because)
}

fn no_difference(because: Because) -> Decision {
    (Verdict::NoDifference, Some(because))
}

fn undecided(because: Because) -> Decision {
    (Verdict::Undecided, Some(because))
}

const BLOATED: [[f64; 2]; 6] = [
    [80.0, 400.0],
    [90.0, 700.0],
    [70.0, 350.0],
    [85.0, 900.0],
    [100.0, 600.0],
    [75.0, 500.0],
];

#[test]
fn a_shorter_delay_helps() {
    let finding = judge(&trial(BLOATED));
    assert_eq!((finding.verdict, &finding.because), (Verdict::Helps, &None));
    let [least, most] = finding.saved_percent.unwrap();
    assert!(
        (75.0..=80.0).contains(&least) && (85.0..91.0).contains(&most),
        "{least} to {most}"
    );
    let words = words::headline(&finding);
    assert_eq!(
        words,
        "Steering helps here: under load the delay falls from 550 ms to 82 ms."
    );
    let said = words::sentences(&finding, None).join(" ");
    assert!(
        said.contains("% shorter (97 % confidence)") && said.contains("4 of 100 trials"),
        "{said}"
    );
}

#[test]
fn a_longer_delay_hurts() {
    let turned = BLOATED.map(|[with, without]| [without, with]);
    assert_eq!(judged(&trial(turned)), (Verdict::Hurts, None));
    let said = words::sentences(&judge(&trial(turned)), None).join(" ");
    assert!(said.contains("% longer"), "{said}");
}

#[test]
fn what_nobody_notices_is_no_difference_however_certain_it_is() {
    let slight = [
        [60.0, 66.0],
        [61.0, 67.0],
        [60.0, 66.5],
        [62.0, 69.0],
        [60.0, 66.0],
        [61.0, 68.0],
    ];
    let finding = judge(&trial(slight));
    assert!(finding.tested.unwrap().is_significant());
    assert_eq!(finding.verdict, Verdict::NoDifference);
}

#[test]
fn the_first_pair_and_the_tail_do_not_count() {
    let mut measured = trial(BLOATED);
    for slot in measured.slots.iter_mut().filter(|slot| slot.steered) {
        let tail = slot.round_trips.iter_mut().take(10);
        tail.for_each(|trip| trip.ms = 9000.0);
    }
    let finding = judge(&measured);
    assert_eq!(finding.verdict, Verdict::Helps);
    assert!(finding.p95_ms.unwrap().with > 8000.0);
    assert!(finding.loaded_ms.unwrap().with < 110.0);
}

#[test]
fn delays_that_swing_tell_nothing() {
    let torn = [
        [400.0, 90.0],
        [90.0, 700.0],
        [500.0, 80.0],
        [85.0, 900.0],
        [100.0, 600.0],
        [800.0, 70.0],
    ];
    assert_eq!(judged(&trial(torn)), undecided(Because::TooVariable));
}

#[test]
fn a_queue_that_stays_is_of_others() {
    let same = [
        [300.0, 305.0],
        [310.0, 304.0],
        [306.0, 309.0],
        [311.0, 302.0],
        [303.0, 308.0],
        [305.0, 301.0],
    ];
    assert_eq!(judged(&trial(same)), no_difference(Because::OthersQueue));
    // Unless nothing was steered at all.
    let mut left = trial(same);
    for slot in &mut left.slots {
        let way = &mut slot.carried[0];
        way.left_bytes = std::mem::take(&mut way.reached_bytes);
    }
    assert_eq!(judged(&left), no_difference(Because::LeftAlone));
    for slot in &mut left.slots {
        let way = &mut slot.carried[0];
        way.windowless_bytes = std::mem::take(&mut way.left_bytes);
        way.windowless = Some("QUIC".into());
    }
    assert_eq!(
        judged(&left),
        no_difference(Because::Windowless("QUIC".into()))
    );
}

#[test]
fn what_the_law_does_not_reach_it_has_not_helped() {
    let mut measured = trial(BLOATED);
    for slot in &mut measured.slots {
        let way = &mut slot.carried[0];
        way.windowless_bytes = std::mem::replace(&mut way.reached_bytes, 1000);
        way.windowless = Some("QUIC".into());
    }
    assert_eq!(
        judged(&measured),
        no_difference(Because::Windowless("QUIC".into()))
    );
}

const SHORT: [[f64; 2]; 6] = [
    [55.0, 56.0],
    [57.0, 55.0],
    [55.0, 57.0],
    [56.0, 54.0],
    [55.0, 55.5],
    [56.0, 55.0],
];

#[test]
fn short_queues_have_reasons_of_their_own() {
    let mut measured = trial(SHORT);
    assert_eq!(judged(&measured), no_difference(Because::NoQueue));
    assert!(wants_check(&measured));
    let mut check = slot(7, false, 55.0);
    check.purpose = Purpose::Check;
    measured.slots.push(check);
    assert!(!wants_check(&measured));
    assert_eq!(judged(&measured), no_difference(Because::NoQueue));
    for slot in &mut measured.slots {
        slot.lost = 5;
    }
    assert_eq!(judged(&measured), no_difference(Because::ManagedQueue));
    for slot in &mut measured.slots {
        slot.lost = 0;
        slot.carried[0].marked_packets = 5;
    }
    assert_eq!(judged(&measured), no_difference(Because::ManagedQueue));
    measured.slots.last_mut().unwrap().carried[0].reached_bytes *= 2;
    assert_eq!(judged(&measured), no_difference(Because::ServerLimited));
    for slot in &mut measured.slots {
        slot.carried[0].active = 0.5;
    }
    assert_eq!(judged(&measured), no_difference(Because::NotSaturated));
}

#[test]
fn a_trial_without_matter_tells_nothing() {
    let mut measured = trial(BLOATED);
    for slot in &mut measured.slots {
        slot.carried[0].reached_bytes = 1000;
    }
    assert_eq!(judged(&measured), undecided(Because::NoLoad));
    let mut measured = trial(BLOATED);
    measured.slots[5].round_trips.truncate(9);
    assert_eq!(judged(&measured), undecided(Because::TooFewPairs));
    assert_eq!(
        judged(&Measured::default()),
        undecided(Because::TooFewPairs)
    );
    let mut measured = trial(BLOATED);
    measured.cut_short = Some(CutShort::WouldTake(8_400_000_000));
    assert_eq!(judged(&measured), undecided(Because::TooMuchData));
    let said = words::sentences(&judge(&measured), measured.cut_short).join(" ");
    assert!(said.contains("about 8.4 GB"), "{said}");
}

#[test]
fn the_load_goes_where_most_of_it_goes() {
    let mut measured = trial(BLOATED);
    for slot in &mut measured.slots {
        slot.carried.swap(0, 1);
    }
    assert_eq!(judge(&measured).direction, Direction::Up);
}

/// A trial with these delays, whose load carries this much less while it is steered.
fn with_less(delays: [[f64; 2]; 6], part: f64) -> Measured {
    let mut measured = trial(delays);
    for (number, slot) in measured.slots.iter_mut().enumerate() {
        let carried = 1e7 + 1e5 * number as f64;
        let part = if slot.steered { part } else { 1.0 };
        slot.load_bytes = Some([(part * carried) as u64, 0]);
    }
    measured
}

const OTHERS: [[f64; 2]; 6] = [
    [600.0, 610.0],
    [620.0, 605.0],
    [610.0, 615.0],
    [625.0, 640.0],
    [605.0, 620.0],
    [615.0, 600.0],
];

#[test]
fn a_load_that_gives_its_share_away_is_hurt() {
    let measured = with_less(OTHERS, 0.2);
    assert_eq!(judged(&measured), (Verdict::Hurts, Some(Because::GivesWay)));
    let finding = judge(&measured);
    let said = words::sentences(&finding, None).join(" ");
    assert!(said.contains("on the router"), "{said}");
    assert!(said.contains("% of its rate"), "{said}");
    assert!(!said.contains("longer"), "{said}");
    assert!(words::headline(&finding).contains("to others"));
    // A loss that nobody would notice is not reported.
    let decision = judged(&with_less(OTHERS, 0.9));
    assert_eq!(decision, no_difference(Because::OthersQueue));
}

#[test]
fn a_short_queue_is_worth_a_part_of_the_rate() {
    let finding = judge(&with_less(BLOATED, 0.7));
    assert_eq!(finding.verdict, Verdict::Helps);
    let said = words::sentences(&finding, None).join(" ");
    assert!(said.contains("It loses 31 to 31 % of its rate"), "{said}");
    let less = BLOATED.map(|[_, without]| [without / 1.5, without]);
    let decision = judged(&with_less(less, 0.2));
    assert_eq!(decision, (Verdict::Hurts, Some(Because::GivesWay)));
}

#[test]
fn the_load_is_told_from_what_else_the_link_carries() {
    let mut measured = with_less(OTHERS, 0.2);
    let bps = judge(&measured).bps.unwrap();
    assert!(bps.with < 0.3 * bps.without, "{bps:?}");
    for slot in &mut measured.slots {
        slot.load_bytes = None;
    }
    let bps = judge(&measured).bps.unwrap();
    assert_eq!(bps.with, bps.without);
}

#[test]
fn a_link_that_others_load_is_not_called_idle() {
    let mut measured = trial(OTHERS);
    assert!(!judge(&measured).others_load);
    measured.idle_ms = vec![590.0; 30];
    let warm_up = slot(0, true, 600.0).round_trips;
    for slot in &mut measured.slots[..2] {
        slot.round_trips.clone_from(&warm_up);
    }
    let said = |measured: &Measured| words::sentences(&judge(measured), None).join(" ");
    assert!(!judge(&measured).others_load);
    // The host may be far away.
    assert!(said(&measured).contains("satellite"));
    measured.slots[3].round_trips[7].ms = 51.0;
    assert!(judge(&measured).others_load);
    assert!(said(&measured).contains("590 ms, and 51 ms at best"));
    assert_eq!(judged(&measured), no_difference(Because::OthersQueue));
}

#[test]
fn who_is_helped_is_told_how_to_go_on_and_what_was_not_measured() {
    let mut finding = judge(&trial(BLOATED));
    finding.rate_would_have_shown = Some(0.001);
    let said = words::sentences(&finding, None).join(" ");
    assert!(said.contains("(Ctrl-C)"), "{said}");
    assert!(said.contains("systemctl enable --now tidegate"), "{said}");
    assert!(said.contains("differ by more than 5 %"), "{said}");
}
