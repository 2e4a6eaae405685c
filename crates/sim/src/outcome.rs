//! Turns the records of a run into the result schema.

use crate::applications::{Flow, Sample};
use crate::cake::Cake;
use crate::network::{DOWN, MeasuredLink, Network, UP};
use crate::own;
use crate::settings::congestion_control;
use crate::world::World;
use tidegate_basics::time::Instant;
use tidegate_link::Capacity;
use tidegate_measure::{Window, curve, link_curves, ms, ratio};
use tidegate_scenario::{
    CakeResult, Health, HopResult, LinkResult, Run, RunResult, Scenario, Series, ShapedResult,
};

/// The result of a run, with its curves if `series`.
pub fn result(mut world: World, scenario: &Scenario, run: &Run, series: bool) -> RunResult {
    let window = world.window;
    for measured in &mut world.network.links {
        measured.link.assert_sound();
        measured.record.at_end = *measured.link.stats();
    }
    let link = |measured: &MeasuredLink| link(measured, window);
    let links = &world.network.links;
    let hops = scenario.hops.iter().zip(&links[UP + 1..]);
    let mut result = RunResult {
        name: run.name.clone(),
        law: run.law,
        congestion_control: congestion_control(&scenario.hosts, run).into(),
        link: link(&links[DOWN]),
        uplink: link(&links[UP]),
        hops: hops
            .map(|(hop, measured)| HopResult {
                name: hop.name.clone(),
                link: link(measured),
            })
            .collect(),
        cake: world
            .network
            .cake
            .as_ref()
            .map(|cake| shaped(cake, links, window)),
        held: world.network.windowless.results(),
        // In virtual time nothing is late, and no packet is lost outside the links.
        health: Health::default(),
        ..RunResult::default()
    };
    if let Some(own) = world.hosts.own() {
        own::name(own.as_ref(), &mut result);
    }
    if series {
        result.series = curves_of_links(&world.network, window);
        result
            .series
            .extend(world.network.cake.iter().flat_map(Cake::curves));
    }
    for scheduled in &mut world.applications {
        scheduled
            .application
            .report(&world.hosts, scheduled.stop, &mut result);
        if let Some(flow) = scheduled.application.flow() {
            result.series.extend(curves_of_flow(flow));
        }
    }
    result
}

fn link(measured: &MeasuredLink, window: Window) -> LinkResult {
    measured
        .record
        .result(&measured.config, window.end - window.warmup)
}

fn shaped(cake: &Cake, links: &[MeasuredLink], window: Window) -> CakeResult {
    let [down, up] = [0, 1].map(|direction| {
        let link = link(&links[cake.shapers[direction]], window);
        ShapedResult {
            rate_bps: cake.mean_bps(direction, window),
            queue_delay_ms: link.queue_delay_ms,
            drops: link.drops,
            marks: link.marks,
        }
    });
    CakeResult { down, up }
}

fn curves_of_links(network: &Network, window: Window) -> Vec<Series> {
    let [down, up] = [DOWN, UP].map(|number| &network.links[number]);
    let mut capacity = Capacity::new(&down.config.rate);
    match (&down.record.bins, &up.record.bins) {
        (Some(down), Some(up)) => link_curves(down, up, &mut capacity, window.end),
        _ => Vec::new(),
    }
}

/// A flow's curves.
///
/// | quantity | what |
/// | --- | --- |
/// | `rtt_ms` | the sender's smoothed RTT |
/// | `agent_rtt_ms` | the last round trip that the law at the receiver's edge has measured |
/// | `timeouts` | retransmission timeouts so far |
/// | `cwnd_packets`, `window_bytes` | congestion window; window advertised by the receiver |
/// | `goodput_bps` | payload delivered to the application |
fn curves_of_flow(flow: &Flow) -> Vec<Series> {
    let samples = &flow.samples;
    let of = |value: fn(&Sample) -> Option<f64>| -> Vec<(Instant, f64)> {
        let points = samples.iter();
        points.filter_map(|s| Some((s.at, value(s)?))).collect()
    };
    let goodput = samples.windows(2).map(|w| (w[0].at, rate(&w[0], &w[1])));
    [
        ("rtt_ms", of(|s| s.srtt.map(ms))),
        ("agent_rtt_ms", of(|s| s.law_rtt.map(ms))),
        ("timeouts", of(|s| Some(s.timeouts as f64))),
        ("cwnd_packets", of(|s| Some(s.cwnd.into()))),
        ("window_bytes", of(|s| Some(s.peer_window as f64))),
        ("goodput_bps", goodput.collect()),
    ]
    .into_iter()
    .filter(|(_, points)| !points.is_empty())
    .map(|(quantity, points)| curve(quantity, &flow.name, points))
    .collect()
}

fn rate(before: &Sample, after: &Sample) -> f64 {
    let bits = (after.received - before.received) as f64 * 8.0;
    ratio(bits, (after.at - before.at).as_secs_f64())
}
