use super::{Level, Verdict};
use crate::about::About;
use crate::account::Account;
use crate::compare::Compared;
use crate::fixtures::{START_US, snapshot};
use crate::run::page::now::{KindNow, Way};
use crate::spread::Spread;
use tidegate_agent::{Direction, Kind};

fn about() -> About {
    snapshot(START_US, vec![]).agent
}

fn way(queue_us: Option<u32>, steered_bps: f64, left_bps: f64) -> Way {
    let kind = |kind: Kind, rate_bps, steered| KindNow {
        name: kind.short(),
        rate_bps,
        steered,
    };
    Way {
        direction: Direction::Down,
        label: "Downloads",
        queue_us,
        p95_us: queue_us.map(|us| 2 * us),
        rate_bps: steered_bps + left_bps,
        flows: 1,
        kinds: vec![
            kind(Kind::Tcp, steered_bps, true),
            kind(Kind::Quic, left_bps, false),
        ],
    }
}

fn verdict(about: &About, way: Way) -> Verdict {
    Verdict::of(about, &[way], &Account::default())
}

#[test]
fn the_headline_follows_the_queue() {
    let level = |queue_us, bps| verdict(&about(), way(queue_us, bps, 0.0)).level;
    assert_eq!(level(Some(24_000), 9e6), Level::Short);
    assert_eq!(level(Some(140_000), 9e6), Level::Felt);
    assert_eq!(level(Some(900_000), 9e6), Level::Long);
    assert_eq!(level(None, 9e6), Level::Unknown);
    // A few packets are no load, however long they waited.
    let quiet = verdict(&about(), way(Some(900_000), 9e3, 0.0));
    assert_eq!((quiet.level, quiet.queue_us), (Level::Idle, None));
    assert_eq!(quiet.headline, "The link is quiet: nothing waits.");
    let short = verdict(&about(), way(Some(24_000), 9e6, 0.0));
    assert_eq!(short.headline, "The queue is short.");
    assert_eq!(
        short.lines,
        ["Downloads wait 24 ms (19 of 20 less than 48 ms)."]
    );
}

#[test]
fn what_most_is_left_alone_for_is_said() {
    let verdict = verdict(&about(), way(Some(24_000), 4e6, 6e6));
    assert_eq!(
        verdict.lines[1],
        "60 % of what arrives now is left alone, most of it QUIC."
    );
}

#[test]
fn a_dry_run_promises_nothing() {
    let about = About {
        dry_run: true,
        ..about()
    };
    let verdict = verdict(&about, way(Some(400_000), 9e6, 0.0));
    assert_eq!(verdict.lines[0], "Nothing is steered: this is a dry run.");
}

/// The page mentions the queue without steering only where it was measured.
#[test]
fn the_queue_without_steering_is_told_only_where_it_was_met() {
    let mut account = Account::default();
    let all = |account: &Account| {
        Verdict::of(&about(), &[way(Some(24_000), 9e6, 0.0)], account)
            .lines
            .join(" ")
    };
    assert!(!all(&account).contains("without"));
    let spread = |median_us| Spread {
        median_us,
        p95_us: 3 * median_us,
        packets: 900,
    };
    account.ways.push(crate::account::Way {
        direction: Direction::Down,
        bytes: 1,
        queue: None,
        kinds: vec![],
        left: vec![],
        compared: Some(Compared {
            pairs: 6,
            slots_us: 48_000_000,
            with: spread(14_000),
            without: spread(420_000),
        }),
    });
    let said = "Downloads: 14 ms with steering, 420 ms without, in the last 6 comparisons.";
    assert!(all(&account).contains(said), "{}", all(&account));
}

#[test]
fn another_machine_is_named_while_anything_goes() {
    let beside = |bps| verdict(&about(), way(Some(400_000), bps, 0.0)).beside(&[Direction::Down]);
    let said = beside(9e6).lines;
    assert!(
        said[1].starts_with("Downloads: another machine fills the link"),
        "{said:?}"
    );
    assert_eq!(beside(9e3).lines, [] as [&str; 0]);
}

/// Acknowledgements of downloads are no upload.
#[test]
fn what_answers_is_not_called_left_alone() {
    let up = |bps| Way {
        direction: Direction::Up,
        ..way(None, 0.0, bps)
    };
    let lines = |bps| {
        let ways = [way(Some(24_000), 9e6, 0.0), up(bps)];
        Verdict::of(&about(), &ways, &Account::default())
            .lines
            .len()
    };
    assert_eq!((lines(200e3), lines(2e6)), (1, 2));
}
