//! One episode: what an agent does to a flow, sees of it, and has from it.

use crate::task::{Act, Reward, Task};
use std::time::Duration;
use tidegate_sim::{FlowView, LinkView, Manual, Session};

/// Numbers that an observation has of each step.
pub const FEATURES: usize = 4;

/// Orca's: a delay up to so many times the least counts as the least.
const BETA: f64 = 1.25;

/// Orca's: how much what is lost counts against what is delivered.
const ZETA: f64 = 5.0;

/// Payload of a segment where there has been no handshake, in bytes.
const SEGMENT_BYTES: u32 = 1448;

/// IP and TCP headers of a segment with timestamps, in bytes.
const HEADERS_BYTES: f64 = 52.0;

/// The downlink.
const DOWN: usize = 0;

/// Most virtual time between two questions whether to go on.
const STRIDE: Duration = Duration::from_millis(100);

/// What has happened to the flow in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Virtual time at its end, in seconds.
    pub now_s: f64,
    /// What the application has received.
    pub goodput_bps: f64,
    /// What the sender has sent, in full segments.
    pub sent_bps: f64,
    /// What it has sent again.
    pub lost_bps: f64,
    /// The sender's last round trip; 0 before the first.
    pub rtt_ms: f64,
    /// Queueing delay of the packet that came out of the downlink last.
    pub queue_delay_ms: f64,
    /// Packets that the downlink's queue has dropped.
    pub dropped: u64,
    /// What it is worth to the agent.
    pub reward: f64,
    /// Whether the run has come to its end.
    pub over: bool,
}

/// An episode over a session, which is handed in wherever something is done with it.
#[derive(Clone, Debug)]
pub struct Episode {
    task: Task,
    flow: usize,
    /// Virtual time that is left of what goes on.
    left: Duration,
    /// Whether the agent has its flow.
    begun: bool,
    /// What the agent has, in the unit of [`Act`].
    has: f64,
    /// The least round trip so far, the handshake's and all before the agent included.
    least_ms: f64,
    /// The most that was delivered in a step so far.
    most_bps: f64,
    /// How flow and link stood before the step.
    before: (FlowView, LinkView),
    /// Features of the last steps, the oldest first.
    seen: Vec<f32>,
}

impl Episode {
    /// One at a session's start, over its flow of that number. It is to [go on](Self::go_on) before the first step.
    pub fn new(task: Task, flow: usize) -> Self {
        Self {
            task,
            flow,
            left: task.start(),
            begun: false,
            has: 0.0,
            least_ms: 1.0,
            most_bps: 1.0,
            before: <_>::default(),
            seen: vec![0.0; FEATURES * task.history],
        }
    }

    /// What the agent sees: [`FEATURES`] of each of the last steps, of -1 to 10, the oldest step first.
    pub fn seen(&self) -> &[f32] {
        &self.seen
    }

    /// Begins a step: changes what the agent has by up to the task's `delta`, for an `action` from -1 to 1.
    pub fn act(&mut self, session: &mut Session, action: f64) {
        self.left = self.task.step();
        if self.task.act == Act::None {
            return;
        }
        let change = self.task.delta * action.clamp(-1.0, 1.0);
        let has = if change >= 0.0 {
            self.has * (1.0 + change)
        } else {
            self.has / (1.0 - change)
        };
        let (least, most) = self.task.act.range();
        self.has = has.clamp(least, most);
        self.impose(session);
    }

    fn impose(&self, session: &mut Session) {
        let told = match self.task.act {
            Act::None => return,
            Act::Window => {
                session.set_window(self.flow, Some(self.has as u32));
                return;
            }
            Act::Cwnd => Manual {
                cwnd: Some(self.has as u32),
                pacing_rate: None,
            },
            Act::Rate => Manual {
                cwnd: None,
                pacing_rate: Some((self.has / 8.0) as u64),
            },
        };
        session.set_sender(self.flow, told);
    }

    /// Goes on to the end of what was begun, the start or a step, for as long as `patience` says between two strides.
    /// Returns whether it is there.
    pub fn go_on(&mut self, session: &mut Session, patience: &impl Fn() -> bool) -> bool {
        loop {
            let stride = self.left.min(STRIDE);
            session.advance(stride);
            self.left -= stride;
            if self.left.is_zero() || session.is_over() {
                self.left = Duration::ZERO;
                if self.begun || self.begin(session) {
                    return true;
                }
                self.left = self.task.step();
            }
            if !patience() {
                return false;
            }
        }
    }

    /// The agent has its flow as soon as there is one. Returns whether that is so, or will never be.
    fn begin(&mut self, session: &mut Session) -> bool {
        let (flow, link) = self.look(session);
        if !flow.established && !session.is_over() {
            return false;
        }
        self.begun = true;
        self.before = (flow, link);
        self.least_ms = measured(flow.min_rtt).unwrap_or(1.0);
        let segment = f64::from(segment_bytes(&flow));
        let packets = f64::from(flow.cwnd_segments);
        self.has = match self.task.act {
            Act::Window => packets * segment,
            Act::Rate => packets * segment * 8.0 / (measured(flow.srtt).unwrap_or(100.0) / 1e3),
            Act::Cwnd | Act::None => packets,
        };
        true
    }

    /// What has happened in the step that is over; it becomes part of what the agent [sees](Self::seen).
    pub fn observe(&mut self, session: &mut Session) -> Step {
        let (flow, link) = self.look(session);
        let (flow_before, link_before) = std::mem::replace(&mut self.before, (flow, link));
        let seconds = self.task.step_ms / 1e3;
        let packet = 8.0 * f64::from(segment_bytes(&flow));
        // A connection that is over has sent nothing any more.
        let bps = |after: u64, before: u64, bits: f64| {
            after.saturating_sub(before) as f64 * bits / seconds
        };
        let mut step = Step {
            now_s: session.now().as_secs_f64(),
            goodput_bps: bps(flow.received_bytes, flow_before.received_bytes, 8.0),
            sent_bps: bps(flow.segments_sent, flow_before.segments_sent, packet),
            lost_bps: bps(flow.retransmits, flow_before.retransmits, packet),
            rtt_ms: flow.last_rtt.map_or(0.0, ms),
            queue_delay_ms: ms(link.queue_delay),
            dropped: link.dropped_packets - link_before.dropped_packets,
            reward: 0.0,
            over: session.is_over(),
        };
        let least_ms = measured(flow.min_rtt).unwrap_or(self.least_ms);
        self.least_ms = self.least_ms.min(least_ms);
        self.most_bps = self.most_bps.max(step.goodput_bps);
        let rtt_before = measured(flow_before.last_rtt).unwrap_or(step.rtt_ms);
        self.keep(&step, step.rtt_ms - rtt_before);
        let arrived = link.arrived_packets - link_before.arrived_packets;
        step.reward = self.worth(session, &step, arrived);
        step
    }

    /// The first three features are PCC-RL's.
    fn keep(&mut self, step: &Step, rtt_rise_ms: f64) {
        let features = [
            rtt_rise_ms / self.task.step_ms,
            step.rtt_ms / self.least_ms - 1.0,
            step.sent_bps / step.goodput_bps.max(1e3) - 1.0,
            step.goodput_bps / self.most_bps,
        ];
        self.seen.copy_within(FEATURES.., 0);
        let newest = self.seen.len() - FEATURES;
        for (seen, feature) in self.seen[newest..].iter_mut().zip(features) {
            *seen = feature.clamp(-1.0, 10.0) as f32;
        }
    }

    fn worth(&self, session: &mut Session, step: &Step, arrived: u64) -> f64 {
        match self.task.reward {
            Reward::Tide => {
                let could = capacity_bps(session, self.task.step_ms);
                let segment = f64::from(segment_bytes(&self.before.0));
                let wire_bps = step.goodput_bps * (segment + HEADERS_BYTES) / segment;
                let used = if could > 0.0 {
                    (wire_bps / could).min(1.0)
                } else {
                    1.0
                };
                used - step.queue_delay_ms / 100.0
            }
            Reward::Pcc => {
                let lost = match arrived {
                    0 => 0.0,
                    arrived => step.dropped as f64 / arrived as f64,
                };
                1e-3 * (10.0 * step.goodput_bps / 12e3 - step.rtt_ms - 2e3 * lost)
            }
            Reward::Orca => {
                let long = step.rtt_ms > BETA * self.least_ms;
                let delay = if long { step.rtt_ms } else { self.least_ms };
                let power = (step.goodput_bps - ZETA * step.lost_bps) / delay.max(1e-3);
                power / (self.most_bps / self.least_ms)
            }
        }
    }

    fn look(&self, session: &mut Session) -> (FlowView, LinkView) {
        let flow = session.flow(self.flow).unwrap_or_default();
        (flow, session.link(DOWN).unwrap_or_default())
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A round trip in milliseconds, where there was one.
fn measured(rtt: Option<Duration>) -> Option<f64> {
    rtt.map(ms).filter(|&ms| ms > 0.0)
}

fn segment_bytes(flow: &FlowView) -> u32 {
    match flow.segment_bytes {
        0 => SEGMENT_BYTES,
        bytes => bytes,
    }
}

/// What the downlink could have carried of late.
fn capacity_bps(session: &mut Session, within_ms: f64) -> f64 {
    let within = Duration::from_secs_f64(within_ms / 1e3);
    let bits = session.capacity_bytes(DOWN, within) as f64 * 8.0;
    let seconds = (within_ms / 1e3).min(session.now().as_secs_f64());
    bits / if seconds > 0.0 { seconds } else { 1.0 }
}

#[cfg(test)]
mod tests;
