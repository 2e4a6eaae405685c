//! The paper's path: one sender, one receiver, a link whose rate changes from slot to slot, and an
//! application that stops and starts (section 5.1, Table 3).

use tidegate_scenario::{
    Direction, FlowControl, Hosts, Law, LinkSpec, QueueSpec, RateSpec, ReadRate, Run, Scenario,
    SlotsSpec, Workload, WorkloadKind,
};
use tidegate_study::{Case, Sample};

/// The model in words.
pub const INTRODUCTION: &str = "One connection over one link, for 600 s, as the paper's NS-2 simulations: New Reno with SACK that a pause costs no \
     congestion window, segments of 1448 bytes. Classic flow control is the paper's: a fixed buffer, ACKs that only answer \
     segments, one segment's worth of window when a closed one opens. A slot lasts a round trip, and 2 ms for the segments' own time on the \
     link: without them classic flow control gets 1.9 Mbit/s in scenario 2. The paper does not say how many packets wait in front of the link (1000 here: no losses, as it says of \
     scenario 2), nor how the profiles of reader and network lie to each other: here the network's begins 0.15 slots after the \
     connection, where classic flow control has the paper's throughput in scenario 3; the last figure has all other positions.";

/// Length of each simulation, and as a quick sample.
pub const DURATION_S: f64 = 600.0;
/// See [`DURATION_S`].
pub const SHORT_S: f64 = 120.0;

/// RTT of most scenarios, in seconds.
pub const RTT_S: f64 = 0.53;

/// Time that the segments spend on the link beyond that RTT, with the reader's millisecond. If a slot were as long as
/// the RTT to the millisecond, classic windows in scenario 2 would fall into a rhythm that never meets a closed
/// window, and get 1.9 Mbit/s instead of the 1.33 that the paper computes.
const SEGMENTS_S: f64 = 0.002;

/// Where the network's profile begins, in slots after the connection.
const POSITION: f64 = 0.15;

/// The paper's kilobytes: 2 Mbit/s × 530 ms are 129 of them, and "128 KB".
pub const KB: u64 = 1024;

/// Packets in front of a link.
const QUEUE: usize = 1000;

/// The paper's two kinds of flow control.
pub const BOTH: [FlowControl; 2] = [FlowControl::Classic, FlowControl::Adaptive];

/// Congestion control as in NS-2: a pause costs nothing.
pub fn hosts() -> Hosts {
    Hosts {
        congestion_control: "reno".into(),
        slow_start_after_idle: false,
        ..Hosts::default()
    }
}

/// A run with receive buffers of `buffer` bytes.
pub fn run(buffer: u64, flow_control: FlowControl) -> Run {
    Run {
        window: Some(buffer),
        flow_control,
        ..Run::new(label(flow_control), Law::None)
    }
}

/// Its name in pictures and cases.
pub fn label(flow_control: FlowControl) -> &'static str {
    match flow_control {
        FlowControl::Linux => "Linux",
        FlowControl::Classic => "classic",
        FlowControl::Adaptive => "AFC",
    }
}

/// A link.
pub fn link(rate: RateSpec, delay_s: f64, queue: usize) -> LinkSpec {
    LinkSpec {
        queue: QueueSpec {
            packets: Some(queue),
            ..QueueSpec::default()
        },
        ..LinkSpec::new(rate, delay_s * 1e3)
    }
}

/// The link's rate: Mbit/s of each slot, with the first slot beginning `late` slots after the start.
pub fn rate(mbps: &[f64], slot_s: f64, late: f64) -> RateSpec {
    match mbps {
        [constant] => RateSpec::ConstantMbps(*constant),
        _ => RateSpec::Slots(SlotsSpec {
            mbps: mbps.to_vec(),
            slot_s,
            late_s: late * slot_s,
        }),
    }
}

/// A connection, to be varied and turned into a [`Case`].
#[derive(Clone, Debug)]
pub struct Path {
    name: String,
    /// Mbit/s of each slot.
    reads: Vec<f64>,
    network: Vec<f64>,
    rtt_s: f64,
    /// Round trips of a slot.
    period: f64,
    position: f64,
    buffer: u64,
    queue: usize,
    sinusoid: Option<ReadRate>,
    flow_control: FlowControl,
}

/// Table 3: what the application reads and the network carries in each slot, in Mbit/s, and the buffer.
pub const SCENARIOS: [(&[f64], &[f64], u64); 5] = [
    (&[0.0, 6.0, 6.0], &[2.0], 128 * KB),
    (&[0.0, 6.0, 6.0], &[15.0], 256 * KB),
    (&[0.0, 6.0, 6.0], &[2.0, 4.0, 4.0], 213 * KB),
    (&[0.0, 6.0, 6.0], &[3.0, 6.0, 6.0], 256 * KB),
    (&[0.0, 18.0, 18.0], &[3.0, 15.0, 15.0], 704 * KB),
];

fn mean(mbps: &[f64]) -> f64 {
    crate::means::mean(mbps.iter().copied())
}

impl Path {
    /// A scenario of Table 3, by its number, with classic flow control.
    pub fn scenario(number: usize) -> Self {
        let (reads, network, buffer) = SCENARIOS[number - 1];
        Self {
            name: format!("scenario {number}"),
            reads: reads.to_vec(),
            network: network.to_vec(),
            rtt_s: RTT_S,
            period: 1.0,
            position: POSITION,
            buffer,
            queue: QUEUE,
            sinusoid: None,
            flow_control: FlowControl::Classic,
        }
    }

    /// With that flow control at both ends.
    pub fn with(mut self, flow_control: FlowControl) -> Self {
        self.flow_control = flow_control;
        self
    }

    /// With another buffer, in bytes.
    pub fn buffer(mut self, bytes: u64) -> Self {
        self.buffer = bytes;
        self.named(&format!("{bytes} bytes"))
    }

    /// Over another network.
    pub fn network(mut self, mbps: &[f64]) -> Self {
        self.network = mbps.to_vec();
        self.named(&format!("network {mbps:?}"))
    }

    /// To another reader.
    pub fn reads(mut self, mbps: &[f64]) -> Self {
        self.reads = mbps.to_vec();
        self.named(&format!("reads {mbps:?}"))
    }

    /// To a reader whose rate swings.
    pub fn swings(mut self, mean_mbps: f64, swing_mbps: f64, period_s: f64) -> Self {
        self.sinusoid = Some(ReadRate::Sinusoid {
            mean_mbps,
            swing_mbps,
            period_s,
        });
        self.named(&format!("a swing of {period_s:.2} s"))
    }

    /// With another RTT, in seconds.
    pub fn rtt(mut self, seconds: f64) -> Self {
        self.rtt_s = seconds;
        self.named(&format!("RTT {seconds} s"))
    }

    /// With slots of that many round trips.
    pub fn period(mut self, round_trips: f64) -> Self {
        self.period = round_trips;
        self.named(&format!("slots of {round_trips} RTT"))
    }

    /// Where the network's profile begins, in slots.
    pub fn position(mut self, slots: f64) -> Self {
        self.position = slots;
        self.named(&format!("at {slots}"))
    }

    /// With a queue of that many packets in front of the link.
    pub fn queue(mut self, packets: usize) -> Self {
        self.queue = packets;
        self.named(&format!("queue of {packets}"))
    }

    /// min(average network rate, average read rate) × RTT: the size that autotuning would reach (section 5.2).
    pub fn perceived_buffer(self) -> Self {
        let bytes = self.ideal() * 1e6 / 8.0 * self.rtt_s;
        self.buffer(bytes as u64)
    }

    /// The ideal throughput of the connection, in Mbit/s (section 5.2).
    pub fn ideal(&self) -> f64 {
        mean(&self.reads).min(mean(&self.network))
    }

    /// The case's name.
    pub fn name(&self) -> String {
        format!("{}, {}", self.name, label(self.flow_control))
    }

    /// The case.
    pub fn case(&self) -> Case {
        self.case_with(&[])
    }

    /// The case, with these curves over time.
    pub fn case_with(&self, curves: &[&'static str]) -> Case {
        Case::new(self.build()).curves(curves)
    }

    /// Rate at which the application reads, in Mbit/s.
    pub fn goodput(&self, sample: &Sample) -> f64 {
        sample.goodput(&self.name())
    }

    fn named(mut self, what: &str) -> Self {
        self.name.push_str(", ");
        self.name.push_str(what);
        self
    }

    fn build(&self) -> Scenario {
        let slot_s = self.period * (self.rtt_s + SEGMENTS_S);
        let delay_s = self.rtt_s / 2.0;
        let reads = self.sinusoid.clone().unwrap_or(ReadRate::Slots {
            mbps: self.reads.clone(),
            slot_s,
        });
        let does = WorkloadKind::Reader {
            direction: Direction::Down,
            reads,
        };
        let down = link(
            rate(&self.network, slot_s, self.position),
            delay_s,
            self.queue,
        );
        let up = link(RateSpec::ConstantMbps(15.0), delay_s, QUEUE);
        let workloads = vec![Workload::new("reader", does)];
        let run = run(self.buffer, self.flow_control);
        Scenario {
            hosts: hosts(),
            ..Scenario::new(self.name(), DURATION_S, [down, up], workloads, vec![run])
        }
    }
}

/// By how much AFC exceeds classic flow control on a path, in percent.
pub fn gain(sample: &Sample, path: &Path) -> f64 {
    let [classic, adaptive] = BOTH.map(|by| path.clone().with(by).goodput(sample));
    100.0 * (adaptive / classic - 1.0)
}

/// AFC in percent of the ideal.
pub fn share(sample: &Sample, path: &Path) -> f64 {
    let adaptive = path.clone().with(FlowControl::Adaptive);
    100.0 * adaptive.goodput(sample) / path.ideal()
}

/// Both kinds of flow control on each path.
pub fn cases<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<Case> {
    let both = |path: &Path| BOTH.map(|by| path.clone().with(by).case());
    paths.into_iter().flat_map(both).collect()
}
