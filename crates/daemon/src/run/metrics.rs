//! Metrics for Prometheus, in the OpenMetrics text format. The kernel's tables are read only when they are scraped.

use crate::service::Shared;
use crate::snapshot::Snapshot;
use anyhow::Result;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use tidegate_admission::Bounds;
use tidegate_admission::http::{Received, Refusal, Reply, Server, Service};
use tidegate_agent::{
    Carried, Direction, FlowView, GroupView, Histogram, Histograms, Holding, PathView, TableView,
    WindowlessView,
};
use tidegate_command::exit::BadInput;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// A flow that has had no packet for this long is not counted.
const LIVELY_US: u64 = 10_000_000;

/// How many scrapers may be connected at once.
const PLACES: Bounds = Bounds {
    all: 32,
    network: 16,
};

/// Serves the agent's metrics at `address` until the returned value is dropped; port 0 stands for any free port.
pub fn serve(address: SocketAddr, shared: &Shared) -> Result<Server> {
    let shared = shared.clone();
    let server = Server::start(address, PLACES, Exporter { shared })
        .map_err(|error| BadInput(format!("cannot serve metrics at {address}: {error}")))?;
    Ok(server)
}

struct Exporter {
    shared: Shared,
}

impl Service for Exporter {
    fn answer(&self, request: &Received, _: IpAddr) -> Reply {
        if request.path.split('?').next() != Some("/metrics") {
            return plain(404, "metrics are at /metrics\n");
        }
        if !["GET", "HEAD"].contains(&request.method.as_str()) {
            return plain(405, "expected GET\n");
        }
        let measured = self.shared.with(|watched| {
            Ok::<_, anyhow::Error>(Measured {
                snapshot: watched.snapshot()?,
                histograms: watched.agent.histograms()?,
            })
        });
        match measured {
            Some(Ok(measured)) => Reply {
                content_type: CONTENT_TYPE,
                ..plain(200, text(measured))
            },
            Some(Err(error)) => plain(500, format!("{error:#}\n")),
            None => plain(503, "ended\n"),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Reply {
        plain(refusal.status, format!("{}\n", refusal.why))
    }
}

fn plain(status: u16, text: impl Into<String>) -> Reply {
    Reply {
        status,
        content_type: "text/plain; charset=utf-8",
        headers: &[],
        body: text.into().into_bytes(),
    }
}

/// The data that are exported.
#[derive(Debug)]
pub struct Measured {
    /// The agent's state.
    pub snapshot: Snapshot,
    /// By [`Direction::ALL`].
    pub histograms: [Histograms; 2],
}

/// Encodes the metrics as text.
pub fn text(measured: Measured) -> String {
    let mut registry = Registry::with_prefix("tidegate");
    registry.register_collector(Box::new(measured));
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes anything");
    text
}

impl Collector for Measured {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let e = &mut encoder;
        self.agent(e)?;
        self.counts(e)?;
        self.tables(e)?;
        self.paths(e)?;
        self.flows(e)?;
        self.hold(e)?;
        self.compared(e)?;
        self.distributions(e)
    }
}

impl Measured {
    fn agent(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let agent = &self.snapshot.agent;
        e.encode_descriptor("build", "The agent", None, MetricType::Info)?
            .encode_info(&[("version", agent.version.as_str())])?;
        let help = "1 for the law in force";
        gauge(e, "law", help, None, [([("law", agent.law.name())], 1.0)])?;
        let help = "1 if the agent measures and changes nothing";
        let dry_run = f64::from(u8::from(agent.dry_run));
        single(e, "dry_run", help, None, dry_run)?;
        let help = "1 while somebody has it paused";
        let paused = f64::from(u8::from(agent.paused.is_some()));
        single(e, "paused", help, None, paused)?;
        let up_s = (self.snapshot.at_us - agent.since_us) as f64 * 1e-6;
        let help = "Since the agent was started";
        single(e, "uptime", help, Some(Unit::Seconds), up_s)?;
        let attached = agent.interfaces.iter();
        let attached = attached.map(|i| ([("interface", i.name.clone())], 1.0));
        let help = "1 for each interface that the programs are attached to";
        gauge(e, "attached", help, None, attached)
    }

    fn counts(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let counts = &self.snapshot.counts;
        let labels = |i: usize| {
            let count = &counts[i];
            [
                ("direction", count.direction.name().to_owned()),
                ("reason", count.reason.to_string()),
            ]
        };
        let packets = counts
            .iter()
            .enumerate()
            .map(|(i, c)| (labels(i), c.packets));
        let help = "Packets by what became of them, as merged by GRO and before segmentation; each \
                    counts once for each direction that is looked at";
        counter(e, "packets", help, None, packets)?;
        let bytes = counts.iter().enumerate().map(|(i, c)| (labels(i), c.bytes));
        let help = "Their bytes from the IP header on";
        counter(e, "packet", help, Some(Unit::Bytes), bytes)
    }

    fn tables(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let tables = &self.snapshot.tables;
        let label = |t: &TableView| [("direction", t.direction.name())];
        let help = "Flows that the table holds at most";
        let sizes = tables.iter().map(|t| (label(t), f64::from(t.size)));
        gauge(e, "table_size", help, None, sizes)?;
        let help = "Flows that the table holds";
        let used = tables.iter().map(|t| (label(t), f64::from(t.used)));
        gauge(e, "table_flows", help, None, used)?;
        let help = "Flows that others have pushed out of the table";
        let gone = tables.iter().map(|t| (label(t), t.pushed_out));
        counter(e, "table_pushed_out", help, None, gone)
    }

    fn paths(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let each = |value: &dyn Fn(&PathView) -> f64| {
            let of = self.snapshot.paths.iter();
            let of = of.map(|p| (self.path(p).to_vec(), value(p)));
            of.collect::<Vec<_>>()
        };
        let help = "Longest queueing delay among the last packets of the recently active flows";
        let values = each(&|p| seconds(p.queue_us));
        gauge(e, "path_queue", help, Some(Unit::Seconds), values)?;
        let help = "Flows that share no queue with others, as far as tide knows";
        let values = each(&|p| f64::from(p.alone));
        gauge(e, "path_flows_alone", help, None, values)?;
        self.groups(e)?;
        self.traffic(e)
    }

    fn groups(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let groups = self.snapshot.paths.iter().flat_map(|p| {
            let [interface, direction] = self.path(p);
            p.groups.iter().map(move |group| {
                let place = ("place", group.place.to_string());
                ([interface.clone(), direction.clone(), place], group)
            })
        });
        let groups: Vec<_> = groups.collect();
        let each = |value: &dyn Fn(&GroupView) -> f64| {
            let of = groups.iter().map(|(l, g)| (l.to_vec(), value(g)));
            of.collect::<Vec<_>>()
        };
        let help = "Flows that share a queue, as tide has found";
        let values = each(&|g| f64::from(g.flows));
        gauge(e, "group_flows", help, None, values)?;
        let help = "Queueing delay of the group's last measured packet";
        let values = each(&|g| seconds(g.record.queue_us));
        gauge(e, "group_queue", help, Some(Unit::Seconds), values)?;
        let help = "Round trip of the group's path without the queue";
        let values = each(&|g| seconds(g.record.lag_us));
        gauge(e, "group_lag", help, Some(Unit::Seconds), values)?;
        let help = "Forecast of what the group's link carries in a second";
        let rate = |g: &GroupView| match g.record.lag_us {
            0 => 0.0,
            lag_us => g.record.forecast_bytes as f64 / seconds(lag_us),
        };
        let unit = Unit::Other("bytes_per_second".into());
        gauge(e, "group_forecast", help, Some(unit), each(&rate))?;
        let help = "Flows that want more than they get, by weight";
        let values = each(&|g| f64::from(g.record.bottlenecked_flows));
        gauge(e, "group_bottlenecked_flows", help, None, values)?;
        let help =
            "1 while another machine fills the link, and the group competes for an even share";
        let values = each(&|g| f64::from(u8::from(g.record.competing_since_us.is_some())));
        gauge(e, "group_competing", help, None, values)?;
        let questions = groups.iter();
        let questions = questions.map(|(l, g)| (l.clone(), u64::from(g.record.questions)));
        let help = "Times that tide asked whose the group's queue is";
        counter(e, "group_questions", help, None, questions)
    }

    fn traffic(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let each = |value: fn(&Carried) -> u64| {
            let of = self.snapshot.paths.iter().flat_map(move |p| {
                let [interface, direction] = self.path(p);
                p.traffic.iter().map(move |carried| {
                    let kind = ("kind", carried.kind.to_string());
                    let ecn = ("ecn", carried.ecn.to_string());
                    let labels = [interface.clone(), direction.clone(), kind, ecn];
                    (labels, value(carried))
                })
            });
            of.collect::<Vec<_>>()
        };
        let help = "Packets on the wire that the interface has carried that way, by what they belong to \
                    and what their IP header says of congestion";
        counter(e, "traffic_packets", help, None, each(|c| c.packets))?;
        let help = "Their bytes from the IP header on";
        counter(e, "traffic", help, Some(Unit::Bytes), each(|c| c.bytes))
    }

    fn path(&self, path: &PathView) -> [(&'static str, String); 2] {
        let name = self.snapshot.agent.interface(path.ifindex);
        [
            ("interface", name),
            ("direction", path.direction.name().into()),
        ]
    }

    fn flows(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let lively = |f: &&FlowView| {
            !f.closed && f.received_bytes > 0 && f.seen_us + LIVELY_US > self.snapshot.at_us
        };
        let states = Direction::ALL.into_iter().flat_map(|direction| {
            [("steered", true), ("open", false)].map(|(state, steered)| {
                let of = self.snapshot.flows.iter().filter(lively);
                let of = of.filter(|f| f.direction == direction);
                let flows = of.filter(|f| f.wanted_bytes.is_some() == steered).count();
                let labels = [("direction", direction.name()), ("state", state)];
                (labels, flows as f64)
            })
        });
        let help = "Flows with packets in the last 10 s, by whether the law wants a window of them";
        gauge(e, "flows", help, None, states)
    }

    /// The same families with and without a hold: without it the counters are 0.
    fn hold(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let counts = self.snapshot.hold.unwrap_or_default();
        let lively = |way: &&WindowlessView| way.seen_us + LIVELY_US > self.snapshot.at_us;
        let holds: Vec<_> = self
            .snapshot
            .windowless
            .iter()
            .filter(lively)
            .filter_map(|way| Some((way.direction, way.hold?.state)))
            .collect();
        let ways = Direction::ALL.into_iter();
        let each = ways.flat_map(|way| Holding::ALL.map(|state| (way, state)));
        let states = each.map(|(way, state)| {
            let flows = holds.iter().filter(|of| **of == (way, state)).count();
            let labels = [("direction", way.name()), ("state", state.name())];
            (labels, flows as f64)
        });
        let help = "Flows over UDP with packets in the last 10 s, by what the hold does about them";
        gauge(e, "hold_flows", help, None, states)?;
        let waiting = counts.gate.waiting as f64;
        let help = "Packets that wait at the gate now";
        single(e, "hold_waiting_packets", help, None, waiting)?;
        for (name, help, value) in [
            (
                "hold_packets",
                "Packets of flows that may be held, that came to the gate",
                counts.gate.came,
            ),
            (
                "hold_waited_packets",
                "Packets that had to wait there, for a millisecond at least",
                counts.gate.waited,
            ),
            (
                "hold_pushed_packets",
                "Packets that left before their time, as too much waited",
                counts.gate.pushed,
            ),
            (
                "hold_signalled_packets",
                "Packets that were marked or dropped to tell a sender of congestion",
                counts.signalled,
            ),
            (
                "hold_echoes",
                "Echoes that were sent to tell the delay of flows without a window",
                counts.echoes,
            ),
        ] {
            let metric = e.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(value).encode(metric)?;
        }
        let help =
            "1 if the process behind the packet queue has ended, so that nothing can be held";
        let gone = f64::from(u8::from(counts.gate_gone));
        single(e, "hold_gate_gone", help, None, gone)
    }

    /// No metrics if the user lets no time pass unsteered, or nothing is known yet.
    fn compared(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let ways = self.snapshot.account.ways.iter();
        let known = ways.filter_map(|way| Some((way.direction.name(), way.compared?)));
        let values = known.flat_map(|(direction, compared)| {
            [("with", compared.with), ("without", compared.without)]
                .into_iter()
                .flat_map(move |(steering, spread)| {
                    let of = [("0.5", spread.median_us), ("0.95", spread.p95_us)];
                    of.map(|(quantile, us)| {
                        let labels = [
                            ("direction", direction),
                            ("steering", steering),
                            ("quantile", quantile),
                        ];
                        (labels, seconds(us))
                    })
                })
        });
        let help = "Queueing delay of packets in the last trials, with steering and without";
        gauge(e, "compared_queue", help, Some(Unit::Seconds), values)
    }

    fn distributions(&self, e: &mut DescriptorEncoder) -> fmt::Result {
        let help = "Queueing delay of each measured packet";
        let delays = self.histograms.each_ref().map(|h| &h.queue_us);
        histogram(e, "queue_delay", help, Unit::Seconds, delays, 1e-6)?;
        let help = "Window that the data's sender was told, of each acknowledgement";
        let windows = self.histograms.each_ref().map(|h| &h.window_bytes);
        histogram(e, "window", help, Unit::Bytes, windows, 1.0)
    }
}

fn seconds(us: u32) -> f64 {
    f64::from(us) * 1e-6
}

/// Encodes a gauge without labels.
fn single(
    e: &mut DescriptorEncoder,
    name: &str,
    help: &str,
    unit: Option<Unit>,
    value: f64,
) -> fmt::Result {
    let metric = e.encode_descriptor(name, help, unit.as_ref(), MetricType::Gauge)?;
    ConstGauge::new(value).encode(metric)
}

fn counter<L: EncodeLabelSet>(
    e: &mut DescriptorEncoder,
    name: &str,
    help: &str,
    unit: Option<Unit>,
    values: impl IntoIterator<Item = (L, u64)>,
) -> fmt::Result {
    let mut family = e.encode_descriptor(name, help, unit.as_ref(), MetricType::Counter)?;
    for (labels, value) in values {
        ConstCounter::new(value).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

fn gauge<L: EncodeLabelSet>(
    e: &mut DescriptorEncoder,
    name: &str,
    help: &str,
    unit: Option<Unit>,
    values: impl IntoIterator<Item = (L, f64)>,
) -> fmt::Result {
    let mut family = e.encode_descriptor(name, help, unit.as_ref(), MetricType::Gauge)?;
    for (labels, value) in values {
        ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Encodes a histogram by direction; `scale` converts the kernel's unit into the base unit.
fn histogram(
    e: &mut DescriptorEncoder,
    name: &str,
    help: &str,
    unit: Unit,
    of: [&Histogram; 2],
    scale: f64,
) -> fmt::Result {
    let mut family = e.encode_descriptor(name, help, Some(&unit), MetricType::Histogram)?;
    for (direction, histogram) in Direction::ALL.into_iter().zip(of) {
        let labels = [("direction", direction.name())];
        let mut metric: MetricEncoder = family.encode_family(&labels)?;
        let slots = histogram.octaves().map(|(bound, packets)| {
            let bound = bound.map_or(f64::INFINITY, |bound| bound as f64 * scale);
            (bound, packets)
        });
        let slots: Vec<_> = slots.collect();
        let sum = histogram.sum as f64 * scale;
        metric.encode_histogram::<[(&str, &str); 0]>(sum, histogram.count(), &slots, None)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
