//! A stream over many paths: both ends of mPath's protocol, and records of its paths.

use super::{Application, Context, Flow, Sample};
use crate::hosts::Hosts;
use crate::packet::Message;
use crate::random;
use std::collections::BTreeMap;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::{Window, curve};
use tidegate_mpath::wire::{DATA_HEADER, feedback_bytes, relay_header};
use tidegate_mpath::{
    Config, PathId, PathInfo, ProxyId, Receiver, ReceiverConfig, Sender, Transmission,
};
use tidegate_scenario::{Direction, MpathSpec, ProxySpec, RunResult, Series, Side, TransferResult};

/// IP and UDP headers, in bytes.
const HEADERS: u64 = 28;

/// Bytes that the envelope adds to a packet through a proxy, with a capability of 256 bits.
const ENVELOPE: u64 = relay_header(32) as u64;

/// Stream in a packet, in bytes: with its envelope it fits into 1500.
const PAYLOAD: u64 = 1500 - HEADERS - DATA_HEADER as u64 - ENVELOPE;

/// More than is ever sent.
const WITHOUT_END: u64 = 1 << 48;

/// An mPath transfer.
pub struct Mpath {
    flow: Flow,
    sender: Sender,
    receiver: Receiver,
    proxies: Vec<ProxySpec>,
    over: bool,
    /// Records of each proxy's path, and of the direct one, over time.
    history: BTreeMap<Option<ProxyId>, History>,
    /// Shared losses so far that moved load to the direct path, over time.
    aggregations: Vec<(Instant, f64)>,
}

/// A path over time.
#[derive(Default)]
struct History {
    /// Which path it was at the last observation, the packets that it had delivered by then, and when that was.
    last: Option<(PathId, u64, Instant)>,
    windows: Vec<(Instant, f64)>,
    rates: Vec<(Instant, f64)>,
}

impl Application for Mpath {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        self.flow.began.get_or_insert(context.now());
        self.sender.expire(context.now());
        self.send(context);
        self.acknowledge(context);
        self.next(context.now())
    }

    fn message(&mut self, context: &mut Context, side: Side, message: &Message) -> Option<Instant> {
        if self.over {
            return None;
        }
        let now = context.now();
        match message {
            Message::Data(data) if side != self.flow.sender() => {
                self.receiver.receive(now, data);
                self.flow.received += self.receiver.read(u64::MAX) * PAYLOAD;
                self.acknowledge(context);
            }
            Message::Feedback(feedback) if side == self.flow.sender() => {
                self.sender.receive(now, feedback);
                self.send(context);
            }
            _ => {}
        }
        self.next(now)
    }

    fn stop(&mut self, _context: &mut Context) {
        self.over = true;
    }

    fn flow(&mut self) -> Option<&mut Flow> {
        Some(&mut self.flow)
    }

    fn observe(&mut self, _hosts: &Hosts, now: Instant) {
        if self.flow.began.is_none() || self.over {
            return;
        }
        let info = self.sender.info();
        self.flow.retransmits = info.retransmits;
        if let Some(rtt) = info.direct_rtt {
            self.flow.note_rtt(now, rtt);
        }
    }

    fn sample(&mut self, _hosts: &Hosts, now: Instant) {
        if self.flow.began.is_none() || self.over {
            return;
        }
        let info = self.sender.info();
        self.flow.samples.push(Sample {
            at: now,
            received: self.flow.received,
            srtt: info.direct_rtt,
            cwnd: info.window as u32,
            peer_window: (self.receiver.limit() - self.sender.acknowledged()) * PAYLOAD,
            timeouts: info.timeouts,
            law_rtt: None,
        });
        self.aggregations.push((now, info.aggregations as f64));
        self.keep_paths(now);
    }

    fn report(&mut self, _hosts: &Hosts, end: Instant, result: &mut RunResult) {
        let info = self.sender.info();
        self.flow.retransmits = info.retransmits;
        result.flows.push(self.flow.result(end));
        result.transfers.push(TransferResult {
            name: self.flow.name.clone(),
            usable_proxies: info.usable_proxies,
            most_waiting_bytes: self.receiver.most_waiting() * PAYLOAD,
            timeouts: info.timeouts,
            aggregations: info.aggregations,
        });
        if !self.aggregations.is_empty() {
            let name = &self.flow.name;
            let points = self.aggregations.clone();
            result.series.push(curve("aggregations", name, points));
        }
        for (proxy, history) in &self.history {
            let name = self.path_name(*proxy);
            result.series.extend(history.curves(&name));
        }
    }
}

impl Mpath {
    /// The application of that workload.
    pub fn new(name: &str, spec: &MpathSpec, seed: u64, window: Window) -> Self {
        let mut sender = Sender::new(Config {
            seed: random::seed(seed, name),
            ..spec.config()
        });
        sender.add_proxies((0..spec.proxies.len() as u32).map(ProxyId));
        sender.write(WITHOUT_END);
        let receiver = Receiver::new(ReceiverConfig {
            buffer: (spec.buffer_bytes / PAYLOAD).max(1),
            ..ReceiverConfig::default()
        });
        Self {
            flow: Flow::new(name.to_owned(), spec.direction, window),
            sender,
            receiver,
            proxies: spec.proxies.clone(),
            over: false,
            history: BTreeMap::new(),
            aggregations: Vec::new(),
        }
    }

    fn send(&mut self, context: &mut Context) {
        while let Some(Transmission { proxy, data }) = self.sender.transmit(context.now()) {
            let envelope = if proxy.is_some() { ENVELOPE } else { 0 };
            let bytes = HEADERS + DATA_HEADER as u64 + envelope + PAYLOAD;
            let proxy = proxy.map(|proxy| proxy.0);
            context.send_message(self.flow.direction, proxy, bytes, Message::Data(data));
        }
    }

    fn acknowledge(&mut self, context: &mut Context) {
        let back = match self.flow.sender().opposite() {
            Side::Client => Direction::Up,
            Side::Server => Direction::Down,
        };
        while let Some(feedback) = self.receiver.transmit(context.now()) {
            let bytes = HEADERS + feedback_bytes(&feedback) as u64;
            let message = Message::Feedback(Box::new(feedback));
            context.send_message(back, None, bytes, message);
        }
    }

    /// When either end wants to be called.
    fn next(&self, now: Instant) -> Option<Instant> {
        /// At least a microsecond from now, so that rounding cannot wake it at this instant for ever.
        const NEXT: Duration = Duration::from_micros(1);
        let timeouts = [self.sender.timeout(), self.receiver.timeout()];
        let next = timeouts.into_iter().flatten().min()?;
        Some(next.max(now + NEXT))
    }

    fn keep_paths(&mut self, now: Instant) {
        for path in self.sender.paths() {
            self.history.entry(path.proxy).or_default().keep(now, &path);
        }
    }

    fn path_name(&self, proxy: Option<ProxyId>) -> String {
        let via = match proxy {
            Some(proxy) => &self.proxies[proxy.0 as usize].name,
            None => "direct",
        };
        format!("{} {via}", self.flow.name)
    }
}

impl History {
    fn keep(&mut self, now: Instant, path: &PathInfo) {
        self.windows.push((now, path.window));
        if let Some((id, delivered, at)) = self.last
            && id == path.path
        {
            let bits = (path.delivered - delivered) as f64 * PAYLOAD as f64 * 8.0;
            self.rates.push((at, bits / (now - at).as_secs_f64()));
        }
        self.last = Some((path.path, path.delivered, now));
    }

    /// | quantity | what |
    /// | --- | --- |
    /// | `path_packets` | the path's congestion window, while it exists |
    /// | `path_bps` | what it delivers, all of it the stream's |
    fn curves(&self, name: &str) -> [Series; 2] {
        [
            curve("path_packets", name, self.windows.clone()),
            curve("path_bps", name, self.rates.clone()),
        ]
    }
}
