//! Workloads: what the hosts do, and what makes no sense in it.

use crate::complaints::Complaints;
use crate::{
    AdaptiveVideoSpec, Direction, EcnMode, FlowControl, FlowsSpec, Law, MpathSpec, OnOffSpec,
    ProxySpec, Side, SproutSpec, words,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that the hosts do from `start_s` to `stop_s`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name of its flows in the results.
    pub name: String,
    /// Seconds after the start of the run.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Seconds after the start of the run; the run's end by default.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub stop_s: Option<f64>,
    /// Names of the links that its packets cross: `down`, `up`, and hops; all of them if absent. In
    /// the laboratory the server has another address for each choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub links: Option<Vec<String>>,
    /// Whether the run's law sees and steers its connections. Those of another host behind the same
    /// link it cannot see. In the laboratory two other hosts have them.
    #[serde(default = "yes")]
    pub steered: bool,
    /// Whether the law sees its connections but cannot lower their windows, as with QUIC, other tunnels, and
    /// TCP inside a tunnel. A run's `udp` says how it is treated. In the laboratory its streams are carried by
    /// QUIC.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub windowless: bool,
    /// Parts of the path that `tide` gives each of its connections where others have one: foreground
    /// before background. For the simulator.
    #[serde(default = "one")]
    #[schemars(extend("unit" = "parts"))]
    #[schemars(range(min = 1, max = 100))]
    pub weight: u64,
    /// Name of the device behind the client to which its connections belong. If a run's `fair` is `device`, the
    /// connections of one name share one part; without a name each connection is a device of its own. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Congestion control of its connections, instead of the run's: a phone that sends otherwise than
    /// the server does. In the laboratory one that the hosts have: the kernel's, that of a host of `own_tcp`, or QUIC's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// The law at the host where its data arrive, instead of the run's there. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "words::law_or_not")]
    pub law: Option<Law>,
    /// Flow control of its connections, instead of the run's. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControl>,
    /// Whether its connections use TCP timestamps, instead of what the hosts say. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Explicit congestion notification of its connections, instead of the run's. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnMode>,
    /// What it does.
    pub does: WorkloadKind,
}

impl Workload {
    /// A workload from the start of the run to its end, over all links, steered.
    pub fn new(name: impl Into<String>, does: WorkloadKind) -> Self {
        Self {
            name: name.into(),
            start_s: 0.0,
            stop_s: None,
            links: None,
            steered: true,
            windowless: false,
            weight: 1,
            device: None,
            congestion_control: None,
            law: None,
            flow_control: None,
            timestamps: None,
            ecn: None,
            does,
        }
    }
}

fn yes() -> bool {
    true
}

/// How fast an application reads, in Mbit/s. What has not arrived when it would read it is not made up
/// for later.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReadRate {
    /// Always the same.
    Constant {
        /// The rate.
        #[schemars(range(min = 0.001, max = 100_000.0))]
        mbps: f64,
    },
    /// The rate for a while, then nothing for a while.
    OnOff {
        /// The rate while it reads.
        #[schemars(range(min = 0.001, max = 100_000.0))]
        mbps: f64,
        /// Seconds for which it reads.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        on_s: f64,
        /// Seconds for which it does not.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        off_s: f64,
    },
    /// One rate after the other, each for as long, over and over.
    Slots {
        /// The rates.
        #[schemars(inner(range(min = 0.0, max = 100_000.0)))]
        mbps: Vec<f64>,
        /// Seconds of each.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        slot_s: f64,
    },
    /// Up and down around a mean.
    Sinusoid {
        /// The mean.
        #[schemars(range(min = 0.001, max = 100_000.0))]
        mean_mbps: f64,
        /// How far it swings, at most the mean.
        #[schemars(range(min = 0.0, max = 100_000.0))]
        swing_mbps: f64,
        /// Seconds of a whole swing.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        period_s: f64,
    },
}

/// How long after one datagram the next follows.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Always as long.
    #[default]
    Constant,
    /// At random, whatever came before: the numbers of datagrams in a second have Poisson's distribution. It follows from the
    /// scenario's seed and the workload's name.
    Poisson,
}

impl Spacing {
    /// Whether it is always the same.
    pub fn is_constant(&self) -> bool {
        *self == Self::Constant
    }
}

/// The kinds of workload.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadKind {
    /// As many bytes as TCP carries.
    Bulk {
        /// Which way the data goes.
        #[serde(default)]
        #[schemars(schema_with = "words::direction")]
        direction: Direction,
        /// Stop after that many bytes.
        #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
        bytes: Option<u64>,
        /// Connections in parallel.
        #[serde(default = "one")]
        #[schemars(extend("unit" = "connections"))]
        #[schemars(range(min = 1, max = 100_000))]
        flows: u64,
    },
    /// Objects fetched one after another, each on a connection of its own, over and over.
    Web {
        /// Sizes of the objects, in bytes, fetched in turn.
        #[schemars(
            length(min = 1, max = 1000),
            inner(range(min = 1, max = 1_000_000_000_000u64))
        )]
        object_bytes: Vec<u64>,
        /// Pause between the end of one fetch and the next, in seconds.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 86_400.0))]
        pause_s: f64,
    },
    /// A page of many objects over several connections at once, over and over: the first object
    /// alone, then all others, each connection fetching one after another.
    Page {
        /// Sizes of the objects, in bytes.
        #[schemars(
            length(min = 1, max = 1000),
            inner(range(min = 1, max = 1_000_000_000_000u64))
        )]
        object_bytes: Vec<u64>,
        /// Connections in parallel, kept until the page is there.
        #[serde(default = "six")]
        #[schemars(extend("unit" = "connections"))]
        #[schemars(range(min = 1, max = 100))]
        connections: u64,
        /// Bytes of a request.
        #[serde(default = "request_bytes")]
        #[schemars(range(min = 1, max = 1_000_000))]
        request_bytes: u64,
        /// Pause between the end of one page and the next, in seconds.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 86_400.0))]
        pause_s: f64,
    },
    /// Flows that arrive at random, each on a connection of its own, of random sizes: what transport papers load a link with.
    /// For the simulator.
    Flows(FlowsSpec),
    /// A video fetched in chunks over one connection, ahead of its playback.
    Video {
        /// Mbit/s of the video.
        #[schemars(range(min = 0.001, max = 100_000.0))]
        mbps: f64,
        /// Seconds of video in a chunk.
        #[serde(default = "four")]
        #[schemars(range(min = 0.01, max = 86_400.0))]
        chunk_s: f64,
        /// Seconds of video that the player keeps at most.
        #[serde(default = "thirty")]
        #[schemars(range(min = 0.01, max = 86_400.0))]
        buffer_s: f64,
        /// Seconds of video at which it begins to play, and goes on after it has run dry.
        #[serde(default = "four")]
        #[schemars(range(min = 0.01, max = 86_400.0))]
        startup_s: f64,
    },
    /// A video in several bit rates: its player chooses one for each segment. For the simulator.
    AdaptiveVideo(AdaptiveVideoSpec),
    /// As many bytes as TCP carries, to an application that reads them at a rate of its own.
    Reader {
        /// Which way the data goes.
        #[serde(default)]
        #[schemars(schema_with = "words::direction")]
        direction: Direction,
        /// How fast the application reads.
        reads: ReadRate,
    },
    /// Datagrams that no congestion slows down.
    Datagrams {
        /// Which way they go.
        #[serde(default)]
        #[schemars(schema_with = "words::direction")]
        direction: Direction,
        /// Mbit/s on average, IP headers included.
        #[schemars(range(min = 0.001, max = 100_000.0))]
        mbps: f64,
        /// Length of each, in bytes, IP header included.
        #[serde(default = "datagram_bytes")]
        #[schemars(range(min = 29, max = 65_535))]
        packet_bytes: u64,
        /// How long after one the next follows; always as long by default.
        #[serde(default, skip_serializing_if = "Spacing::is_constant")]
        spacing: Spacing,
    },
    /// A server that sends a chunk, falls silent, and sends the next, on one connection.
    Chunks {
        /// Bytes in a chunk.
        #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
        chunk_bytes: u64,
        /// Seconds from the start of one chunk to the start of the next.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        period_s: f64,
    },
    /// A source of constant rate on one connection.
    ConstantRate {
        /// Which way the data goes.
        #[serde(default)]
        #[schemars(schema_with = "words::direction")]
        direction: Direction,
        /// Mbit/s of payload.
        #[schemars(range(min = 0.001, max = 100_000.0))]
        mbps: f64,
    },
    /// A source that sends at a rate for a while and falls silent for a while, at random. For the simulator.
    OnOff(OnOffSpec),
    /// A UDP echo from the client, to see the round trip that other traffic sees.
    Ping {
        /// Milliseconds between echoes.
        #[schemars(range(min = 0.01, max = 1_000_000.0))]
        interval_ms: f64,
        /// Length of each, in bytes, IP header included; by default as ping(8)'s. With the length of a call's or
        /// a game's packets they stand for those.
        #[serde(default = "echo_bytes", skip_serializing_if = "is_echo_bytes")]
        #[schemars(range(min = 36, max = 1500))]
        packet_bytes: u64,
    },
    /// A stream over the direct path, which is the workload's `links`, and over paths through proxies
    /// (mPath; chapter 3 of Xu's thesis, 2014).
    Mpath(MpathSpec),
    /// A stream over UDP by Sprout (NSDI 2013), from a source that always has something to send. For the simulator.
    Sprout(SproutSpec),
    /// The kernel's Multipath TCP (RFC 8684), for comparison: a stream from the server over the workload's
    /// `links`, and over a way of its own to each further address of the client's. For the laboratory.
    Mptcp {
        /// The further ways.
        paths: Vec<ProxySpec>,
    },
    /// Any command, run in the client's or the server's namespace until it exits; where `lab --allow-commands` says so, and
    /// without root's rights.
    Command {
        /// Program and arguments; `{server}` and `{client}` become the hosts' addresses; that
        /// of the server is the one that its links lead to.
        run: Vec<String>,
        /// Where it runs.
        #[serde(default)]
        side: Side,
    },
}

impl WorkloadKind {
    /// Ways beside the direct one, and the direction of the data on them.
    pub fn further_ways(&self) -> (Direction, &[ProxySpec]) {
        match self {
            Self::Mpath(MpathSpec {
                direction, proxies, ..
            }) => (*direction, proxies),
            Self::Mptcp { paths } => (Direction::Down, paths),
            Self::Bulk { .. }
            | Self::Web { .. }
            | Self::Page { .. }
            | Self::Flows(_)
            | Self::Video { .. }
            | Self::AdaptiveVideo(_)
            | Self::Reader { .. }
            | Self::Datagrams { .. }
            | Self::Chunks { .. }
            | Self::ConstantRate { .. }
            | Self::OnOff(_)
            | Self::Ping { .. }
            | Self::Sprout(_)
            | Self::Command { .. } => (Direction::Down, &[]),
        }
    }
}

fn one() -> u64 {
    1
}

fn six() -> u64 {
    6
}

/// As the laboratory's.
fn request_bytes() -> u64 {
    16
}

fn four() -> f64 {
    4.0
}

fn thirty() -> f64 {
    30.0
}

fn datagram_bytes() -> u64 {
    1200
}

fn echo_bytes() -> u64 {
    84
}

fn is_echo_bytes(bytes: &u64) -> bool {
    *bytes == echo_bytes()
}

impl WorkloadKind {
    /// Complains of all that makes no sense in it.
    pub(crate) fn complain(&self, to: &mut Complaints) {
        match self {
            Self::Video {
                chunk_s,
                buffer_s,
                startup_s,
                ..
            } => {
                let least = chunk_s.max(*startup_s);
                let ok = least <= *buffer_s || !to.sound(["video"]);
                to.expect(ok, "video.buffer_s", || {
                    format!(
                        "video.buffer_s is {buffer_s}, expected {least} (chunk_s and startup_s) or more"
                    )
                });
            }
            Self::Reader { reads, .. } => to.inside("reader.reads", |to| reads.complain(to)),
            Self::Flows(flows) => to.inside("flows", |to| flows.complain(to)),
            Self::AdaptiveVideo(video) => to.inside("adaptive_video", |to| video.complain(to)),
            Self::Mpath(transfer) => transfer.complain(to),
            Self::Mptcp { paths } => to.expect(!paths.is_empty(), "mptcp.paths", || {
                "mptcp.paths is empty, expected one way at least beside the workload's links".into()
            }),
            Self::Command { run, .. } => to.expect(!run.is_empty(), "command.run", || {
                "command.run is empty, expected a program and its arguments".into()
            }),
            // Each of their numbers makes sense by itself.
            Self::Bulk { .. }
            | Self::Web { .. }
            | Self::Page { .. }
            | Self::Datagrams { .. }
            | Self::Chunks { .. }
            | Self::ConstantRate { .. }
            | Self::OnOff(_)
            | Self::Ping { .. }
            | Self::Sprout(_) => {}
        }
    }
}

impl ReadRate {
    fn complain(&self, to: &mut Complaints) {
        match *self {
            Self::Slots { ref mbps, .. } => {
                to.expect(mbps.iter().any(|mbps| *mbps > 0.0), "slots.mbps", || {
                    format!("reader.reads.slots.mbps is {mbps:?}, expected a rate of more than 0")
                });
            }
            Self::Sinusoid {
                mean_mbps,
                swing_mbps,
                ..
            } => {
                let ok = swing_mbps <= mean_mbps || !to.sound(["sinusoid"]);
                to.expect(ok, "sinusoid.swing_mbps", || {
                    format!(
                        "reader.reads.sinusoid.swing_mbps is {swing_mbps}, expected 0 to mean_mbps = {mean_mbps}"
                    )
                });
            }
            Self::Constant { .. } | Self::OnOff { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
