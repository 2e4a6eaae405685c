//! One episode: the agent's actions on a flow, its observations, and its rewards.

use crate::task::{Act, Reward, Task};
use std::time::Duration;
use tidegate_sim::{FlowView, LinkView, Manual, Session};

/// Numbers in an observation of one step.
pub const FEATURES: usize = 4;

/// Orca's: a delay of up to this many times the least counts as the least.
const BETA: f64 = 1.25;

/// Orca's: weight of lost data against delivered data.
const ZETA: f64 = 5.0;

/// Payload of a segment before the handshake, in bytes.
const SEGMENT_BYTES: u32 = 1448;

/// IP and TCP headers of a segment with timestamps, in bytes.
const HEADERS_BYTES: f64 = 52.0;

/// The downlink.
const DOWN: usize = 0;

/// The most virtual time between two checks whether to go on.
const STRIDE: Duration = Duration::from_millis(100);

/// The results of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Virtual time at its end, in seconds.
    pub now_s: f64,
    /// The rate at which the application received.
    pub goodput_bps: f64,
    /// The rate at which the sender sent, in full segments.
    pub sent_bps: f64,
    /// The rate at which it sent again.
    pub lost_bps: f64,
    /// The sender's last round trip; 0 before the first.
    pub rtt_ms: f64,
    /// Queueing delay of the last packet that left the downlink.
    pub queue_delay_ms: f64,
    /// Packets that the downlink's queue dropped.
    pub dropped: u64,
    /// The reward for the agent.
    pub reward: f64,
    /// Whether the run has come to its end.
    pub over: bool,
}

/// An episode over a session; the session is passed to each method.
#[derive(Clone, Debug)]
pub struct Episode {
    task: Task,
    flow: usize,
    /// Virtual time that is left of the current step or start.
    left: Duration,
    /// Whether the agent has a flow to act on.
    begun: bool,
    /// The agent's current value, in the unit of [`Act`].
    has: f64,
    /// The least round trip so far, including the handshake's and those before the agent.
    least_ms: f64,
    /// The largest rate that was delivered in a step so far.
    most_bps: f64,
    /// The flow and the link before the step.
    before: (FlowView, LinkView),
    /// Features of the last steps, the oldest first.
    seen: Vec<f32>,
}

impl Episode {
    /// An episode at a session's start, over the flow with this number. It has to [go on](Self::go_on) before the first
    /// step.
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

    /// The observation: [`FEATURES`] numbers from -1 to 10 for each of the last steps, the oldest step first.
    pub fn seen(&self) -> &[f32] {
        &self.seen
    }

    /// Begins a step: changes the agent's value by up to the task's `delta`, for an `action` from -1 to 1.
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

    /// Goes on to the end of the current step or start, as long as `patience` allows between two strides. Returns
    /// whether it has reached the end.
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

    /// Gives the agent its flow as soon as there is one. Returns whether it has one, or never will.
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

    /// Computes the results of the step that is over; they become part of what the agent [sees](Self::seen).
    pub fn observe(&mut self, session: &mut Session) -> Step {
        let (flow, link) = self.look(session);
        let (flow_before, link_before) = std::mem::replace(&mut self.before, (flow, link));
        let seconds = self.task.step_ms / 1e3;
        let packet = 8.0 * f64::from(segment_bytes(&flow));
        // A connection that is over sends nothing any more.
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

/// A round trip in milliseconds, if there was one.
fn measured(rtt: Option<Duration>) -> Option<f64> {
    rtt.map(ms).filter(|&ms| ms > 0.0)
}

fn segment_bytes(flow: &FlowView) -> u32 {
    match flow.segment_bytes {
        0 => SEGMENT_BYTES,
        bytes => bytes,
    }
}

/// The recent capacity of the downlink.
fn capacity_bps(session: &mut Session, within_ms: f64) -> f64 {
    let within = Duration::from_secs_f64(within_ms / 1e3);
    let bits = session.capacity_bytes(DOWN, within) as f64 * 8.0;
    let seconds = (within_ms / 1e3).min(session.now().as_secs_f64());
    bits / if seconds > 0.0 { seconds } else { 1.0 }
}

#[cfg(test)]
mod tests;
