//! What a run can cost at most, lest somebody waits for years, or until the memory is full, because of a zero too many.
//!
//! All are upper bounds, rough ones: of a link's rate or of what an application sends, whichever is less.

use crate::complaints::Complaints;
use crate::{
    Carrier, Direction, FlowsSpec, LinkSpec, RateSpec, ReadRate, Scenario, Step, Workload,
    WorkloadKind,
};
use tidegate_link::CellKind;

/// Packets of a run. The simulator does about a million a second: this is a day.
const MOST_PACKETS: f64 = 1e11;

/// Packets that wait or are on their way at once, of all links together; each takes some hundred bytes.
const MOST_WAITING: f64 = 2e7;

/// Connections of a run, all workloads together.
const MOST_CONNECTIONS: u64 = 100_000;

/// Bytes of a full packet, and what of them TCP carries.
const PACKET: f64 = 1500.0;
const PAYLOAD: f64 = 1448.0;

/// Packets that a connection has on its way at most: of the largest window that Linux has by itself, and again as many.
const WINDOW: f64 = 45_000.0;

/// Mbit/s of a recording that has not been read yet.
const RECORDED: f64 = 1000.0;

/// What of the scenario's files is known.
pub(crate) struct Known<'a> {
    /// Rates of the links in Mbit/s, by their places.
    pub rates: &'a dyn Fn(usize) -> Option<f64>,
    /// Mean sizes of the flows in bytes, by workload.
    pub mean_bytes: &'a dyn Fn(usize) -> Option<f64>,
}

impl Default for Known<'_> {
    /// Nothing yet.
    fn default() -> Self {
        Self {
            rates: &|_| None,
            mean_bytes: &|_| None,
        }
    }
}

/// What a workload sends at most.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Packets in a second, both ways together.
    per_second: f64,
    /// Packets of the whole run.
    packets: f64,
    /// Packets that are on their way at most, however long that is.
    outstanding: f64,
    connections: u64,
}

impl Scenario {
    /// Complains of what nobody can wait for or hold in memory. All else makes sense; the rates of recordings are known
    /// once they have been read.
    pub(crate) fn complain_of_cost(&self, recorded: &Known, to: &mut Complaints) {
        let rates = |place: usize| {
            let link = self.link(place);
            let rate = rate_of(&link.rate).or_else(|| (recorded.rates)(place));
            let shaped = link.shaper.map(|shaper| shaper.mbps);
            match (rate, shaped) {
                (Some(rate), Some(shaped)) => Some(rate.min(shaped)),
                (rate, shaped) => rate.or(shaped),
            }
        };
        let workloads = self.workloads.iter().enumerate();
        let loads: Vec<_> = workloads
            .map(|(nth, w)| self.load_of(w, &rates, (recorded.mean_bytes)(nth)))
            .collect();
        self.complain_of_connections(&loads, to);
        self.complain_of_packets(&loads, to);
        self.complain_of_waiting(&loads, to);
    }

    fn complain_of_connections(&self, loads: &[Load], to: &mut Complaints) {
        let all: u64 = loads.iter().map(|load| load.connections).sum();
        let most = worst(loads, |load| load.connections as f64);
        to.at(self.workload_of(most), &self.called(most), |to| {
            to.expect(all <= MOST_CONNECTIONS, "does", || {
                format!("{all} connections with those of the other workloads, expected {MOST_CONNECTIONS} at most")
            });
        });
    }

    fn complain_of_packets(&self, loads: &[Load], to: &mut Complaints) {
        let cells: f64 = (0..self.hops.len() + 2)
            .map(|place| self.turns(place))
            .sum();
        to.expect(cells <= MOST_PACKETS, "duration_s", || {
            format!(
                "in duration_s = {} the other users of cells take {cells:.0e} turns, expected {MOST_PACKETS:.0e} at \
                 most: a day's computing",
                self.duration_s
            )
        });
        let all: f64 = loads.iter().map(|load| load.packets).sum();
        let most = worst(loads, |load| load.packets);
        to.at(self.workload_of(most), &self.called(most), |to| {
            to.expect(all <= MOST_PACKETS, "does", || {
                format!(
                    "up to {all:.0e} packets in a run of {} s with those of the other workloads, expected {MOST_PACKETS:.0e} \
                     at most: a day's computing",
                    self.duration_s
                )
            });
        });
    }

    fn complain_of_waiting(&self, loads: &[Load], to: &mut Complaints) {
        let mut outstanding = vec![0.0; self.hops.len() + 2];
        for (load, workload) in loads.iter().zip(&self.workloads) {
            for place in self.crossed(workload) {
                outstanding[place] += load.outstanding;
            }
        }
        let queues = outstanding.iter().enumerate();
        let queued: f64 = queues
            .map(|(place, &sent)| room_at(self.link(place)).min(sent))
            .sum();
        let each: Vec<f64> = loads
            .iter()
            .zip(&self.workloads)
            .map(|(load, workload)| self.under_way(load, workload))
            .collect();
        let all = queued + each.iter().sum::<f64>();
        let most = worst(loads, |load| load.outstanding);
        to.at(self.workload_of(most), &self.called(most), |to| {
            to.expect(all <= MOST_WAITING, "does", || {
                format!(
                    "up to {all:.0e} packets wait or are on their way at once with those of the other workloads, expected \
                     {MOST_WAITING:.0e} at most: shorter queues and delays, or slower senders"
                )
            });
        });
    }

    /// Packets of that load that are between two queues.
    fn under_way(&self, load: &Load, workload: &Workload) -> f64 {
        let ways = self.ways(workload).into_iter();
        let ms = ways.map(|way| {
            way.iter()
                .map(|&place| most_delay_ms(self.link(place)))
                .sum()
        });
        (load.per_second * ms.fold(0.0, f64::max) / 1e3).min(load.outstanding)
    }

    fn workload_of(&self, nth: usize) -> [Step; 2] {
        [Step::Key("workload"), Step::Nth(nth)]
    }

    fn called(&self, nth: usize) -> String {
        let workload = self.workloads.get(nth);
        workload.map_or_else(String::new, |w| format!("workload \"{}\": ", w.name))
    }

    fn link(&self, place: usize) -> &LinkSpec {
        match place {
            crate::DOWN => &self.down,
            crate::UP => &self.up,
            hop => &self.hops[hop - 2].link,
        }
    }

    /// Turns of the cell's other users at that link in a run, a tenth of a packet's work each.
    fn turns(&self, place: usize) -> f64 {
        let cell = self.link(place).cell;
        cell.map_or(0.0, |cell| {
            self.duration_s / (cell.tti_ms / 1e3) * f64::from(cell.users) / 10.0
        })
    }

    /// Ways of a workload's packets, those against the data, too.
    fn ways(&self, workload: &Workload) -> Vec<Vec<usize>> {
        let chosen = workload.links.as_deref();
        let own = [Direction::Down, Direction::Up].map(|direction| self.way(chosen, direction));
        own.into_iter().chain(self.further_ways(workload)).collect()
    }

    /// Places of all links that a workload's packets cross.
    fn crossed(&self, workload: &Workload) -> impl Iterator<Item = usize> {
        let ways = self.ways(workload).into_iter().flatten();
        ways.collect::<std::collections::BTreeSet<_>>().into_iter()
    }

    fn load_of(
        &self,
        workload: &Workload,
        rates: &dyn Fn(usize) -> Option<f64>,
        mean_bytes: Option<f64>,
    ) -> Load {
        let seconds = (workload
            .stop_s
            .unwrap_or(self.duration_s)
            .min(self.duration_s)
            - workload.start_s)
            .max(0.0);
        let slowest = |way: &Vec<usize>| {
            let known = way.iter().filter_map(|&place| rates(place));
            known.reduce(f64::min).unwrap_or(RECORDED)
        };
        let ways = self.ways(workload);
        let [direct, further] = [&ways[..2], &ways[2..]];
        // Either way may be the one of the data. Further ways have links in common.
        let shared = common(further);
        let bound = shared
            .iter()
            .filter_map(|&place| rates(place))
            .fold(f64::INFINITY, f64::min);
        let carried = direct.iter().map(slowest).fold(0.0, f64::max)
            + further.iter().map(slowest).sum::<f64>().min(bound);
        let copies = ways.iter().map(|way| {
            let each = way
                .iter()
                .map(|&place| self.link(place).disorder.map_or(0.0, |d| d.duplicate));
            each.fold(1.0, |all, share| all * (1.0 + share))
        });
        let copies = copies.fold(1.0, f64::max);
        let round_trip: f64 = direct
            .iter()
            .flatten()
            .map(|&place| least_delay(self.link(place)))
            .sum();
        let mut crossed = direct.iter().flatten();
        let way = Way {
            carried,
            is_known: crossed.all(|&place| rates(place).is_some()),
            round_trip,
            mean_bytes,
        };
        let mut load = of_kind(&workload.does, &way, seconds);
        load.per_second *= copies;
        load.packets *= copies;
        load.outstanding *= copies;
        load
    }
}

/// The links that all of these ways cross; those without links lead nowhere.
fn common(ways: &[Vec<usize>]) -> Vec<usize> {
    let mut leading = ways.iter().filter(|way| !way.is_empty());
    let mut common = leading.next().cloned().unwrap_or_default();
    for way in leading {
        common.retain(|place| way.contains(place));
    }
    common
}

/// Which of them has most.
fn worst<T>(all: &[T], of: impl Fn(&T) -> f64) -> usize {
    let numbered = all.iter().map(of).enumerate();
    numbered
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(nth, _)| nth)
}

/// Where a workload's packets go.
struct Way {
    /// Mbit/s at most.
    carried: f64,
    /// Whether that is known, and not assumed.
    is_known: bool,
    /// Seconds.
    round_trip: f64,
    /// Mean size of the workload's flows, where it was read from a file.
    mean_bytes: Option<f64>,
}

/// What a workload of that kind sends in that many seconds.
fn of_kind(does: &WorkloadKind, way: &Way, seconds: f64) -> Load {
    let Way {
        carried,
        round_trip,
        ..
    } = *way;
    // Data and acknowledgements.
    let stream = |mbps: f64, connections: u64| {
        let per_second = 2.0 * mbps.min(carried) * 1e6 / 8.0 / PACKET + 2.0;
        Load {
            per_second,
            packets: per_second * seconds,
            outstanding: connections as f64 * WINDOW,
            connections,
        }
    };
    let datagrams = |per_second: f64| Load {
        per_second,
        packets: per_second * seconds,
        outstanding: per_second * seconds,
        connections: 0,
    };
    // Objects one after the other, each with a handshake or a request.
    let fetches = |sizes: &[u64], connections: u64, pause_s: f64| {
        let count = sizes.len() as f64;
        let bytes: f64 = sizes.iter().map(|size| *size as f64).sum();
        let packets = 2.0 * bytes / PAYLOAD + 8.0 * count;
        let carrying = (bytes + 300.0 * count) * 8e-6 / carried;
        let cycle =
            pause_s + round_trip.max(1e-6) * (count / connections as f64).max(1.0) + carrying;
        let per_second = packets / cycle;
        Load {
            per_second,
            packets: per_second * seconds,
            outstanding: connections as f64 * WINDOW.min(bytes / PAYLOAD + count),
            connections,
        }
    };
    match does {
        WorkloadKind::Bulk { bytes, flows, .. } => {
            let endless = stream(f64::INFINITY, *flows);
            let all =
                bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / PAYLOAD + 1.0) * *flows as f64;
            Load {
                packets: endless.packets.min(2.0 * all) + 8.0 * *flows as f64,
                outstanding: endless.outstanding.min(all),
                ..endless
            }
        }
        WorkloadKind::Web {
            object_bytes,
            pause_s,
        } => fetches(object_bytes, 1, *pause_s),
        WorkloadKind::Page {
            object_bytes,
            connections,
            pause_s,
            ..
        } => fetches(object_bytes, *connections, *pause_s),
        WorkloadKind::Flows(flows) => of_flows(flows, way, seconds),
        WorkloadKind::Video { .. } | WorkloadKind::AdaptiveVideo(_) => stream(f64::INFINITY, 1),
        WorkloadKind::Reader { reads, .. } => stream(mean(reads), 1),
        WorkloadKind::Datagrams {
            mbps, packet_bytes, ..
        } => datagrams(mbps * 1e6 / 8.0 / *packet_bytes as f64),
        WorkloadKind::Chunks {
            chunk_bytes,
            period_s,
        } => stream(*chunk_bytes as f64 * 8e-6 / period_s + 0.01 / period_s, 1),
        WorkloadKind::ConstantRate { mbps, .. } => stream(*mbps, 1),
        WorkloadKind::OnOff(spec) => match spec.transport {
            Carrier::Tcp => stream(spec.mbps, 1),
            Carrier::Udp => datagrams(spec.mbps * 1e6 / 8.0 / spec.packet_bytes as f64),
        },
        WorkloadKind::Ping { interval_ms, .. } => datagrams(2e3 / interval_ms),
        WorkloadKind::Mpath(mpath) => Load {
            outstanding: mpath.buffer_bytes as f64 / PAYLOAD,
            ..stream(f64::INFINITY, 1)
        },
        WorkloadKind::Mptcp { .. } | WorkloadKind::Sprout(_) => stream(f64::INFINITY, 1),
        WorkloadKind::Command { .. } => datagrams(0.0),
    }
}

/// What flows send. Of those that are a share of the link nothing is known until the files have been read.
fn of_flows(flows: &FlowsSpec, way: &Way, seconds: f64) -> Load {
    let without_file = || flows.sizes.without_file().map(|sizes| sizes.mean());
    let mean_bytes = way.mean_bytes.or_else(without_file);
    let arriving = match mean_bytes {
        Some(mean) if way.is_known => flows.arrivals.per_second(mean, way.carried * 1e6),
        _ => flows.arrivals.per_second(f64::INFINITY, 0.0),
    };
    let bytes = mean_bytes.unwrap_or(0.0);
    // Data and acknowledgements, and a connection's beginning and end.
    let carried = (arriving * bytes).min(way.carried * 1e6 / 8.0);
    let per_second = 2.0 * carried / PAYLOAD + 10.0 * arriving;
    let count = arriving * seconds;
    Load {
        per_second,
        packets: per_second * seconds,
        outstanding: count * WINDOW.min(bytes / PAYLOAD + 1.0),
        connections: count.min(1e15) as u64,
    }
}

fn mean(reads: &ReadRate) -> f64 {
    match reads {
        ReadRate::Constant { mbps } | ReadRate::OnOff { mbps, .. } => *mbps,
        ReadRate::Slots { mbps, .. } => mbps.iter().copied().fold(0.0, f64::max),
        ReadRate::Sinusoid { mean_mbps, .. } => 2.0 * mean_mbps,
    }
}

/// Mbit/s of a rate for as long as anybody waits, if no file has to be read for it.
fn rate_of(rate: &RateSpec) -> Option<f64> {
    match rate {
        RateSpec::ConstantMbps(mbps) => Some(*mbps),
        RateSpec::Trace(_) | RateSpec::Series(_) | RateSpec::Scheduled(_) => None,
        RateSpec::Steps(steps) => steps.iter().map(|step| step[1]).reduce(f64::max),
        RateSpec::Slots(slots) => slots.mbps.iter().copied().reduce(f64::max),
        RateSpec::Generate(generate) => generate.mean_mbps.or(Some(match generate.kind {
            CellKind::Lte => 12.0,
            CellKind::Hspa | CellKind::Evdo => 3.0,
        })),
        RateSpec::Walk(walk) => Some(walk.peak_mbps),
    }
}

/// Seconds that a packet takes at least.
fn least_delay(link: &LinkSpec) -> f64 {
    let steps = link.delay_steps.iter().map(|step| step.ms);
    steps.fold(link.delay_ms, f64::min) / 1e3
}

/// Packets that a link has room for, in its queue and its shaper's.
fn room_at(link: &LinkSpec) -> f64 {
    let by_bytes = link.queue.bytes.map(|bytes| bytes as f64 / 40.0);
    let limits = [link.queue.packets.map(|packets| packets as f64), by_bytes];
    let limit = limits.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let shaped = link
        .shaper
        .map_or(0.0, |shaper| shaper.queue_packets as f64);
    limit + shaped
}

/// Milliseconds that a packet is on its way behind the link's queue, at most.
fn most_delay_ms(link: &LinkSpec) -> f64 {
    let steps = link.delay_steps.iter().map(|step| step.ms);
    let recorded = if link.delay_trace.is_some() {
        60_000.0
    } else {
        0.0
    };
    let retries = link.arq.as_ref().map_or(0.0, |arq| match arq.error {
        Some(0.0) => 0.0,
        _ => arq.retry_ms * f64::from(arq.tries),
    });
    steps.fold(link.delay_ms, f64::max)
        + recorded
        + retries
        + link.disorder.map_or(0.0, |disorder| disorder.late_ms)
        + link
            .middlebox
            .map_or(0.0, |middlebox| middlebox.patience_ms)
}

#[cfg(test)]
mod tests;
