//! mPath transfers over links and proxies.

mod common;

use common::{assert_near, flow, run, try_run};

/// A sender behind 20 Mbit/s, a core link of 10 and a detour of 8, 100 ms there and back.
fn scenario(seconds: f64, access: f64, proxies: &str, more: &str) -> String {
    format!(
        "duration_s = {seconds}
         warmup_s = 10
         down = {{ rate = {{ constant_mbps = {access} }}, delay_ms = 10, queue = {{ packets = 30 }} }}
         up = {{ rate = {{ constant_mbps = 100 }}, delay_ms = 50 }}
         run = [{{ name = 'reno', congestion_control = 'reno' }}]
         workload = [
           {{ name = 'transfer', links = ['core', 'down', 'up'], does = {{ mpath = {{ proxies = [{proxies}] }} }} }},
           {more}
         ]
         [[hop]]
         name = 'core'
         side = 'client'
         link = {{ rate = {{ constant_mbps = 10 }}, delay_ms = 40, queue = {{ packets = 30 }} }}
         [[hop]]
         name = 'round'
         side = 'client'
         link = {{ rate = {{ constant_mbps = 8 }}, delay_ms = 40, queue = {{ packets = 30 }} }}"
    )
}

const ROUND: &str = "{ name = 'round', links = ['down', 'round'] }";
const DEAD: &str = "{ name = 'dead', links = [] }";

/// Payload of a direct packet: 1380 bytes in 1444.
const PAYLOAD: f64 = 1380.0 / 1444.0;

#[test]
fn alone_it_is_a_tcp() {
    let run = run(&scenario(60.0, 20.0, "", ""));
    let goodput = flow(&run, "transfer").goodput_bps;
    assert!(
        (0.8..1.0).contains(&(goodput / (10e6 * PAYLOAD))),
        "{goodput}"
    );
    assert_eq!(run.transfers[0].usable_proxies, 0);
}

#[test]
fn a_way_round_the_core_link_adds_to_it() {
    let run = run(&scenario(90.0, 30.0, &format!("{ROUND}, {DEAD}"), ""));
    let goodput = flow(&run, "transfer").goodput_bps;
    assert!(goodput > 1.4 * 10e6 * PAYLOAD, "{goodput}");
    // The dead proxy has been found out.
    assert_eq!(run.transfers[0].usable_proxies, 1);
    assert!(run.transfers[0].most_waiting_bytes < 2_000_000);
}

#[test]
fn beside_tcp_on_the_core_link_it_leaves_more_than_half() {
    let tcp = "{ name = 'tcp', links = ['core', 'down', 'up'], does = { bulk = {} } }";
    let run = run(&scenario(120.0, 30.0, ROUND, tcp));
    let share = flow(&run, "tcp").goodput_bps / 10e6;
    assert!(share > 0.5, "{share}");
}

/// If both paths cross the core link, mPath finds that they share it, and TCP keeps the goodput that it has beside
/// mPath without a proxy.
#[test]
fn beside_tcp_two_ways_over_one_link_are_as_one() {
    let tcp = "{ name = 'tcp', links = ['core', 'down', 'up'], does = { bulk = {} } }";
    let same = "{ name = 'same', links = ['down', 'core'] }";
    let share = |proxies, detection: &str| {
        let text = scenario(300.0, 30.0, proxies, tcp);
        let text = text.replace(
            "proxies =",
            &format!("detection = '{detection}', proxies ="),
        );
        flow(&run(&text), "tcp").goodput_bps / 10e6
    };
    let [alone, ours, thesis] = [
        share("", "queues"),
        share(same, "queues"),
        share(same, "loss_intervals"),
    ];
    assert!(ours > 0.9 * alone, "{ours} of {alone}");
    assert!(ours > thesis + 0.02, "{ours}, {thesis}");
}

/// The same seed gives the same bytes, and looking does not change them.
#[test]
fn a_run_is_its_seed() {
    let text = scenario(20.0, 20.0, &format!("{ROUND}, {DEAD}"), "");
    let bytes = |text: &str, series| {
        let mut set = try_run(text, series).unwrap();
        set.runs[0].series.clear();
        serde_json::to_string(&set).unwrap()
    };
    assert_eq!(bytes(&text, true), bytes(&text, false));
    assert_ne!(
        bytes(&text, true),
        bytes(&format!("seed = 2\n{text}"), true)
    );
}

#[test]
fn the_paths_together_deliver_the_stream() {
    let set = try_run(&scenario(40.0, 30.0, ROUND, ""), true).unwrap();
    let run = &set.runs[0];
    let rate = |flow: &str, quantity: &str| {
        let found = run
            .series
            .iter()
            .find(|s| s.flow == flow && s.quantity == quantity);
        let series = found.unwrap_or_else(|| panic!("{flow} {quantity}"));
        let late = series
            .t_s
            .iter()
            .zip(&series.value)
            .filter(|(t, _)| **t > 20.0);
        late.map(|(_, value)| value).sum::<f64>() / 200.0
    };
    let paths = rate("transfer direct", "path_bps") + rate("transfer round", "path_bps");
    assert_near(paths, rate("transfer", "goodput_bps"), 0.03);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let far = "{ name = 'far', links = ['nowhere'] }";
    for (text, complaint) in [
        (
            scenario(20.0, 20.0, far, ""),
            "way \"far\": no link down is named \"nowhere\"",
        ),
        (
            scenario(20.0, 20.0, &format!("{ROUND}, {ROUND}"), ""),
            "two proxies are named \"round\"",
        ),
        (
            scenario(20.0, 20.0, ROUND, "").replace("proxies =", "alpha = 2, proxies ="),
            "mpath.alpha is 2",
        ),
    ] {
        let error = format!("{:#}", try_run(&text, false).unwrap_err());
        assert!(error.contains(complaint), "{error}");
    }
}
