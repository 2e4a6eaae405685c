use super::*;

const TUNED: Memory = Memory::autotuned(131_072, 33_554_432);

fn stock(memory: &Memory, next: u64, unread: u64) -> Stock<'_> {
    Stock {
        memory,
        next,
        unread,
        mss: 1448,
    }
}

/// The scales that Linux offers for `tcp_rmem[2]`; `rmem_max` of 4 MiB is the least.
#[test]
fn the_scale_is_for_the_largest_buffer() {
    assert_eq!(scale(&TUNED), 10);
    assert_eq!(scale(&Memory::autotuned(131_072, 6_291_456)), 7);
    assert_eq!(scale(&Memory::autotuned(131_072, 110_208)), 7);
    assert_eq!(scale(&Memory::autotuned(131_072, 1 << 40)), 14);
}

#[test]
fn a_plain_buffers_scale_just_shows_it() {
    assert_eq!(scale(&Memory::fixed(65_535)), 0);
    assert_eq!(scale(&Memory::fixed(65_536)), 1);
    assert_eq!(scale(&Memory::fixed(131_070)), 1);
    assert_eq!(scale(&Memory::fixed(131_071)), 2);
    assert_eq!(scale(&Memory::fixed(1 << 40)), 14);
}

/// 64240 in Linux's SYN, 65160 in its SYN-ACK to a peer with timestamps.
#[test]
fn the_syn_shows_whole_segments() {
    assert_eq!(initial(&TUNED, 1460), 64_240);
    assert_eq!(initial(&TUNED, 1448), 65_160);
    assert_eq!(initial(&Memory::fixed(50_000), 1460), 50_000);
    assert_eq!(initial(&Memory::fixed(100_000), 1460), 65_535);
}

/// The first ACKs' window fields in a recording: 63, 66, 69, 72, 75, 78, 79.
#[test]
fn the_window_opens_by_two_segments_at_a_time() {
    let mut memory = TUNED;
    let mut window = Window::new(&memory, 64_240, 10, 1448);
    assert_eq!(window.advertise(&stock(&memory, 1, 0)), 63);
    memory.learn(1448);
    window.rescale(&memory);
    let mut fields = Vec::new();
    for i in 1..=6 {
        memory.charge(1448);
        window.grow(&stock(&memory, 1 + 1448 * i, 1448), 1448, 2304);
        fields.push(window.advertise(&stock(&memory, 1 + 1448 * i, 1448)));
        memory.release(1448, 1448);
    }
    assert_eq!(fields, [66, 69, 72, 75, 78, 79]);
}

#[test]
fn a_window_never_shrinks() {
    let mut memory = TUNED;
    let mut window = Window::new(&memory, 64_240, 10, 1448);
    window.advertise(&stock(&memory, 1, 0));
    let edge = window.edge();
    for i in 1..30 {
        memory.charge(1448);
        let next = 1 + 1448 * i;
        let field = u64::from(window.advertise(&stock(&memory, next, next - 1)));
        assert!(next + (field << 10) >= edge, "after {i} segments");
    }
}

/// With less than a sixteenth of the buffer free, no window at all.
#[test]
fn rather_no_window_than_a_small_one() {
    let mut memory = Memory::autotuned(131_072, 131_072);
    let mut window = Window::new(&memory, 64_240, 0, 1448);
    window.close(1);
    for _ in 0..100 {
        memory.charge(536);
    }
    assert_eq!(memory.free(0), 1536, "more than a segment, less than 4096");
    assert_eq!(window.select(&stock(&memory, 1, 0)), 0);
    assert_eq!(window.advertise(&stock(&memory, 1, 0)), 0);
    memory.release(5, 100);
    assert_eq!(memory.free(0), 4736);
    assert_eq!(window.advertise(&stock(&memory, 1, 0)), 3 * 1448);
}

#[test]
fn an_unscaled_window_moves_in_whole_segments() {
    let memory = Memory::autotuned(60_000, 60_000);
    let mut window = Window::new(&memory, 20_000, 0, 1448);
    window.ssthresh = 25_000;
    assert_eq!(window.advertise(&stock(&memory, 1, 0)), 24_616);
    window.ssthresh = 25_100;
    assert_eq!(window.advertise(&stock(&memory, 1, 0)), 24_616);
}

#[test]
fn dear_segments_grow_a_small_window_only() {
    let memory = TUNED;
    let small = Window::new(&memory, 5_000, 10, 1448);
    let mut window = small;
    assert!(window.grow(&stock(&memory, 1, 0), 200, 960));
    assert_eq!(window.ssthresh(), 5_000 + 2 * 1448);
    // 960 bytes of memory for 200 may be offered for up to 1/4 of the largest window.
    window.ssthresh = 4_300_000;
    window.clamp = 8_000_000;
    let roomy = Memory::autotuned(33_554_432, 33_554_432);
    assert!(!window.grow(&stock(&roomy, 1, 0), 200, 960));
    window.ssthresh = 4_100_000;
    assert!(window.grow(&stock(&roomy, 1, 0), 200, 960));
}

#[test]
fn a_plain_window_is_what_is_not_unread() {
    let memory = Memory::fixed(100_000);
    let mut window = Window::new(&memory, 65_535, 1, 1448);
    assert_eq!(window.advertise(&stock(&memory, 1, 0)), 50_000);
    assert_eq!(window.advertise(&stock(&memory, 20_001, 20_000)), 40_000);
    // The edge moves by a segment at least.
    assert_eq!(window.advertise(&stock(&memory, 20_001, 18_600)), 40_000);
    assert_eq!(window.advertise(&stock(&memory, 20_001, 18_552)), 40_724);
    assert_eq!(window.advertise(&stock(&memory, 20_001, 0)), 50_000);
}

#[test]
fn a_small_plain_buffer_opens_by_its_half() {
    let memory = Memory::fixed(1000);
    let mut window = Window::new(&memory, 1000, 0, 1448);
    assert_eq!(window.advertise(&stock(&memory, 1001, 1000)), 0);
    assert_eq!(window.advertise(&stock(&memory, 1001, 501)), 0);
    assert_eq!(window.advertise(&stock(&memory, 1001, 500)), 500);
}
