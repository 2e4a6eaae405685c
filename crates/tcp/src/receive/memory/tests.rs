use super::*;

/// As `ss` shows it for a socket behind a TUN device: `skmem:(r2304,…)` for a full segment waiting, and a window of
/// 0.625 of the buffer.
#[test]
fn a_full_segment_costs_what_linux_charges() {
    assert_eq!(truesize(1448), 2304);
    assert_eq!(truesize(1), 704 + 256);
    assert_eq!(truesize(536), 1024 + 256);
    // Jumbo frames.
    assert_eq!(truesize(8948), 16384 + 256);
}

#[test]
fn the_window_is_half_the_memory_until_a_segment_shows_better() {
    let mut memory = Memory::autotuned(131_072, 33_554_432);
    assert_eq!(memory.full(), 65_536);
    assert!(memory.learn(1448));
    assert_eq!(memory.full(), 81_920);
    assert!(!memory.learn(1448));
    // Small segments are dear.
    assert!(memory.learn(100));
    assert_eq!(memory.full(), 131_072 * (100 * 256 / 960) / 256);
}

#[test]
fn the_limit_is_raised_for_a_window_and_never_lowered() {
    let mut memory = Memory::autotuned(131_072, 1_000_000);
    memory.learn(1448);
    assert!(!memory.raise(81_920));
    assert!(memory.raise(253_400));
    assert_eq!(memory.limit(), 405_440);
    assert!(!memory.raise(100_000));
    assert!(memory.raise(10_000_000));
    assert_eq!(memory.limit(), 1_000_000);
}

#[test]
fn reading_frees_all_that_was_charged() {
    let mut memory = Memory::autotuned(131_072, 131_072);
    for _ in 0..10 {
        memory.charge(1448);
    }
    memory.release(7, 14_480);
    memory.release(7233, 14_473);
    let free = memory.free(0);
    assert!(
        free.abs_diff(65_536 - 5 * 1152) <= 2,
        "half of it is free: {free}"
    );
    memory.release(7240, 7240);
    assert_eq!(memory.free(0), memory.full());
}

#[test]
fn a_full_buffer_stretches_then_collapses() {
    let mut memory = Memory::autotuned(10_000, 20_000);
    for _ in 0..5 {
        memory.charge(1448);
    }
    assert!(!memory.has_room());
    memory.stretch();
    assert_eq!(memory.limit(), 5 * 2304);
    for _ in 0..5 {
        memory.charge(1448);
    }
    memory.stretch();
    assert_eq!(memory.limit(), 20_000);
    assert!(!memory.has_room());
    // 14480 bytes in pages of 3776.
    memory.collapse(14_480);
    assert!(memory.has_room());
    assert_eq!(memory.free(0), (20_000 - 4 * 4352) / 2);
}

#[test]
fn a_plain_buffer_counts_payload() {
    let mut memory = Memory::fixed(50_000);
    assert!(!memory.learn(1448));
    memory.charge(1448);
    assert_eq!(memory.free(1448), 48_552);
    assert_eq!(memory.full(), 50_000);
    assert!(!memory.raise(100_000));
}
