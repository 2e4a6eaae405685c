//! Workloads: what the hosts do, and what makes no sense in it.

use crate::complaints::Complaints;
use crate::{Direction, EcnMode, FlowControl, MpathSpec, ProxySpec, Side, SproutSpec, words};
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
    pub start_s: f64,
    /// Seconds after the start of the run; the run's end by default.
    pub stop_s: Option<f64>,
    /// Names of the links that its packets cross: `down`, `up`, and hops; all of them if absent. In
    /// the laboratory the server has another address for each choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub weight: u64,
    /// Name of the device behind the client to which its connections belong. If a run's `fair` is `device`, the
    /// connections of one name share one part; without a name each connection is a device of its own. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Congestion control of its connections, instead of the run's: a phone that sends otherwise than
    /// the server does. For the simulator; in the laboratory for what is carried by QUIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
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
        mbps: f64,
    },
    /// The rate for a while, then nothing for a while.
    OnOff {
        /// The rate while it reads.
        mbps: f64,
        /// Seconds for which it reads.
        on_s: f64,
        /// Seconds for which it does not.
        off_s: f64,
    },
    /// One rate after the other, each for as long, over and over.
    Slots {
        /// The rates.
        mbps: Vec<f64>,
        /// Seconds of each.
        slot_s: f64,
    },
    /// Up and down around a mean.
    Sinusoid {
        /// The mean.
        mean_mbps: f64,
        /// How far it swings, at most the mean.
        swing_mbps: f64,
        /// Seconds of a whole swing.
        period_s: f64,
    },
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
        bytes: Option<u64>,
        /// Connections in parallel.
        #[serde(default = "one")]
        #[schemars(extend("unit" = "connections"))]
        flows: u64,
    },
    /// Objects fetched one after another, each on a connection of its own, over and over.
    Web {
        /// Sizes of the objects, in bytes, fetched in turn.
        object_bytes: Vec<u64>,
        /// Pause between the end of one fetch and the next, in seconds.
        #[serde(default)]
        pause_s: f64,
    },
    /// A page of many objects over several connections at once, over and over: the first object
    /// alone, then all others, each connection fetching one after another.
    Page {
        /// Sizes of the objects, in bytes.
        object_bytes: Vec<u64>,
        /// Connections in parallel, kept until the page is there.
        #[serde(default = "six")]
        #[schemars(extend("unit" = "connections"))]
        connections: u64,
        /// Bytes of a request.
        #[serde(default = "request_bytes")]
        request_bytes: u64,
        /// Pause between the end of one page and the next, in seconds.
        #[serde(default)]
        pause_s: f64,
    },
    /// A video fetched in chunks over one connection, ahead of its playback.
    Video {
        /// Mbit/s of the video.
        mbps: f64,
        /// Seconds of video in a chunk.
        #[serde(default = "four")]
        chunk_s: f64,
        /// Seconds of video that the player keeps at most.
        #[serde(default = "thirty")]
        buffer_s: f64,
        /// Seconds of video at which it begins to play, and goes on after it has run dry.
        #[serde(default = "four")]
        startup_s: f64,
    },
    /// As many bytes as TCP carries, to an application that reads them at a rate of its own.
    Reader {
        /// Which way the data goes.
        #[serde(default)]
        #[schemars(schema_with = "words::direction")]
        direction: Direction,
        /// How fast the application reads.
        reads: ReadRate,
    },
    /// Datagrams at a constant rate that no congestion slows down.
    Datagrams {
        /// Which way they go.
        #[serde(default)]
        #[schemars(schema_with = "words::direction")]
        direction: Direction,
        /// Mbit/s, IP headers included.
        mbps: f64,
        /// Length of each, in bytes, IP header included.
        #[serde(default = "datagram_bytes")]
        packet_bytes: u64,
    },
    /// A server that sends a chunk, falls silent, and sends the next, on one connection.
    Chunks {
        /// Bytes in a chunk.
        chunk_bytes: u64,
        /// Seconds from the start of one chunk to the start of the next.
        period_s: f64,
    },
    /// A source of constant rate on one connection.
    ConstantRate {
        /// Which way the data goes.
        #[serde(default)]
        #[schemars(schema_with = "words::direction")]
        direction: Direction,
        /// Mbit/s of payload.
        mbps: f64,
    },
    /// A UDP echo from the client, to see the round trip that other traffic sees.
    Ping {
        /// Milliseconds between echoes.
        interval_ms: f64,
        /// Length of each, in bytes, IP header included; by default as ping(8)'s. With the length of a call's or
        /// a game's packets they stand for those.
        #[serde(default = "echo_bytes", skip_serializing_if = "is_echo_bytes")]
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
            _ => (Direction::Down, &[]),
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
            Self::Bulk { bytes, flows, .. } => {
                to.at_least_one("bulk.flows", *flows);
                to.at_least_one("bulk.bytes", bytes.unwrap_or(1));
            }
            Self::Web {
                object_bytes,
                pause_s,
            } => {
                to.expect(!object_bytes.is_empty(), "web.object_bytes", || {
                    "web.object_bytes is empty, expected at least one size".into()
                });
                pause(to, "web.pause_s", *pause_s);
            }
            Self::Page {
                object_bytes,
                connections,
                request_bytes,
                pause_s,
            } => {
                to.expect(!object_bytes.is_empty(), "page.object_bytes", || {
                    "page.object_bytes is empty, expected at least one size".into()
                });
                to.expect(!object_bytes.contains(&0), "page.object_bytes", || {
                    "page.object_bytes holds a 0, expected at least 1".into()
                });
                to.expect((1..=100).contains(connections), "page.connections", || {
                    format!("page.connections is {connections}, expected 1 to 100")
                });
                to.at_least_one("page.request_bytes", *request_bytes);
                pause(to, "page.pause_s", *pause_s);
            }
            Self::Video {
                mbps,
                chunk_s,
                buffer_s,
                startup_s,
            } => {
                to.positive("video.mbps", *mbps);
                to.positive("video.chunk_s", *chunk_s);
                to.positive("video.startup_s", *startup_s);
                let least = chunk_s.max(*startup_s);
                to.expect((least..=86_400.0).contains(buffer_s), "video.buffer_s", || {
                    format!(
                        "video.buffer_s is {buffer_s}, expected {least} (chunk_s and startup_s) to 86400"
                    )
                });
            }
            Self::Reader { reads, .. } => to.inside("reader.reads", |to| reads.complain(to)),
            Self::Datagrams {
                mbps, packet_bytes, ..
            } => {
                to.positive("datagrams.mbps", *mbps);
                let ok = (29..=65_535).contains(packet_bytes);
                to.expect(ok, "datagrams.packet_bytes", || {
                    format!("datagrams.packet_bytes is {packet_bytes}, expected 29 to 65535")
                });
            }
            Self::Chunks {
                chunk_bytes,
                period_s,
            } => {
                to.at_least_one("chunks.chunk_bytes", *chunk_bytes);
                to.positive("chunks.period_s", *period_s);
            }
            Self::ConstantRate { mbps, .. } => to.positive("constant_rate.mbps", *mbps),
            Self::Ping {
                interval_ms,
                packet_bytes,
            } => {
                to.positive("ping.interval_ms", *interval_ms);
                // Headers and the moment at which it was sent.
                let ok = (36..=1500).contains(packet_bytes);
                to.expect(ok, "ping.packet_bytes", || {
                    format!("ping.packet_bytes is {packet_bytes}, expected 36 to 1500")
                });
            }
            Self::Mpath(transfer) => transfer.complain(to),
            // Each of its words makes sense.
            Self::Sprout(_) => {}
            Self::Mptcp { paths } => to.expect(!paths.is_empty(), "mptcp.paths", || {
                "mptcp.paths is empty, expected one way at least beside the workload's links".into()
            }),
            Self::Command { run, .. } => to.expect(!run.is_empty(), "command.run", || {
                "command.run is empty, expected a program and its arguments".into()
            }),
        }
    }
}

impl ReadRate {
    fn complain(&self, to: &mut Complaints) {
        let mut positive = |key: &'static str, value: f64| {
            to.expect(value > 0.0 && value <= 1e6, key, || {
                format!("reader.reads.{key} is {value}, expected more than 0 and at most 1000000")
            });
        };
        match *self {
            Self::Constant { mbps } => positive("constant.mbps", mbps),
            Self::Slots { ref mbps, slot_s } => {
                positive("slots.slot_s", slot_s);
                slots(to, mbps);
            }
            Self::OnOff { mbps, on_s, off_s } => {
                positive("on_off.mbps", mbps);
                positive("on_off.on_s", on_s);
                positive("on_off.off_s", off_s);
            }
            Self::Sinusoid {
                mean_mbps,
                swing_mbps,
                period_s,
            } => {
                positive("sinusoid.mean_mbps", mean_mbps);
                positive("sinusoid.period_s", period_s);
                let ok = (0.0..=mean_mbps).contains(&swing_mbps);
                to.expect(ok, "sinusoid.swing_mbps", || {
                    format!(
                        "reader.reads.sinusoid.swing_mbps is {swing_mbps}, expected 0 to mean_mbps = {mean_mbps}"
                    )
                });
            }
        }
    }
}

/// Rates of slots: none may be negative, and one must be more than 0.
fn slots(to: &mut Complaints, mbps: &[f64]) {
    let odd = mbps.iter().find(|mbps| !(0.0..=1e6).contains(*mbps));
    let (keys, name) = ("slots.mbps", "reader.reads.slots.mbps");
    if let Some(mbps) = odd {
        to.say(keys, format!("{name} holds {mbps}, expected 0 to 1000000"));
    } else if mbps.iter().all(|&mbps| mbps == 0.0) {
        to.say(
            keys,
            format!("{name} is {mbps:?}, expected a rate of more than 0"),
        );
    }
}

fn pause(to: &mut Complaints, name: &'static str, seconds: f64) {
    to.expect((0.0..=86_400.0).contains(&seconds), name, || {
        format!("{name} is {seconds}, expected 0 to 86400")
    });
}

#[cfg(test)]
mod tests;
