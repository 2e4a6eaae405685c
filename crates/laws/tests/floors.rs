//! How `tide` keeps its floors: how they rise, and how floors that hide a queue are found. The test drives the path
//! packet by packet, and chooses its delays.

use tidegate_laws::sys;

const MSS: u32 = 1448;
/// Base round trip, and a segment's time at the full rate.
const RTT_US: u32 = 40_000;
const GAP_US: u64 = 1_000;

/// A path and its flows. The first packet arrives at 100 s: no time is near its zero.
struct Host {
    path: sys::tg_tide,
    flows: Vec<sys::tg_share>,
    /// By how much each flow's floor has risen.
    risen_us: Vec<u32>,
    now_us: u64,
    /// By how much the next packet lowers its flow's floor.
    falls_us: u32,
    /// Base round trip.
    rtt_us: u32,
    /// Uploads of our own share the way back.
    uploading: bool,
}

impl Host {
    fn new(flows: usize) -> Self {
        Self {
            path: sys::tg_tide::default(),
            flows: vec![sys::tg_share::default(); flows],
            risen_us: vec![0; flows],
            now_us: 100_000_000,
            falls_us: 0,
            rtt_us: RTT_US,
            uploading: false,
        }
    }

    /// A segment of `flow` arrives after `gap_us`, `queue_us` above its first floor.
    fn receive(&mut self, flow: usize, gap_us: u64, queue_us: u32) {
        self.now_us += gap_us;
        let mut arrival = sys::tg_arrival {
            now_us: self.now_us,
            len: MSS,
            mss: MSS,
            sample_us: self.rtt_us + queue_us,
            echo_us: self.rtt_us + queue_us,
            rtt_min_us: self.rtt_us,
            queue_us: queue_us.saturating_sub(self.risen_us[flow]),
            fell_us: std::mem::take(&mut self.falls_us),
            lag_us: 0,
            uploading: self.uploading.into(),
            ..Default::default()
        };
        let share = &mut self.flows[flow];
        // SAFETY: the records are exclusively ours.
        unsafe {
            let rise_us = sys::tg_tide_rise(&raw const self.path, share);
            self.risen_us[flow] += rise_us;
            arrival.queue_us -= rise_us.min(arrival.queue_us);
            arrival.lag_us = arrival.sample_us - arrival.queue_us;
            sys::tg_tide_arrived(&mut self.path, share, &arrival);
        }
    }

    /// The first flow alone, for `us`.
    fn alone(&mut self, us: u64, gap_us: u64, queue_us: u32) {
        let end_us = self.now_us + us;
        while self.now_us < end_us {
            self.receive(0, gap_us, queue_us);
        }
    }

    /// A full link with a queue of 20 ms, which then runs empty at the same rate.
    fn running(flows: usize) -> Self {
        let mut host = Self::new(flows);
        host.alone(200_000, GAP_US, 20_000);
        assert_eq!(host.path.state, sys::TG_TIDE_RUNNING);
        host.alone(200_000, GAP_US, 500);
        host
    }

    /// A delay that was taken for queue is found to be path.
    fn raise(&mut self, by_us: u32) {
        // SAFETY: the record is exclusively ours.
        unsafe { sys::tg_tide_raise_floors(&raw mut self.path, by_us) };
    }

    /// The path's window in bytes.
    fn window(&self) -> u32 {
        // SAFETY: the record is only read.
        unsafe { sys::tg_tide_window(&self.path, self.path.h_us, self.path.m) }
    }

    fn rechecking(&self) -> bool {
        self.path.state == sys::TG_TIDE_RECHECKING
    }
}

const LEVEL_US: u32 = 60_000;

/// The start ends when a queue has stood for a whole lag, and not a bucket before.
#[test]
fn a_queue_that_stands_for_a_lag_ends_the_start() {
    let mut host = Host::new(1);
    host.alone(500_000, GAP_US, 500);
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    // The bucket that is open holds empty-queue packets still.
    let bucket_us = u64::from(RTT_US) / 8;
    host.alone(8 * bucket_us, GAP_US, 20_000);
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    host.alone(bucket_us, GAP_US, 20_000);
    assert_eq!(host.path.state, sys::TG_TIDE_RUNNING);
}

/// The route has become longer: each flow's floor follows once, and its lag gains what its queue loses.
#[test]
fn a_rise_reaches_each_flow_once() {
    let mut host = Host::running(2);
    host.receive(1, GAP_US, 500);
    let before = host.path.h_us;
    host.raise(LEVEL_US);
    assert_eq!(host.path.h_us, before + LEVEL_US);
    for _ in 0..100 {
        host.receive(0, GAP_US, LEVEL_US);
        host.receive(1, GAP_US, LEVEL_US);
    }
    assert_eq!(host.risen_us, [LEVEL_US, LEVEL_US]);
    for lag_us in [host.path.h_us, host.flows[0].h_us, host.flows[1].h_us] {
        // The empty queue's half millisecond was no part of the lag.
        assert!(lag_us.abs_diff(RTT_US + LEVEL_US) <= 1_000, "{lag_us}");
    }
}

/// Less came than the link carries, for want of window: the old floor was too low.
#[test]
fn a_rise_restores_what_was_known_of_the_link() {
    let mut host = Host::running(1);
    let known = host.path.link_rate;
    host.alone(300_000, 2 * GAP_US, LEVEL_US);
    assert!(host.path.m < known * 3 / 4, "{} of {known}", host.path.m);
    host.raise(LEVEL_US);
    assert_eq!(host.path.m, known);
    let carries = (known as u64 * u64::from(host.path.h_us)) >> sys::TG_TIDE_Q;
    assert!(u64::from(host.window()) >= carries);
}

/// A floor that falls by much hid a queue: the window of half the lag is tried for two round trips, and again for as
/// long as the floor then falls further. A small fall is no reason.
#[test]
fn a_floor_that_falls_is_looked_under() {
    let mut host = Host::running(1);
    let fall = |host: &mut Host, us| {
        assert!(!host.rechecking(), "the last one is over");
        host.falls_us = us;
        host.receive(0, GAP_US, 4_000);
        host.rechecking()
    };
    // An eighth of 40 ms is less than 8 ms.
    assert!(!fall(&mut host, 8_000));
    host.alone(200_000, GAP_US, 4_000);
    assert!(!fall(&mut host, 5_000));
    assert!(fall(&mut host, 5_000), "10 ms in one round trip");
    let half = f64::from(host.window()) / f64::from(MSS * RTT_US / 1_000 / 2);
    assert!((0.8..1.2).contains(&half), "{half}");
    let end_us = host.path.recheck_end_us;
    host.falls_us = 9_000;
    host.alone(end_us - host.now_us, GAP_US, 4_000);
    assert!(host.rechecking(), "it fell further");
    assert!(host.path.recheck_end_us > end_us);
    host.alone(200_000, GAP_US, 4_000);
    assert_eq!(host.path.state, sys::TG_TIDE_RUNNING);
}

/// A sender whose clock swings can make its floor fall as often as it likes. Rechecks take a sixteenth of the time, and
/// eight may follow one another before that.
#[test]
fn a_floor_that_falls_for_ever_is_looked_under_now_and_then() {
    let mut host = Host::running(1);
    let (began_us, mut slowed_us) = (host.now_us, 0);
    while host.now_us < began_us + 100_000_000 {
        host.falls_us = 9_000;
        host.receive(0, GAP_US, 4_000);
        slowed_us += if host.rechecking() { GAP_US } else { 0 };
    }
    let two_lags_us = 2 * u64::from(RTT_US);
    let most_us = 100_000_000 / 16 + 9 * two_lags_us;
    assert!(slowed_us < most_us, "{slowed_us} of {most_us}");
    assert!(slowed_us > most_us / 2, "{slowed_us} of {most_us}");
}

/// If the lag collapses after the first fall, half of the old lag is more than all of the new one: then the window is
/// for no more than the present lag, and the recheck takes two of the short round trips.
#[test]
fn a_lag_that_collapses_is_looked_under_as_it_is_by_then() {
    let mut host = Host::running(1);
    host.rtt_us = 10 * RTT_US;
    host.alone(4_000_000, GAP_US, 4_000);
    let long_us = host.path.h_us;
    assert!(long_us > 9 * RTT_US, "{long_us}");
    host.rtt_us = RTT_US;
    host.falls_us = 9 * RTT_US;
    let began_us = host.now_us;
    host.receive(0, GAP_US, 4_000);
    while host.rechecking() {
        let lag = (host.path.m as u64 * u64::from(host.path.h_us)) >> sys::TG_TIDE_Q;
        let window = u64::from(host.window());
        assert!(window <= lag.max(u64::from(5 * MSS)), "{window} for {lag}");
        host.receive(0, GAP_US, 4_000);
    }
    let took_us = host.now_us - began_us;
    let half_us = u64::from(long_us / 2);
    assert!(took_us < 3 * half_us, "{took_us} of {half_us}");
    assert!(host.path.h_us < 2 * RTT_US, "{}", host.path.h_us);
}

/// The uplink's queue lengthens the lag fourfold. If it is our own uploads', the forecast is for all of the lag and the
/// margin for the lag as it was before; if the queue stays for eight seconds, it counts as path.
#[test]
fn beside_uploads_the_margin_is_for_the_least_lag() {
    let after = |uploading, us| {
        let mut host = Host::running(1);
        host.alone(10_000_000, GAP_US, 4_000);
        host.uploading = uploading;
        host.rtt_us = 4 * RTT_US;
        host.alone(us, GAP_US, 4_000);
        let forecast = (host.path.m as u64 * u64::from(host.path.h_us)) >> sys::TG_TIDE_Q;
        (u64::from(host.window() - MSS) - forecast, host)
    };
    let (all, alone) = after(false, 2_000_000);
    let (least, both) = after(true, 2_000_000);
    assert_eq!(alone.path.h_us, both.path.h_us);
    let ratio = all as f64 / least as f64;
    assert!((3.5..4.5).contains(&ratio), "{all} and {least}");
    let (all, _) = after(false, 9_000_000);
    let (least, _) = after(true, 9_000_000);
    assert_eq!(all, least);
}

/// One flow gets four parts where another gets one.
#[test]
fn flows_share_by_weight() {
    let mut host = Host::new(2);
    host.flows[0].weight = 4;
    for _ in 0..2_000 {
        host.receive(0, GAP_US / 2, 20_000);
        host.receive(1, GAP_US / 2, 20_000);
    }
    // SAFETY: the records are exclusively ours.
    let [front, back] =
        [0, 1].map(|flow| unsafe { sys::tg_tide_share(&host.path, &host.flows[flow]) });
    let ratio = f64::from(front) / f64::from(back);
    assert!((ratio - 4.0).abs() < 0.1, "{front} and {back}");
}

/// After idleness the window is not the kernel's: it is the remembered one, or four times what comes in a lag.
#[test]
fn after_idleness_the_window_is_remembered_or_grows() {
    let mut host = Host::running(1);
    let remembered = host.window();
    host.receive(0, 11_000_000, 500);
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    assert!(host.window().abs_diff(remembered) < remembered / 8);
    host.alone(2 * u64::from(RTT_US), GAP_US / 4, 500);
    let came = RTT_US / (GAP_US as u32 / 4) * MSS;
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    assert!((3 * came..=5 * came).contains(&host.window()));
}
