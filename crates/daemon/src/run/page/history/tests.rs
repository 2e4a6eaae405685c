use super::{HOURS, History, MINUTES, Observation, SECOND_US, SECONDS};
use tidegate_agent::Histograms;

/// A link on which each second the same number of packets waits equally long.
struct Link {
    observation: Observation,
}

impl Link {
    fn new() -> Self {
        let nothing = Histograms::default().queue_us;
        Self {
            observation: Observation {
                at_us: 7 * SECOND_US,
                passes: false,
                queue_us: [nothing.clone(), nothing],
                bytes: [0, 0],
            },
        }
    }

    fn second(&mut self, queue_us: u64, packets: u64) -> Observation {
        self.observation.at_us += SECOND_US;
        self.observation.queue_us[0].insert(queue_us, packets);
        self.observation.bytes[0] += packets * 1500;
        self.observation.clone()
    }
}

#[test]
fn a_sample_is_of_its_second_alone() {
    let (mut history, mut link) = (History::default(), Link::new());
    history.note(link.second(900_000, 100));
    // The first look has none before it to compare with.
    assert_eq!(history.now(0, link.observation.at_us), None);
    history.note(link.second(20_000, 1000));
    let now = history.now(0, link.observation.at_us).unwrap();
    assert_eq!(now.rate_bps, 12e6);
    let queue = now.queue.unwrap();
    assert_eq!(queue.packets, 1000);
    assert!((16_000..24_000).contains(&queue.median_us), "{queue:?}");
    // There were no uploads.
    let up = history.now(1, link.observation.at_us).unwrap();
    assert_eq!((up.queue, up.rate_bps), (None, 0.0));
}

/// After a late look, the next may follow at once.
#[test]
fn a_look_that_follows_at_once_is_no_sample() {
    let (mut history, mut link) = (History::default(), Link::new());
    history.note(link.second(20_000, 1000));
    link.observation.at_us += 3 * SECOND_US;
    history.note(link.second(20_000, 4000));
    let mut soon = link.observation.clone();
    soon.at_us += 50;
    soon.bytes[0] += 1500;
    history.note(soon);
    assert_eq!(history.seconds.len(), 1);
    link.observation.bytes[0] += 1500;
    history.note(link.second(20_000, 999));
    let rates = history.seconds.iter().map(|s| s.ways[0].rate_bps);
    assert_eq!(rates.collect::<Vec<_>>(), [12e6, 12e6]);
}

#[test]
fn the_queue_of_now_is_forgotten_when_nothing_comes() {
    let (mut history, mut link) = (History::default(), Link::new());
    history.note(link.second(20_000, 0));
    history.note(link.second(20_000, 1000));
    let mut known = 0;
    for _ in 0..10 {
        history.note(link.second(0, 0));
        let now = history.now(0, link.observation.at_us).unwrap();
        assert_eq!(now.rate_bps, 0.0);
        known += usize::from(now.queue.is_some());
    }
    assert_eq!(known, 4);
    // What was seen long ago does not count as now.
    assert_eq!(history.now(0, link.observation.at_us + 6 * SECOND_US), None);
}

#[test]
fn a_day_and_two_minutes_are_kept_and_no_more() {
    let (mut history, mut link) = (History::default(), Link::new());
    for second in 0..(MINUTES as u64 + 90) * 60 {
        let mut observation = link.second(20_000, 10);
        // An unsteered slot lies in the last but one whole minute.
        observation.passes = (MINUTES as u64 + 88) * 60 + 10 == second;
        history.note(observation);
    }
    assert_eq!(
        (history.seconds.len(), history.minutes.len()),
        (SECONDS, MINUTES)
    );
    let day: serde_json::Value =
        serde_json::to_value(history.minutes(link.observation.at_us)).unwrap();
    let day = day.as_array().unwrap();
    assert_eq!(day.len(), MINUTES);
    let ages: Vec<_> = day.iter().map(|entry| entry[0].as_u64().unwrap()).collect();
    assert!(
        ages.windows(2).all(|pair| pair[0] == pair[1] + 60),
        "{ages:?}"
    );
    let passed: Vec<_> = day.iter().filter(|entry| entry[1] == true).collect();
    assert_eq!(passed.len(), 1);
    // Ten packets a second.
    assert_eq!(day[0][3], 120_000);
    assert!(day[0][2][0].as_u64().unwrap() >= 16_000, "{}", day[0]);
    assert_eq!(day[0][4], serde_json::json!([null, null]));
    let bytes = serde_json::to_vec(&day).unwrap().len();
    assert!(bytes < 100_000, "{bytes}");
}

#[test]
fn a_second_that_took_longer_is_told_by_what_it_took() {
    let (mut history, mut link) = (History::default(), Link::new());
    history.note(link.second(20_000, 0));
    link.observation.at_us += 9 * SECOND_US;
    history.note(link.second(20_000, 1000));
    assert_eq!(
        history.now(0, link.observation.at_us).unwrap().rate_bps,
        1.2e6
    );
}

/// Looks a minute apart are enough, and keep the test short.
#[test]
fn a_week_of_hours_is_kept_and_no_more() {
    let (mut history, mut link) = (History::default(), Link::new());
    let minutes = (HOURS as u64 + 3) * 60;
    for minute in 0..minutes {
        let mut observation = link.second(20_000, 10);
        link.observation.at_us += 59 * SECOND_US;
        // Two hours of a pause, and the slots of a comparison in each of the others.
        let paused = (minutes - 300..minutes - 180).contains(&minute);
        observation.passes = paused || minute % 60 == 7;
        history.note(observation);
    }
    let week = serde_json::to_value(history.hours(link.observation.at_us)).unwrap();
    let week = week.as_array().unwrap();
    assert_eq!(week.len(), HOURS);
    let ages: Vec<_> = week.iter().map(|e| e[0].as_u64().unwrap()).collect();
    assert!(ages.windows(2).all(|two| two[0] == two[1] + 3600));
    let passed = week.iter().filter(|entry| entry[1] == true).count();
    assert_eq!(passed, 2);
    // Ten packets a minute.
    assert_eq!(week[0][3], 2_000);
}
