use super::Player;
use std::time::Duration;
use tidegate_basics::time::Instant;

const fn s(seconds: u64) -> Instant {
    Instant::from_millis(seconds * 1000)
}

const CHUNK: Duration = Duration::from_secs(4);

#[test]
fn it_stalls_when_it_runs_dry_and_goes_on_when_it_has_enough_again() {
    let mut player = Player::new(s(1), 2 * CHUNK);
    player.arrived(s(2), CHUNK);
    player.arrived(s(5), CHUNK); // plays from 5 to 13
    player.arrived(s(12), CHUNK); // to 17
    player.arrived(s(20), CHUNK); // dry since 17
    player.arrived(s(21), CHUNK); // plays from 21 to 29
    let result = player.result("v", s(25));
    assert_eq!(result.startup_s, Some(4.0));
    assert_eq!((result.stalls, result.stalled_s), (1, 4.0));
    assert_eq!(result.played_s, 12.0 + 4.0);
    let later = player.result("v", s(32));
    assert_eq!(
        (later.stalls, later.stalled_s, later.played_s),
        (2, 4.0 + 3.0, 20.0)
    );
}

#[test]
fn what_never_began_did_not_stall() {
    let mut player = Player::new(s(0), 2 * CHUNK);
    player.arrived(s(1), CHUNK);
    let result = player.result("v", s(60));
    assert_eq!(
        (result.startup_s, result.stalls, result.stalled_s),
        (None, 0, 0.0)
    );
}

#[test]
fn there_is_room_when_a_chunk_has_been_played() {
    let mut player = Player::new(s(0), CHUNK);
    for _ in 0..3 {
        player.arrived(s(0), CHUNK);
    }
    let most = 3 * CHUNK;
    assert_eq!(player.room_at(s(1), CHUNK, most), s(4));
    assert_eq!(player.room_at(s(5), CHUNK, most), s(5));
}
