//! A stream over Sprout: both its ends, a source that always has data, and a sink that counts.

use super::{Application, Context, Flow};
use crate::hosts::Hosts;
use crate::packet::SproutMessage;
use crate::sprout::receiver::{Estimate, Receiver};
use crate::sprout::sender::Sender;
use crate::sprout::{FEEDBACK_BYTES, HEADERS};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::{Distribution, Window};
use tidegate_scenario::{Direction, RunResult, Side, SproutForecast, SproutSpec};

/// How often the age of what has arrived is sampled.
const AGE_INTERVAL: Duration = Duration::from_millis(1);

/// A Sprout connection.
pub struct Sprout {
    flow: Flow,
    estimate: Estimate,
    /// Both ends, once the term has begun.
    ends: Option<(Sender, Receiver)>,
    age: Age,
    over: bool,
}

/// Age of the newest packet that has arrived, over time: "end-to-end delay" of the paper's §5.1.
struct Age {
    newest: Option<Instant>,
    sampled_at: Instant,
    ages: Distribution,
    window: Window,
}

impl Age {
    /// Takes the samples that were due until `now`.
    fn sample(&mut self, now: Instant) {
        while self.sampled_at + AGE_INTERVAL <= now {
            self.sampled_at += AGE_INTERVAL;
            if let Some(newest) = self.newest
                && self.window.counts(self.sampled_at)
            {
                self.ages.record(self.sampled_at - newest);
            }
        }
    }
}

impl Sprout {
    /// The application of that workload.
    pub fn new(name: &str, spec: &SproutSpec, window: Window) -> Self {
        Self {
            flow: Flow::new(name.to_owned(), spec.direction, window),
            estimate: match spec.forecast {
                SproutForecast::Cautious => Estimate::cautious(),
                SproutForecast::Ewma => Estimate::steady(),
            },
            ends: None,
            age: Age {
                newest: None,
                sampled_at: Instant::ZERO,
                ages: Distribution::default(),
                window,
            },
            over: false,
        }
    }

    /// Sends what the window allows, and the receiver's forecast at the end of a tick.
    fn step(&mut self, context: &mut Context) -> Option<Instant> {
        let now = context.now();
        let (sender, receiver) = self.ends.as_mut()?;
        let (there, back) = match self.flow.direction {
            Direction::Down => (Direction::Down, Direction::Up),
            Direction::Up => (Direction::Up, Direction::Down),
        };
        for data in sender.transmit(now) {
            context.send_sprout(there, data.bytes, SproutMessage::Data(data));
        }
        if now >= receiver.tick_ends() {
            receiver.advance(now);
            let forecast = receiver.forecast();
            context.send_sprout(back, FEEDBACK_BYTES, SproutMessage::Forecast(forecast));
        }
        Some(sender.next().min(receiver.tick_ends()))
    }
}

impl Application for Sprout {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        let now = context.now();
        self.flow.began.get_or_insert(now);
        self.ends.get_or_insert_with(|| {
            let receiver = Receiver::new(self.estimate.clone(), now);
            (Sender::new(self.estimate.forecast(), now), receiver)
        });
        self.step(context)
    }

    fn sprout(
        &mut self,
        context: &mut Context,
        side: Side,
        message: &SproutMessage,
    ) -> Option<Instant> {
        let now = context.now();
        if self.over {
            return None;
        }
        let (sender, receiver) = self.ends.as_mut()?;
        match message {
            SproutMessage::Data(data) if side != self.flow.sender() => {
                self.age.sample(now);
                self.age.newest = self.age.newest.max(Some(data.sent));
                self.flow.received += data.bytes - HEADERS;
                receiver.receive(now, data);
            }
            SproutMessage::Forecast(forecast) if side == self.flow.sender() => {
                sender.receive(now, forecast);
                if let Some(newest) = forecast.newest {
                    self.flow.note_rtt(now, now - newest);
                }
            }
            _ => {}
        }
        self.step(context)
    }

    fn stop(&mut self, context: &mut Context) {
        self.age.sample(context.now());
        self.over = true;
    }

    fn flow(&mut self) -> Option<&mut Flow> {
        Some(&mut self.flow)
    }

    fn report(&mut self, _hosts: &Hosts, end: Instant, result: &mut RunResult) {
        self.age.sample(end);
        let mut flow = self.flow.result(end);
        flow.age_ms = Some(self.age.ages.quantiles_ms());
        result.flows.push(flow);
    }
}
