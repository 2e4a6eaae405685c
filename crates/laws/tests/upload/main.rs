//! Uploads steered from where they are sent, with the loop closed: the uplink's queue is told from the way back
//! whatever clocks and paths do, and kept short.

mod world;

use tidegate_laws::Law;
use world::{Clock, Experiment, MSS, Point, SECOND_US};

/// The points from second `from` to second `to`.
fn between(points: &[Point], from: u64, to: u64) -> &[Point] {
    let index = |s: u64| points.partition_point(|p| p.now_us < s * SECOND_US);
    &points[index(from)..index(to)]
}

/// Share of `rate` in bit/s that was used.
fn used(points: &[Point], from: u64, to: u64, rate: u64) -> f64 {
    let bits = between(points, from, to).len() as u64 * 12_000;
    bits as f64 / (rate * (to - from)) as f64
}

fn mean_us(points: &[Point]) -> f64 {
    points.iter().map(|p| p.buffered_us as f64).sum::<f64>() / points.len() as f64
}

fn segment_us(rate: u64) -> f64 {
    12_000e6 / rate as f64
}

/// The link is full, and before it stand only a few segments and a tenth of the round trip.
fn assert_short(points: &[Point], from: u64, to: u64, rate: u64, rtt_us: f64) {
    let share = used(points, from, to, rate);
    assert!(share > 0.96, "{share} of {rate} bit/s used");
    let mean_us = mean_us(between(points, from, to));
    let most_us = 5.0 * segment_us(rate) + rtt_us / 10.0 + 5_000.0;
    assert!(mean_us < most_us, "{mean_us} µs of queue at {rate} bit/s");
}

#[test]
fn an_uplink_is_full_and_its_queue_short() {
    for rate in [200_000, 1_000_000, 5_000_000, 20_000_000] {
        let points = Experiment {
            rate: vec![(0, rate)],
            ..Experiment::default()
        }
        .run();
        assert_short(&points, 10, 60, rate, 60_000.0);
    }
}

/// Without a law the promised megabytes stand in the buffer: the experiment can fail.
#[test]
fn nothing_else_keeps_it_short() {
    let points = Experiment {
        law: Law::None,
        ..Experiment::default()
    }
    .run();
    assert!(mean_us(between(&points, 40, 60)) > 10e6);
}

/// Delay on the way back is not the uplink's queue: neither a standing one, nor one that delivers in clusters, as
/// behind a download.
#[test]
fn the_way_back_is_not_the_uplinks_queue() {
    let base = Experiment::default();
    let slow = Experiment {
        back_us: vec![(0, 30_000), (20 * SECOND_US, 330_000)],
        ..base.clone()
    };
    let points = slow.run();
    // The lag is a round trip of 360 ms now; the window is open again within seconds.
    assert_short(&points, 30, 60, 1_000_000, 360_000.0);
    let clustered = Experiment {
        clusters_us: 60_000,
        ..base
    };
    let points = clustered.run();
    assert_short(&points, 10, 60, 1_000_000, 150_000.0);
}

/// The law's delay is the time in the buffer, within a tick of each clock and the change since the acknowledgement
/// left.
#[test]
fn the_delay_is_the_time_in_the_buffer() {
    let experiment = Experiment {
        law: Law::None,
        seconds: 8,
        ..Experiment::default()
    };
    let points = experiment.run();
    let known: Vec<_> = points
        .iter()
        .filter_map(|p| Some((p.now_us, p.buffered_us as i64, i64::from(p.queue_us?))))
        .collect();
    assert!(known.len() > 300);
    for (now_us, buffered_us, queue_us) in known {
        // The buffer has grown since: by a way back, and by a sixteenth of a round trip between two samples.
        let least_us = buffered_us - (30_000 + 2 * 60_000 + buffered_us / 8) - 50_000;
        let range = least_us..=buffered_us + 3_000 + 12_000;
        assert!(
            range.contains(&queue_us),
            "{queue_us} at {now_us}, not {range:?}"
        );
    }
}

#[test]
fn every_unit_of_the_receivers_clock_will_do() {
    for tick_us in [1, 100, 1_000, 3_333, 4_000, 10_000] {
        let points = Experiment {
            clock: Clock {
                tick_us,
                ..Experiment::default().clock
            },
            ..Experiment::default()
        }
        .run();
        assert_short(&points, 20, 60, 1_000_000, 60_000.0 + 10.0 * tick_us as f64);
    }
}

#[test]
fn clocks_may_drift_apart_for_hours() {
    for ppm in [-100, -50, 50, 100] {
        let points = Experiment {
            clock: Clock {
                ppm,
                ..Experiment::default().clock
            },
            rate: vec![(0, 300_000)],
            seconds: 4 * 3_600,
            ..Experiment::default()
        }
        .run();
        assert_short(&points, 120, 4 * 3_600, 300_000, 60_000.0);
        let last = between(&points, 4 * 3_600 - 600, 4 * 3_600);
        assert!(mean_us(last) < 200_000.0, "{ppm} ppm");
    }
}

/// A machine sleeps for seconds to days, and the upload survives.
#[test]
fn a_sleep_leaves_nothing_behind() {
    const HOUR_S: i64 = 3_600;
    for by_s in [1, 60, HOUR_S, 10 * HOUR_S, 72 * HOUR_S] {
        for by_s in [by_s, -by_s] {
            let points = Experiment {
                clock: Clock {
                    set: (60 * SECOND_US, by_s * SECOND_US as i64),
                    ..Experiment::default().clock
                },
                seconds: 260,
                ..Experiment::default()
            }
            .run();
            println!("set by {by_s} s");
            assert_short(&points, 65, 260, 1_000_000, 60_000.0);
        }
    }
}

/// rLEDBAT is for downloads: whatever clocks do, an upload's window is what the peer says.
#[test]
fn rledbat_leaves_uploads_alone_though_clocks_are_set() {
    for by_s in [1, 60, 3_600, 72 * 3_600] {
        for by_s in [by_s, -by_s] {
            let points = Experiment {
                law: Law::Rledbat,
                clock: Clock {
                    set: (60 * SECOND_US, by_s * SECOND_US as i64),
                    ..Experiment::default().clock
                },
                seconds: 90,
                ..Experiment::default()
            }
            .run();
            // Before that only the handshake has told a window.
            let after = between(&points, 2, 90);
            assert!(after.iter().all(|p| p.window == 4 << 20), "set by {by_s} s");
        }
    }
}

/// A link that becomes ten times slower is drained, one that becomes faster is filled.
#[test]
fn rate_steps_are_followed() {
    let points = Experiment {
        rate: vec![
            (0, 4_000_000),
            (20 * SECOND_US, 400_000),
            (50 * SECOND_US, 4_000_000),
        ],
        seconds: 80,
        ..Experiment::default()
    }
    .run();
    assert_short(&points, 10, 20, 4_000_000, 60_000.0);
    assert_short(&points, 30, 50, 400_000, 60_000.0);
    assert_short(&points, 60, 80, 4_000_000, 60_000.0);
}

/// A peer without timestamps is left alone: the window is the peer's.
#[test]
fn without_timestamps_the_window_is_the_peers() {
    let points = Experiment {
        timestamps: false,
        seconds: 100,
        ..Experiment::default()
    }
    .run();
    let last = points.last().expect("segments").window;
    assert_eq!(last, 4 << 20);
}

/// Bytes behind a hole are counted once, when the peer reports them: the forecast is the link's rate, not the burst
/// that an acknowledgement of half a second's segments would make.
#[test]
fn a_hole_does_not_make_a_burst() {
    let points = Experiment {
        lost: 400,
        ..Experiment::default()
    }
    .run();
    assert_short(&points, 10, 60, 1_000_000, 60_000.0);
    let largest = between(&points, 10, 60).iter().map(|p| p.window).max();
    assert!(
        largest.expect("segments") < 40 * u64::from(MSS),
        "{largest:?}"
    );
}

/// RSFC from this end keeps its own bound, 2 T + RTTmin with T = RTTmin (thesis section 5.1.2), plus the time by which
/// it learns late.
#[test]
fn rsfc_keeps_its_bound_from_here_too() {
    let points = Experiment {
        law: Law::Rsfc,
        ..Experiment::default()
    }
    .run();
    assert!(used(&points, 10, 60, 1_000_000) > 0.96);
    let longest = between(&points, 10, 60).iter().map(|p| p.buffered_us).max();
    let bound_us = 4 * (60_000 + 2 * 12_000) + 5 * 12_000;
    assert!(
        longest.expect("segments") < bound_us,
        "{longest:?} above {bound_us}"
    );
}
