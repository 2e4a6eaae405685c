use super::{download, upload};
use crate::Holding;
use tidegate_laws::sys;

const MSS: u32 = 1200;

/// A download with packets that wait: its sender's window is twice what it should be.
fn held() -> sys::tg_hold {
    let mut hold = sys::tg_hold::default();
    // SAFETY: a live record.
    unsafe { sys::tg_hold_init(&mut hold, 0) };
    hold.arrived = 10_000_000;
    hold.ways.came = 1_000_000;
    hold.ways.went = 20_000;
    (hold.rate.bytes, hold.rate.us) = (100_000, 50_000);
    (
        hold.window,
        hold.steered.wanted,
        hold.steered.recent_largest,
    ) = (200_000, 100_000, 200_000);
    hold.gated = 1;
    hold.steered.mss = MSS;
    hold.steered.echo = sys::tg_echo {
        heard_us: 90_000_000,
        every_us: 35_000,
        rtt_us: 60_000,
        floor_us: 40_000,
        fell_us: 0,
        least_us: 40_000,
    };
    (hold.clocking.state, hold.clocking.answers) =
        (sys::TG_CLOCKING_CLOCKED, sys::TG_CLOCKING_SURE);
    hold
}

#[test]
fn what_waits_is_the_law_s_own_number() {
    let seen = download(&held());
    assert_eq!(seen.state, Holding::Held);
    assert_eq!((seen.here_bytes, seen.wait_us), (100_000, 50_000));
    assert_eq!((seen.queue_us, seen.rtt_us), (Some(20_000), Some(60_000)));
    assert_eq!(seen.sender_bytes, Some(200_000));
    assert_eq!(seen.group, None);
}

#[test]
fn each_reason_to_leave_it_is_told() {
    type Change = fn(&mut sys::tg_hold);
    let cases: [(Change, Holding); 8] = [
        (|h| h.window = 50_000, Holding::Sender),
        (
            |h| {
                h.window = 50_000;
                h.clocking.state = sys::TG_CLOCKING_SIGNALLED;
            },
            Holding::Sender,
        ),
        (
            |h| (h.clocking.state, h.clocking.answers) = (sys::TG_CLOCKING_SIGNALLED, 0),
            Holding::Watched,
        ),
        (|h| h.ways.went = h.ways.came, Holding::NotBulk),
        (|h| h.arrived = 30_000, Holding::NotBulk),
        (
            |h| (h.clocking.state, h.clocking.answers) = (sys::TG_CLOCKING_LEFT, 0),
            Holding::NotClocked,
        ),
        (
            |h| (h.clocking.state, h.clocking.answers) = (sys::TG_CLOCKING_NEW, 0),
            Holding::Watched,
        ),
        (
            |h| {
                h.steered.echo = sys::tg_echo::default();
                h.steered.wanted = sys::TG_UNLIMITED;
            },
            Holding::Asked,
        ),
    ];
    for (change, state) in cases {
        let mut hold = held();
        change(&mut hold);
        let seen = download(&hold);
        assert_eq!((seen.state, seen.here_bytes), (state, 0));
        assert_eq!(seen.rtt_us.is_some(), state != Holding::Asked);
    }
}

/// An upload with as many bytes waiting as in flight.
fn held_upload() -> sys::tg_hold_up {
    let mut hold = sys::tg_hold_up::default();
    // SAFETY: a live record.
    unsafe { sys::tg_hold_up_init(&mut hold, 0) };
    (hold.left, hold.passed, hold.waiting) = (10_000_000, 9_900_000, 100_000);
    (hold.ways.went, hold.ways.came) = (1_000_000, 20_000);
    (hold.rate.bytes, hold.rate.us) = (100_000, 50_000);
    hold.steered.wanted = 100_000;
    hold.gated = 1;
    hold.steered.echo = held().steered.echo;
    hold
}

#[test]
fn of_an_upload_what_waits_is_the_gate_s_number() {
    let seen = upload(&held_upload());
    assert_eq!(seen.state, Holding::Held);
    assert_eq!((seen.here_bytes, seen.wait_us), (100_000, 50_000));
    assert_eq!((seen.queue_us, seen.rtt_us), (Some(20_000), Some(60_000)));
    assert_eq!(seen.sender_bytes, Some(200_000));
}

#[test]
fn each_reason_to_leave_an_upload_is_told() {
    type Change = fn(&mut sys::tg_hold_up);
    let cases: [(Change, Holding); 4] = [
        (|h| h.waiting = 0, Holding::Sender),
        (|h| h.ways.came = h.ways.went, Holding::NotBulk),
        (|h| h.left = 30_000, Holding::NotBulk),
        (
            |h| {
                h.steered.echo = sys::tg_echo::default();
                h.steered.wanted = sys::TG_UNLIMITED;
            },
            Holding::Asked,
        ),
    ];
    for (change, state) in cases {
        let mut hold = held_upload();
        change(&mut hold);
        assert_eq!(upload(&hold).state, state);
    }
}
