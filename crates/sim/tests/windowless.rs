//! Traffic without a window: the client holds packets that leave for its downloads and uploads, and for nothing else.

mod common;

use common::{flow, run, try_run};
use tidegate_scenario::{HeldResult, RunResult};

const STEADY: &str = "constant_mbps = 20";
const LTE: &str = "generate = { kind = 'lte', seed = 1 }";

const DOWNLOAD: &str = "{ name = 'download', windowless = true, does = { bulk = {} } }";

/// The run without a law.
const LINUX: &str = "name = 'linux'";
const HOLD: &str = "name = 'hold', law = 'tide', udp = 'hold'";

/// A minute of these workloads over a deep queue, 25 ms each way, by one run.
fn scenario(rate: &str, workloads: &str, run: &str) -> String {
    format!(
        "duration_s = 60
         warmup_s = 10
         down = {{ rate = {{ {rate} }}, delay_ms = 25, queue = {{ packets = 2000 }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 25, queue = {{ packets = 1000 }} }}
         run = [{{ {run} }}]
         workload = [{workloads}]\n"
    )
}

fn outcome(rate: &str, workloads: &str, by: &str) -> RunResult {
    run(&scenario(rate, workloads, by))
}

fn held<'a>(run: &'a RunResult, name: &str) -> &'a HeldResult {
    let found = run.held.iter().find(|held| held.name == name);
    found.unwrap_or_else(|| panic!("nothing is known of {name}: {:?}", run.held))
}

/// The whole result of a run, curves included, without its name.
fn everything(rate: &str, workloads: &str, by: &str) -> String {
    let set = try_run(&scenario(rate, workloads, by), true).unwrap_or_else(|e| panic!("{e:#}"));
    let mut runs = set.runs;
    runs[0].name.clear();
    serde_json::to_string(&runs).unwrap()
}

#[test]
fn a_held_download_keeps_its_goodput_without_the_queue() {
    // On a cell whose rate rises, a sender that paces itself follows a quarter a round trip.
    for (rate, least, most) in [(STEADY, 0.95, 0.1), (LTE, 0.8, 0.2)] {
        let [linux, hold] = [LINUX, HOLD].map(|by| outcome(rate, DOWNLOAD, by));
        let goodput = |run: &RunResult| flow(run, "download").goodput_bps;
        let [before, after] = [&linux, &hold].map(|run| run.link.queue_delay_ms);
        let came = goodput(&hold) / goodput(&linux);
        assert!(came > least, "{rate}: {came}");
        assert!(
            after.mean < before.mean / 12.0,
            "{rate}: {after:?}, {before:?}"
        );
        assert!(
            after.p95 < before.p95 * most,
            "{rate}: {after:?}, {before:?}"
        );
        let held = held(&hold, "download");
        // Nothing waits before two answers; on a cell one is missed now and then.
        assert!(held.held > held.left / 3, "{rate}: {held:?}");
        // CUBIC's window needs a signal now and then, but seldom.
        assert!(
            held.signalled > 0 && held.signalled < held.arrived / 1000,
            "{rate}: {held:?}"
        );
    }
}

#[test]
fn held_downloads_together_fill_a_cell() {
    let together = DOWNLOAD.replace("bulk = {}", "bulk = { flows = 2 }");
    let cells = [1, 2, 3].map(|seed| format!("generate = {{ kind = 'lte', seed = {seed} }}"));
    let parts = cells.map(|cell| {
        let [linux, hold] = [LINUX, HOLD].map(|by| outcome(&cell, &together, by).link);
        let [before, after] = [&linux, &hold].map(|link| link.queue_delay_ms.mean);
        assert!(after < before / 10.0, "{cell}: {after} of {before} ms");
        hold.delivered_bps / linux.delivered_bps
    });
    let mean = parts.iter().sum::<f64>() / parts.len() as f64;
    assert!(mean > 0.95, "{parts:?}");
}

#[test]
fn nothing_waits_longer_than_two_seconds() {
    // The data stop while packets wait for them.
    let stops = "steps = [[0, 20], [30, 0], [35, 20]]";
    let waits = held(&outcome(stops, DOWNLOAD, HOLD), "download").wait_ms;
    assert!((1900.0..=2001.0).contains(&waits.max), "{waits:?}");
}

/// A call, a game, a video call (1.2 Mbit/s there and back), exchanges: of 100 packets and more none waits, none is
/// signalled.
const TALK: &str = "
    { name = 'call', windowless = true, does = { ping = { interval_ms = 20, packet_bytes = 250 } } },
    { name = 'game', windowless = true, does = { ping = { interval_ms = 33.3, packet_bytes = 100 } } },
    { name = 'video', windowless = true, does = { ping = { interval_ms = 8, packet_bytes = 1200 } } },
    { name = 'asks', windowless = true, does = { web = { object_bytes = [200], pause_s = 0.5 } } }";

fn assert_untouched(run: &RunResult, names: &[&str]) {
    for name in names {
        let held = held(run, name);
        assert!(held.arrived + held.left > 100, "{held:?}");
        assert_eq!((held.held, held.signalled), (0, 0), "{held:?}");
    }
}

#[test]
fn calls_games_and_exchanges_neither_wait_nor_are_signalled() {
    let datagrams = "
        { name = 'down', windowless = true, does = { datagrams = { mbps = 1 } } },
        { name = 'up', windowless = true, does = { datagrams = { direction = 'up', mbps = 1 } } }";
    let run = outcome(LTE, &format!("{DOWNLOAD}, {TALK}, {datagrams}"), HOLD);
    assert!(held(&run, "download").held > 0);
    assert_untouched(&run, &["call", "game", "video", "down", "up", "asks"]);
}

const UPLOAD: &str =
    "{ name = 'upload', windowless = true, does = { bulk = { direction = 'up' } } }";

/// A minute of an upload over that uplink by one run, beside others.
fn upload(rate: &str, others: &str, by: &str) -> RunResult {
    run(
        &scenario("constant_mbps = 50", &format!("{UPLOAD}{others}"), by).replace(
            "rate = { constant_mbps = 5 }",
            &format!("rate = {{ {rate} }}"),
        ),
    )
}

#[test]
fn a_held_upload_keeps_its_goodput_without_the_queue() {
    for rate in ["constant_mbps = 5", STEADY, LTE] {
        for sender in ["cubic", "reno", "bbr"] {
            let [linux, hold] = [LINUX, HOLD]
                .map(|by| upload(rate, "", &format!("{by}, congestion_control = '{sender}'")));
            let goodput = |run: &RunResult| flow(run, "upload").goodput_bps;
            let kept = goodput(&hold) / goodput(&linux);
            assert!(kept > 0.93, "{rate}, {sender}: {kept}");
            let [before, after] = [&linux, &hold].map(|run| run.uplink.queue_delay_ms);
            // BBR leaves less to gain.
            let most = if sender == "bbr" { 1.4 } else { 0.15 };
            let means = [before, after].map(|delay| delay.mean);
            assert!(means[1] < most * means[0], "{rate}, {sender}: {means:?}");
            let held = held(&hold, "upload");
            assert!(
                held.signalled < held.left / 500,
                "{rate}, {sender}: {held:?}"
            );
        }
    }
}

#[test]
fn who_talks_beside_a_held_upload_neither_waits_nor_stands_in_its_queue() {
    // When a cell fades suddenly, packets in flight end up in the queue, whatever is held.
    for (rate, most) in [("constant_mbps = 5", 0.1), (STEADY, 0.1), (LTE, 0.3)] {
        let [linux, hold] = [LINUX, HOLD].map(|by| upload(rate, &format!(", {TALK}"), by));
        assert!(held(&hold, "upload").held > 0);
        assert_untouched(&hold, &["call", "game", "video", "asks"]);
        for name in ["call", "game", "video"] {
            let [before, after] = [&linux, &hold].map(|run| flow(run, name).rtt_ms.p99 - 50.0);
            println!("{rate}, {name}: {after} ms of {before}");
            assert!(after < most * before, "{rate}, {name}: {after}, {before}");
        }
    }
}

/// A level of delay that only waits for more room than a probe gives is not the path's: at some of these base RTTs it
/// was mistaken for it.
#[test]
fn a_held_upload_does_not_take_its_own_queue_for_path() {
    for delay_ms in [5, 10, 18, 20] {
        let text = scenario("constant_mbps = 50", UPLOAD, HOLD).replace(
            "constant_mbps = 5 }, delay_ms = 25",
            &format!("{STEADY} }}, delay_ms = {delay_ms}"),
        );
        let delay = run(&text).uplink.queue_delay_ms;
        assert!(delay.p95 < 30.0, "{delay_ms} ms: {delay:?}");
    }
}

/// They share the uplink's record.
#[test]
fn a_held_upload_shares_with_one_that_has_a_window() {
    let other = ", { name = 'tcp', start_s = 5, does = { bulk = { direction = 'up' } } }";
    for rate in ["constant_mbps = 5", LTE] {
        let run = upload(rate, other, HOLD);
        let [ours, others] = ["upload", "tcp"].map(|name| flow(&run, name).goodput_bps);
        assert!(
            (0.75..1.33).contains(&(ours / others)),
            "{rate}: {ours}, {others}"
        );
    }
}

/// Its acknowledgements wait behind the upload.
#[test]
fn a_download_beside_a_held_upload_keeps_its_goodput() {
    let other = ", { name = 'tcp', does = { bulk = {} } }";
    let [linux, hold] = [LINUX, HOLD].map(|by| upload("constant_mbps = 1", other, by));
    let [before, after] = [&linux, &hold].map(|run| flow(run, "tcp").goodput_bps);
    assert!(after > 5.0 * before, "{after}, {before}");
}

#[test]
fn what_waits_of_an_upload_waits_for_two_seconds_at_most() {
    let run = upload("steps = [[0, 20], [30, 0], [35, 20]]", "", HOLD);
    let waits = held(&run, "upload").wait_ms;
    assert!((1900.0..=2001.0).contains(&waits.max), "{waits:?}");
}

#[test]
fn who_paces_itself_is_let_go() {
    for sender in ["bbr", "bbr3"] {
        let paced = format!("congestion_control = '{sender}'");
        let [linux, hold] =
            [LINUX, HOLD].map(|by| outcome(STEADY, DOWNLOAD, &format!("{by}, {paced}")));
        let goodput = |run: &RunResult| flow(run, "download").goodput_bps;
        assert!(goodput(&hold) > 0.95 * goodput(&linux), "{sender}");
        let [before, after] = [&linux, &hold].map(|run| run.link.queue_delay_ms.mean);
        assert!(after < 1.05 * before, "{sender}: {after}, {before}");
        let held = held(&hold, "download");
        assert!(held.held < held.left / 10, "{sender}: {held:?}");
    }
}

#[test]
fn what_is_turned_away_comes_with_a_window() {
    let fallback = "name = 'fallback', law = 'tide', udp = 'fallback'";
    let windowed = DOWNLOAD.replace("windowless = true,", "");
    assert_eq!(
        everything(LTE, DOWNLOAD, fallback),
        everything(LTE, &windowed, "name = 'tide', law = 'tide'")
    );
}

#[test]
fn what_is_left_alone_is_as_if_nobody_saw_it() {
    let left = everything(LTE, DOWNLOAD, "name = 'leave', law = 'tide', udp = 'leave'");
    let silent = "name = 'tide', law = 'tide'";
    assert_eq!(left, everything(LTE, DOWNLOAD, silent));
    let unseen = DOWNLOAD.replace("windowless = true", "windowless = true, steered = false");
    assert_eq!(left, everything(LTE, &unseen, silent));
}

#[test]
fn only_tide_holds() {
    for law in ["none", "drs", "drwa", "rledbat", "rsfc"] {
        let by = |udp: &str| format!("name = '{law}', law = '{law}', udp = '{udp}'");
        let [hold, leave] = ["hold", "leave"].map(|udp| everything(STEADY, DOWNLOAD, &by(udp)));
        assert_eq!(hold, leave, "{law}");
    }
}

#[test]
fn the_same_seed_is_held_the_same() {
    let beside = format!("{DOWNLOAD}, {{ name = 'tcp', start_s = 5, does = {{ bulk = {{}} }} }}");
    let once = everything(LTE, &beside, HOLD);
    assert_eq!(once, everything(LTE, &beside, HOLD));
    assert_ne!(
        once,
        everything(LTE, &beside, "name = 'tide', law = 'tide'")
    );
}
