//! What becomes of places, groups and their records, one call at a time.

use tidegate_laws::sys;

/// A record that knows its link, which carried `rate` bytes a millisecond.
fn record(rate: u64) -> sys::tg_tide {
    let rate = (rate << sys::TG_TIDE_Q) / 1_000;
    let bytes = (rate * 5_000) >> sys::TG_TIDE_Q;
    sys::tg_tide {
        state: sys::TG_TIDE_RUNNING,
        arrived_us: 50_000_000,
        h_us: 40_000,
        m: rate as i64,
        link_rate: rate as i64,
        forecast: [rate as i64; 8],
        bytes: [bytes; 8],
        sum: 8 * bytes,
        sum_us: 40_000,
        width_us: [5_000; 8],
        epoch_us: 40_000,
        mss: 1448,
        ..Default::default()
    }
}

/// A flow that enters a group brings its rate into the record; a flow that leaves takes along what it got. The queue
/// that the group saw above the flow's floor is subtracted from the flow's lag, and added again.
#[test]
fn what_a_flow_brings_to_its_group_it_takes_with_it() {
    let mut interface = sys::tg_interface::default();
    interface.group[3].name = 9;
    interface.group[3].shared = 1;
    interface.group[3].record = record(2_000);
    let mut sharing = sys::tg_sharing {
        flow: 2,
        ..Default::default()
    };
    sharing.comparisons[3].name = 9;
    sharing.comparisons[3].bias_us = -6_000;
    let mut share = sys::tg_share {
        h_us: 46_000,
        was: 20_000,
        ..Default::default()
    };
    let mut own = record(500);
    let arrival = sys::tg_arrival {
        now_us: 50_001_000,
        ..Default::default()
    };
    let rate = |t: &sys::tg_tide| ((t.m as u64 * 1_000) >> sys::TG_TIDE_Q).div_ceil(10) * 10;
    let carried = |t: &sys::tg_tide| t.sum.div_ceil(100) * 100;
    // SAFETY: the records are exclusively ours.
    unsafe { sys::tg_group_enter(&mut interface, &mut share, &mut sharing, &own, 3, &arrival) };
    let group = &interface.group[3].record;
    assert_eq!((rate(group), carried(group)), (2_500, 100_000));
    assert_eq!(
        (sharing.joined, sharing.offset_us, share.h_us),
        (1, 6_000, 40_000)
    );
    assert_eq!(
        group.bottlenecked_weight, 1,
        "its part is known to the others at once"
    );
    // SAFETY: as above.
    unsafe { sys::tg_group_leave(&mut interface, &mut share, &mut sharing, &mut own, &arrival) };
    let group = &interface.group[3].record;
    assert_eq!((rate(group), carried(group)), (2_000, 80_000));
    assert_eq!(rate(&own), 500);
    assert_eq!(own.state, sys::TG_TIDE_RUNNING);
    assert_eq!(
        (sharing.joined, sharing.offset_us, share.h_us),
        (0, 0, 46_000)
    );
}

/// A flow whose place was given to others begins anew: nothing of what it knew of its group is left.
#[test]
fn who_has_lost_its_place_begins_anew() {
    let mut interface = sys::tg_interface::default();
    interface.group[0].name = 7;
    let mut sharing = sys::tg_sharing {
        flow: 1,
        name: 5,
        joined: 1,
        offset_us: 50_000,
        ..Default::default()
    };
    let mut share = sys::tg_share {
        risen_us: 60_000,
        epoch: 900,
        bottlenecked_epoch: 900,
        h_us: 40_000,
        ..Default::default()
    };
    let mut own = sys::tg_tide::default();
    let arrival = sys::tg_arrival::default();
    // SAFETY: the records are exclusively ours.
    unsafe { sys::tg_group_settle(&mut interface, &mut share, &mut sharing, &mut own, &arrival) };
    assert_eq!((sharing.name, sharing.joined, sharing.offset_us), (0, 0, 0));
    assert_eq!(
        (
            share.risen_us,
            share.epoch,
            share.bottlenecked_epoch,
            share.h_us
        ),
        (0, 0, 0, 90_000)
    );
}

/// A flow in no group, whose place others have made a group.
fn founder(interface: &mut sys::tg_interface) -> sys::tg_sharing {
    interface.last = 1;
    interface.names = 3;
    interface.group[0].name = 2;
    interface.group[0].shared = 1;
    interface.group[0].reporter = 1;
    interface.group[0].record = record(2_000);
    sys::tg_sharing {
        flow: 2,
        name: 2,
        ..Default::default()
    }
}

/// Another flow has made the place of a flow that was still starting a group. When that flow knows its link it finds a
/// group that it belongs to, this or another; the place stays the first one's.
#[test]
fn who_still_started_does_not_give_up_the_group_that_was_made_of_its_place() {
    for (found, name) in [(0, 2), (1, 3)] {
        let mut interface = sys::tg_interface::default();
        let mut sharing = founder(&mut interface);
        let now_us = 50_001_000_u32;
        interface.published = found as u32;
        interface.places = 1;
        interface.group[found].name = name;
        interface.group[found].shared = 1;
        interface.group[found].reporter = 1;
        interface.group[found].record = record(2_000);
        interface.group[found].samples[(now_us >> sys::TG_DELAY_SAMPLE_SHIFT) as usize % 64] =
            sys::tg_delay_sample {
                us: now_us,
                flow: 1,
                ..Default::default()
            };
        sharing.comparisons[found].name = name;
        sharing.comparisons[found].flow = 1;
        sharing.comparisons[found].score = sys::TG_SHARING_PROOF as i16;
        let mut share = sys::tg_share {
            h_us: 40_000,
            ..Default::default()
        };
        let mut own = record(500);
        let mut arrival = sys::tg_arrival {
            now_us: now_us.into(),
            met_us: now_us,
            ..Default::default()
        };
        // SAFETY: the records are exclusively ours.
        unsafe {
            sys::tg_group_compare(
                &mut interface,
                &mut share,
                &mut sharing,
                &mut own,
                &mut arrival,
                1 << 20,
            );
        }
        assert_eq!(interface.group[0].name, 2, "it is the others' still");
        let stands = (sharing.joined, sharing.name, sharing.place);
        assert_eq!(stands, (1, name, found as u32));
    }
}

/// The group of its place is invited to another before the flow knows its link: it takes nothing from a group that it
/// was not in.
#[test]
fn who_still_started_follows_an_invitation_of_the_group_that_was_made_of_its_place() {
    let mut interface = sys::tg_interface::default();
    let mut sharing = founder(&mut interface);
    interface.group[0].invited = 3;
    interface.group[0].invited_place = 1;
    interface.group[1].name = 3;
    interface.group[1].shared = 1;
    interface.group[1].reporter = 4;
    interface.group[1].record = record(1_000);
    let mut share = sys::tg_share {
        h_us: 40_000,
        was: 20_000,
        ..Default::default()
    };
    let mut own = record(500);
    let arrival = sys::tg_arrival {
        now_us: 50_001_000,
        ..Default::default()
    };
    // SAFETY: the records are exclusively ours.
    unsafe { sys::tg_group_settle(&mut interface, &mut share, &mut sharing, &mut own, &arrival) };
    assert_eq!((sharing.joined, sharing.name, sharing.place), (1, 3, 1));
    let carried = |place: usize| interface.group[place].record.sum.div_ceil(100) * 100;
    assert_eq!((carried(0), carried(1)), (80_000, 60_000));
}
