//! The page of a known link in virtual time: 8 Mbit/s down, 1 Mbit/s up, with too much buffer in both directions.

use super::super::measure::{Measured, predict_gains};
use super::page;
use std::convert::Infallible;
use std::time::Duration;
use tempfile::TempDir;
use tidegate_link::{Config, Policy, QueueConfig, Rate};
use tidegate_probe::analysis::responsiveness::{Confidence, Means, Responsiveness, Score};
use tidegate_probe::emulated::{Clock, Emulated, Experiment, Side};
use tidegate_probe::examine::{Overflows, overflow_train, overflows_by};
use tidegate_probe::results::{Results, Trains, Way, base_rtt_ms};
use tidegate_probe::{Echo, Pace, TrainConfig};
use tidegate_scenario::Provenance;
use tidegate_testing::{Browser, Screen};

const EVERY: Option<Duration> = Some(Duration::from_millis(100));
const SERVER: &str = "<script>alert('x')</script>&a-name-of-a-server-that-is-longer-than-a-phone-is-wide.example.org:4817";

fn link() -> Emulated {
    let way = |bps, packets| Config {
        rate: Rate::constant(bps),
        queue: QueueConfig {
            packets: Some(packets),
            bytes: None,
            policy: Policy::DropTail,
            ..QueueConfig::default()
        },
        delay: Duration::from_millis(20).into(),
        ..Config::default()
    };
    Emulated::new(way(8e6, 600), way(1e6, 60), Clock::default(), 7)
}

fn ping(link: &mut Emulated) -> Vec<Echo> {
    let experiment = Experiment {
        ping_every: EVERY,
        ping_for: Duration::from_secs(3),
        ..Experiment::default()
    };
    link.perform(&experiment).echoes
}

/// Fills one direction, and sends echoes meanwhile.
fn fill(link: &mut Emulated, from: Side) -> (Overflows, Vec<Echo>) {
    let mut busy = Vec::new();
    let found = overflows_by(30_000_000, |train| {
        let mut observed = link.perform(&Experiment {
            trains: vec![(from, train)],
            ping_every: EVERY,
            ..Experiment::default()
        });
        busy.append(&mut observed.echoes);
        Ok::<_, Infallible>((observed.trains.remove(0), observed.sent_bytes[0]))
    });
    match found {
        Ok(found) => (found, busy),
    }
}

/// A download alone, then beside an upload.
fn both(link: &mut Emulated) -> Trains {
    let train = |pace, flow| TrainConfig {
        pace,
        max_time: Duration::from_secs(10),
        ..overflow_train(flow, 1420)
    };
    let download = |flow| (Side::Server, train(Pace::Window(64_000), flow));
    let upload = (Side::Client, train(Pace::Busy, 2));
    let mut perform = |trains| {
        link.perform(&Experiment {
            trains,
            ping_every: EVERY,
            ..Experiment::default()
        })
    };
    let alone = perform(vec![download(0)]).trains.remove(0);
    let mut observed = perform(vec![download(1), upload]);
    let up = observed.trains.remove(1);
    let down = observed.trains.remove(0);
    Trains {
        alone,
        down,
        up,
        echoes: observed.echoes,
    }
}

fn responsiveness(rpm: f64) -> Responsiveness {
    Responsiveness {
        score: Some(Score {
            rpm,
            connect_ms: 60_000.0 / rpm,
            request_ms: 60_000.0 / rpm,
            own_ms: 60_000.0 / rpm,
        }),
        means: Means::default(),
        missing: Vec::new(),
        score_confidence: Confidence::High,
        goodput_bps: Some(7.6e6),
        goodput_confidence: Confidence::Medium,
        connections: 4,
    }
}

fn measured() -> Measured {
    let mut link = link();
    let idle = ping(&mut link);
    let (down, beside_down) = fill(&mut link, Side::Server);
    let (up, beside_up) = fill(&mut link, Side::Client);
    let trains = both(&mut link);
    let mut results = Results {
        server: SERVER.into(),
        base_rtt_ms: base_rtt_ms(&idle),
        down: Some(Way::of(&down, &idle, &beside_down, true)),
        up: Some(Way::of(&up, &idle, &beside_up, false)),
        responsiveness: Some([responsiveness(54.0), responsiveness(30.0)]),
        bytes: down.bytes + up.bytes,
        ..Results::default()
    };
    let echoes = [idle.clone(), beside_down, beside_up, trains.echoes.clone()].concat();
    results.conclude(&echoes, &idle, Some(&trains));
    let mut measured = Measured {
        results,
        ways: vec![("down", down), ("up", up)],
        echoes,
        ..Measured::default()
    };
    predict_gains(&mut measured);
    measured
}

#[test]
fn the_verdict_stands_first_and_says_what_waits_and_why() {
    let html = page(&measured(), &Provenance::default());
    let first = html.split("</header>").next().unwrap();
    for words in [
        "<h1>While a download fills this link, everything else waits ",
        "While a download fills the link a round trip takes ",
        "While an upload fills the link a round trip takes ",
        "Responsiveness under load by TCP, in round trips a minute: 54 down, 30 up.",
        "Beside an upload a download keeps ",
        "Steering downloads (tidegate run): ",
        "as the simulator predicts for one transfer",
        "<small>Grade</small> F",
    ] {
        assert!(first.contains(words), "{words}: {first}");
    }
    assert!(!html.contains("Fig."), "a figure is named by a number");
    assert!(html.contains("one way down, ms") && html.contains(" packets, drop-tail"));
    assert!(html.len() < 500_000, "{} bytes", html.len());
    assert!(
        !html.contains("<script"),
        "what the server is called is markup"
    );
}

#[test]
fn what_was_not_measured_is_not_told() {
    let nothing = Measured {
        results: Results {
            server: "server".into(),
            base_rtt_ms: 41.0,
            ..Results::default()
        },
        ..Measured::default()
    };
    let html = page(&nothing, &Provenance::default());
    assert!(
        html.contains("<h1>How long packets wait while this link is full was not measured.</h1>")
    );
    assert!(!html.contains("class=\"grade") && !html.contains("<table"));
}

#[test]
fn a_browser_shows_it_at_every_width_and_in_both_schemes() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("link.html");
    std::fs::write(&file, page(&measured(), &Provenance::default())).unwrap();
    for screen in Screen::ALL {
        browser.look_at(screen);
        browser.open(&format!("file://{}", file.display()));
        browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)");
        browser.draw_if_wanted(&format!("probe-{}", screen.name()));
        let wrong = browser.audit();
        assert!(wrong.is_empty(), "{screen:?}: {wrong:#?}");
        assert_eq!(browser.requests().len(), 1, "{:?}", browser.requests());
    }
}
