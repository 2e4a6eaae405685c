//! Videos in several bit rates, over whole links.

mod common;

use common::{assert_near, run, scenario};
use tidegate_scenario::{AdaptiveResult, VideoResult};

/// A video by that algorithm over a constant link, for that many seconds.
fn video(algorithm: &str, mbps: f64, seconds: f64) -> (VideoResult, AdaptiveResult) {
    let does = format!(
        "{{ name = 'video', does = {{ adaptive_video = {{ algorithm = '{algorithm}' }} }} }}"
    );
    let run = run(&scenario(mbps, seconds, 100, &does));
    let video = run.videos[0].clone();
    let adaptive = video.adaptive.expect("it is one in several bit rates");
    (video, adaptive)
}

const ALL: [&str; 3] = ["rate", "bba", "robust_mpc"];

#[test]
fn a_fast_link_brings_the_highest_rate() {
    for algorithm in ALL {
        let (video, adaptive) = video(algorithm, 20.0, 300.0);
        assert_eq!(video.stalls, 0, "{algorithm}: {video:?}");
        // Except for the first segments.
        assert!(adaptive.bitrate_bps > 4.0e6, "{algorithm}: {adaptive:?}");
        assert!(adaptive.switches <= 5, "{algorithm}: {adaptive:?}");
        // 300 s and a minute ahead, in segments of 4 s.
        assert!(
            (88..=91).contains(&adaptive.segments),
            "{algorithm}: {adaptive:?}"
        );
    }
}

/// 3.5 Mbit/s of payload, less a round trip before each segment: 2.85 fits, 4.3 does not.
#[test]
fn a_slower_link_brings_the_highest_rate_that_it_carries() {
    let (video, by_rate) = video("rate", 3.7, 600.0);
    assert_eq!(video.stalls, 0, "{video:?}");
    assert!(
        (2.7e6..2.95e6).contains(&by_rate.bitrate_bps),
        "{by_rate:?}"
    );
    assert!(by_rate.switches <= 5, "{by_rate:?}");
}

/// It plans five segments ahead, and a buffer that lasts for these buys a higher rate for that long. So its rate
/// is at times above the link's, and it scores better by its own measure.
#[test]
fn by_prediction_the_buffer_is_spent_on_quality() {
    let (_, by_rate) = video("rate", 3.7, 600.0);
    let (video, planned) = video("robust_mpc", 3.7, 600.0);
    assert!(video.stalled_s < 0.5, "{video:?}");
    assert!((3.0e6..3.6e6).contains(&planned.bitrate_bps), "{planned:?}");
    assert!(
        planned.qoe_per_segment > by_rate.qoe_per_segment,
        "{planned:?} {by_rate:?}"
    );
}

/// The buffer's map uses all that the link carries: the rates above and below alternate.
#[test]
fn by_buffer_the_mean_is_what_the_link_carries() {
    let (video, adaptive) = video("bba", 3.7, 600.0);
    assert_eq!(video.stalls, 0, "{video:?}");
    assert!(
        (3.0e6..3.6e6).contains(&adaptive.bitrate_bps),
        "{adaptive:?}"
    );
    assert!(adaptive.switches > 5, "{adaptive:?}");
}

/// The whole equation: Mbit/s, less changes, stalls and the start.
#[test]
fn quality_of_experience_counts_stalls_and_the_start() {
    for algorithm in ALL {
        // Too slow even for the lowest rate, which all algorithms choose here.
        let (video, adaptive) = video(algorithm, 0.25, 300.0);
        assert!(video.stalls > 3, "{algorithm}: {video:?}");
        assert_eq!(adaptive.switches, 0, "{algorithm}: {adaptive:?}");
        let startup_s = video.startup_s.unwrap();
        let expected = 0.3 * adaptive.segments as f64 - 4.3 * (video.stalled_s + startup_s);
        assert_near(adaptive.qoe, expected, 1e-9);
        assert_near(
            adaptive.qoe_per_segment,
            expected / adaptive.segments as f64,
            1e-9,
        );
    }
}

/// A video that never begins to play has waited for the whole run.
#[test]
fn a_video_that_never_starts_has_waited() {
    let (video, adaptive) = video("rate", 0.01, 20.0);
    assert_eq!((video.startup_s, adaptive.segments), (None, 0));
    assert_near(adaptive.qoe, -4.3 * 20.0, 1e-9);
}
