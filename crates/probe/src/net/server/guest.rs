//! A session: its client's requests, and what it is sent.

use super::super::SILENCE;
use super::super::budget::Budget;
use super::super::control::{Control, RECORDS_MAX, write};
use super::super::load::Pass;
use super::super::seal::Session;
use super::super::socket::{Way, now, wall};
use super::Limits;
use crate::{Arrival, Data, Message, Ping, Pong, Receiver, Train, TrainConfig};
use std::sync::Arc;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The most records of a session: 50 MB of memory.
const MOST_RECORDS: usize = 1_000_000;

/// A session.
#[derive(Debug)]
pub struct Guest {
    /// Its client's address.
    pub way: Way,
    /// Its number, key and counters.
    pub session: Session,
    /// When its client last sent something.
    heard: Instant,
    /// The client's queue: the longest delay so far of its packets beyond the fastest.
    queue: Queue,
    /// Its TCP connections.
    pass: Arc<Pass>,
    /// Its budget.
    pub budget: Arc<Budget>,
    train: Option<Train>,
    /// The last train that the client asked for: a request that is repeated, or comes late, starts no second one.
    wanted: Option<u8>,
    receiver: Option<(u8, Receiver)>,
    records: Option<(u8, Vec<Arrival>)>,
}

impl Guest {
    /// A session that was just opened.
    pub fn new(way: Way, session: Session, budget: Arc<Budget>, pass: Arc<Pass>) -> Self {
        Self {
            way,
            session,
            heard: now(),
            queue: Queue::default(),
            pass,
            budget,
            train: None,
            wanted: None,
            receiver: None,
            records: None,
        }
    }

    /// The client has sent `control`, which arrived when the clock showed `clock`.
    pub fn hear(&mut self, control: &Control, clock: Instant) {
        self.heard = now();
        if let Control::Measure(
            Message::Data(Data { sent, .. }) | Message::Ping(Ping { sent, .. }),
        ) = control
        {
            self.queue.note(*sent, clock);
        }
    }

    /// Whether the client has been silent, by UDP and TCP, for longer than its queue explains.
    pub fn is_silent(&self, at: Instant) -> bool {
        at - self.heard.max(self.pass.heard()) >= SILENCE + self.queue.longest()
    }

    /// An answer as a packet, if the budget allows it.
    pub fn answer(&mut self, answer: &Control) -> Option<Vec<u8>> {
        let packet = self.session.seal(&write(answer));
        let allowed = self.budget.take_answer((packet.len() + IP_AND_UDP) as u64);
        allowed.then_some(packet)
    }

    /// The next packet of its train or report about its client's, if one is due and the budget allows it.
    pub fn next_packet(&mut self) -> Option<Vec<u8>> {
        let at = now();
        if let Some((_, receiver)) = &mut self.receiver
            && let Some(report) = receiver.report(at)
        {
            return self.answer(&Control::Measure(Message::Report(report)));
        }
        if self.budget.free_at() > at {
            return None;
        }
        let data = self.train.as_mut()?.poll(at, wall());
        let data = data.filter(|data| self.budget.take(data.bytes.into()));
        let packet = data.map(|data| {
            self.budget.reserve(data.bytes.into());
            self.session
                .seal(&write(&Control::Measure(Message::Data(data))))
        });
        if self.train.as_ref().is_some_and(Train::is_done) || self.budget.left() == 0 {
            self.train = None;
        }
        packet
    }

    /// When [`Self::next_packet`] may return one.
    pub fn next_event(&self) -> Option<Instant> {
        let train = self.train.as_ref().and_then(Train::next_event);
        let train = train.map(|at| at.max(self.budget.free_at()));
        let report = self.receiver.as_ref().and_then(|(_, r)| r.next_event());
        train.into_iter().chain(report).min()
    }

    /// The answer to the client's message, if there is one.
    pub fn take(&mut self, control: Control, clock: Instant, limits: &Limits) -> Option<Control> {
        match control {
            Control::Start { to_client, train } => Some(self.start(to_client, train, limits)),
            Control::Stop { flow } => {
                if self.wanted == Some(flow) {
                    self.train = None;
                }
                if self
                    .receiver
                    .as_ref()
                    .is_some_and(|(known, _)| *known == flow)
                {
                    self.records = self
                        .receiver
                        .take()
                        .map(|(flow, r)| (flow, r.into_arrivals()));
                }
                None
            }
            Control::Fetch { flow, from } => {
                let (_, all) = self.records.as_ref().filter(|(known, _)| *known == flow)?;
                let rest = all.get(from as usize..)?;
                Some(Control::Records {
                    flow,
                    from,
                    total: all.len() as u32,
                    records: rest[..rest.len().min(RECORDS_MAX)].to_vec(),
                })
            }
            Control::Measure(Message::Data(data)) => {
                let (flow, receiver) = self.receiver.as_mut()?;
                if *flow == data.flow && receiver.count() < MOST_RECORDS {
                    receiver.take(now(), clock, &data);
                }
                None
            }
            Control::Measure(Message::Report(report)) => {
                if let Some(train) = &mut self.train {
                    train.report(now(), &report);
                }
                None
            }
            Control::Measure(Message::Ping(ping)) => Some(Control::Measure(Message::Pong(Pong {
                sequence: ping.sequence,
                asked: ping.sent,
                answered: wall(),
            }))),
            _ => None,
        }
    }

    /// Records and reports that are kept.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        let received = self.receiver.as_ref().map_or(0, |(_, r)| r.count());
        let records = self.records.as_ref().map_or(0, |(_, all)| all.len());
        received + records + self.train.as_ref().map_or(0, Train::remembered)
    }

    /// Starts the train that is asked for, within the rest of the budget; one at a time. A repeated request changes
    /// nothing.
    fn start(&mut self, to_client: bool, train: TrainConfig, limits: &Limits) -> Control {
        let flow = train.flow;
        let sane = train.max_bytes <= self.budget.left() && usize::from(train.bytes) <= MOST_BYTES;
        let known = to_client && self.wanted.replace(flow) == Some(flow);
        if to_client && sane && !known {
            let train = TrainConfig {
                max_bps: train.max_bps.min(limits.max_bps),
                start_bps: train.start_bps.clamp(1e3, limits.max_bps),
                max_time: train.max_time.min(LONGEST_TRAIN),
                bytes: train.bytes.max(LEAST_BYTES),
                ..train
            };
            self.train = Some(Train::new(train, now()));
        }
        if !to_client
            && self
                .receiver
                .as_ref()
                .is_none_or(|(known, _)| *known != flow)
        {
            self.receiver = Some((flow, Receiver::new(flow)));
        }
        Control::Started {
            flow,
            left: self.budget.left(),
        }
    }
}

/// How much longer than the fastest the client's packets have taken, by two clocks.
#[derive(Debug, Default)]
struct Queue(Option<(i64, i64)>);

impl Queue {
    fn note(&mut self, sent: Instant, arrived: Instant) {
        let took = (arrived.as_nanos() as i64).saturating_sub(sent.as_nanos() as i64);
        let (least, most) = self.0.unwrap_or((took, took));
        self.0 = Some((least.min(took), most.max(took)));
    }

    /// A clock that was set gives nonsense: the result is never more than a queue can plausibly be.
    fn longest(&self) -> Duration {
        let (least, most) = self.0.unwrap_or_default();
        let longest = most.saturating_sub(least);
        Duration::from_nanos(longest as u64).min(LONGEST_QUEUE)
    }
}

const LONGEST_QUEUE: Duration = Duration::from_secs(120);

/// Sizes of a train's packets, and how long one may fill.
const LEAST_BYTES: u16 = 100;
const MOST_BYTES: usize = 1500;
const LONGEST_TRAIN: Duration = Duration::from_secs(600);

/// Bytes in front of a packet's payload, by IPv4.
const IP_AND_UDP: usize = 28;
