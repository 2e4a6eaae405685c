use super::*;

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// 12 Mbit/s, 1500 bytes a millisecond, with a bucket of 6000 bytes.
fn shaper() -> Shaper<Vec<u8>> {
    Shaper::new(TokenBucket {
        rate_bps: 12e6,
        burst_bytes: 6000,
        queue_packets: 10,
    })
}

fn push(shaper: &mut Shaper<Vec<u8>>, now: Instant, bytes: usize) {
    shaper.push(Queued {
        packet: vec![0; bytes],
        arrival: now,
    });
}

fn releases(shaper: &mut Shaper<Vec<u8>>, now: Instant) -> Vec<Instant> {
    std::iter::from_fn(|| shaper.release(now))
        .map(|(at, _)| at)
        .collect()
}

/// A full bucket lets its bytes leave at once, the rest leaves at the rate.
#[test]
fn a_burst_passes_and_then_the_rate() {
    let mut shaper = shaper();
    for _ in 0..8 {
        push(&mut shaper, ms(100), 1500);
    }
    let expected: Vec<_> = [100, 100, 100, 100, 101, 102, 103, 104].map(ms).into();
    assert_eq!(shaper.next_event(), Some(ms(100)));
    assert_eq!(releases(&mut shaper, ms(104)), expected);
    assert_eq!((shaper.next_event(), shaper.len()), (None, 0));
}

/// Two milliseconds at rest earn two packets; a longer rest never earns more than the bucket.
#[test]
fn tokens_accrue_up_to_the_bucket() {
    for (rest, expected) in [
        (2, [106, 106, 107, 108, 109]),
        (900, [1004, 1004, 1004, 1004, 1005]),
    ] {
        let mut shaper = shaper();
        for _ in 0..8 {
            push(&mut shaper, ms(100), 1500);
        }
        releases(&mut shaper, ms(104));
        let now = ms(104 + rest);
        for _ in 0..5 {
            push(&mut shaper, now, 1500);
        }
        let expected: Vec<_> = expected.map(ms).into();
        assert_eq!(releases(&mut shaper, ms(2000)), expected);
    }
}

/// Odd sizes at an odd rate: after the burst, no interval carries more than its tokens, and the last packet leaves
/// when the tokens for all have come, both to the nanosecond.
#[test]
fn the_rate_is_kept_exactly() {
    let mut shaper = Shaper::new(TokenBucket {
        rate_bps: 7_654_321.0,
        burst_bytes: 2000,
        queue_packets: 10_000,
    });
    let mut bytes = 0;
    for n in 0..5000 {
        bytes += 40 + n * 7 % 1460;
        push(&mut shaper, Instant::ZERO, 40 + n * 7 % 1460);
    }
    let last = *releases(&mut shaper, Instant::MAX).last().unwrap();
    let expected = (bytes as f64 - 2000.0) * 8.0 / 7_654_321.0;
    assert!((last.as_secs_f64() - expected).abs() < 1e-8);
}

#[test]
fn what_does_not_fit_is_dropped() {
    let mut shaper = shaper();
    push(&mut shaper, ms(0), 6001);
    assert_eq!((shaper.len(), shaper.dropped()), (0, 1));
    push(&mut shaper, ms(0), 6000);
    for _ in 0..11 {
        push(&mut shaper, ms(0), 100);
    }
    assert_eq!((shaper.len(), shaper.dropped()), (10, 3));
    assert_eq!(releases(&mut shaper, ms(0)).len(), 1);
}
