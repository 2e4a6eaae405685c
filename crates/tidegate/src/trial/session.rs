//! The trial in real time: one slot after the other, with a pause after each until the queue is gone.

use super::load::{Loader, Running};
use super::losses::losses;
use super::ping::{EVERY, Pinger};
use super::plan::{DRAINS, Plan, Planned, Purpose};
use super::progress::Progress;
use super::slot::{CutShort, Measured, RoundTrip, Slot};
use super::steering::Steering;
use super::verdict::wants_check;
use anyhow::{Result, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tidegate_agent::{Direction, Meter};
use tidegate_measure::{median, quantile};

/// How long the idle link is measured.
const IDLE: Duration = Duration::from_secs(3);

/// The queue counts as drained once the median of this many answers in a row
const CALM: usize = 5;
/// is at most this many ms above the 95th percentile on the idle link.
const CALM_MS: f64 = 5.0;

/// All that a trial needs.
pub struct Session<'a> {
    pub plan: Plan,
    pub seed: u64,
    /// The most data that the trial may transfer, in bytes.
    pub max_data: u64,
    pub loader: &'a Loader,
    pub steering: &'a mut Steering,
    pub pinger: &'a Pinger,
    /// Counts the load's own bytes, if that is possible.
    pub meter: Option<Meter>,
    pub stop: Arc<AtomicBool>,
    pub progress: &'a Progress,
    /// When the trial began.
    pub began: Instant,
}

impl Session<'_> {
    /// Runs the whole trial.
    ///
    /// # Errors
    /// If the load fails, or the user interrupts it.
    pub fn run(&mut self) -> Result<Measured> {
        let mut measured = Measured {
            idle_ms: self.idle()?,
            ..Measured::default()
        };
        for planned in self.plan.slots(self.seed) {
            let slot = self.slot(planned, &measured);
            measured.slots.extend(slot?);
            measured.cut_short = measured.cut_short.or_else(|| self.too_much(&measured));
            if measured.cut_short.is_some() {
                return Ok(measured);
            }
        }
        if wants_check(&measured) {
            let slot = self.slot(self.plan.check(), &measured)?;
            measured.slots.extend(slot);
        }
        Ok(measured)
    }

    /// Measures round trips without load, in ms.
    fn idle(&self) -> Result<Vec<f64>> {
        self.progress.say("the idle link");
        let from = Instant::now();
        self.wait_until(from + IDLE, || Ok(true))?;
        let asked = self.pinger.between(from, Instant::now());
        let answered: Vec<_> = asked.iter().filter_map(|q| q.ms()).collect();
        if answered.is_empty() {
            bail!("nothing answers the ping any more");
        }
        Ok(answered)
    }

    /// Runs a slot; none if it was cut short because it would have transferred too much data.
    fn slot(&mut self, planned: Planned, before: &Measured) -> Result<Option<Slot>> {
        self.progress.begin(planned);
        self.steering.steer(planned.steered)?;
        let times = if planned.purpose == Purpose::Check {
            2
        } else {
            1
        };
        let lost = losses();
        let mut load = self.loader.start(times)?;
        let began = Instant::now();
        let (settled, end) = (began + self.plan.settling(), began + self.plan.slot);
        let mut slot = Slot::new(planned);
        self.keep(&mut load, settled, |_| {})?;
        let (traffic, flows) = (self.steering.traffic(), self.steering.flows());
        let load_before = self.meter.as_ref().map(Meter::bytes);
        let from = Instant::now();
        let mut active = [0, 0];
        let mut looks = 0;
        let mut seen = traffic.clone();
        let whole = self.keep(&mut load, end, |session| {
            let now = session.steering.traffic();
            for direction in Direction::ALL {
                let came = now.bytes_of(direction) > seen.bytes_of(direction);
                active[direction as usize] += u32::from(came);
            }
            looks += 1;
            seen = now;
        })?;
        slot.carried = self.steering.traffic().since(&traffic);
        let load_now = self.meter.as_ref().map(Meter::bytes);
        slot.load_bytes = load_now.zip(load_before).map(|(now, before)| {
            Direction::ALL.map(|way| now[way as usize] - before[way as usize])
        });
        let now = self.steering.flows();
        for direction in Direction::ALL {
            now.tell(&flows, direction, &mut slot.carried[direction as usize]);
        }
        for (way, active) in slot.carried.iter_mut().zip(active) {
            way.active = f64::from(active) / f64::from(looks.max(1));
        }
        // Counted from the start of the load: a small buffer overflows when connections begin, and seldom later.
        slot.lost = losses() - lost;
        let to = Instant::now();
        slot.seconds = (to - from).as_secs_f64();
        drop(load);
        slot.drained = self.drain(&before.idle_ms)?;
        // Read late, so that late answers are included.
        let asked = self.pinger.between(from, to);
        slot.round_trips = asked
            .iter()
            .filter_map(|question| {
                Some(RoundTrip {
                    at_s: (question.asked - self.began).as_secs_f64(),
                    ms: question.ms()?,
                })
            })
            .collect();
        slot.unanswered = asked.len() - slot.round_trips.len();
        self.progress.end(&slot);
        Ok(whole.then_some(slot))
    }

    /// Keeps the load going until then, and calls `look` meanwhile. False if the data limit was reached.
    fn keep(
        &self,
        load: &mut Running,
        until: Instant,
        mut look: impl FnMut(&Self),
    ) -> Result<bool> {
        self.wait_until(until, || {
            load.step()?;
            look(self);
            Ok(self.steering.traffic().bytes() < self.max_data)
        })
    }

    /// Waits until the delay is back at its idle value. False if that did not happen in time.
    fn drain(&self, idle_ms: &[f64]) -> Result<bool> {
        let calm_ms = quantile(idle_ms, 0.95).unwrap_or(0.0) + CALM_MS;
        let from = Instant::now();
        let waits = self.wait_until(from + DRAINS, || {
            let asked = self.pinger.between(from, Instant::now());
            let last = asked.iter().rev().filter_map(|q| q.ms());
            let last: Vec<_> = last.take(CALM).collect();
            let calm = last.len() == CALM && median(&last).is_some_and(|ms| ms <= calm_ms);
            Ok(!calm)
        })?;
        Ok(!waits)
    }

    /// Waits until then while `goes_on`. False if it ended early.
    fn wait_until(&self, then: Instant, mut goes_on: impl FnMut() -> Result<bool>) -> Result<bool> {
        while Instant::now() < then {
            if self.stop.load(Ordering::Relaxed) {
                bail!("interrupted; nothing is told, nothing stays behind");
            }
            if !goes_on()? {
                return Ok(false);
            }
            self.progress.tick();
            let left = then.saturating_duration_since(Instant::now());
            sleep(left.min(EVERY));
        }
        Ok(true)
    }

    /// Whether the trial transfers more data than it may, as far as we can tell.
    fn too_much(&self, measured: &Measured) -> Option<CutShort> {
        let taken = self.steering.traffic().bytes();
        if taken >= self.max_data {
            return Some(CutShort::Taken);
        }
        let pairs = measured.slots.len() as u64 / 2;
        let is_pair = measured.slots.len().is_multiple_of(2);
        let in_all = taken / pairs.max(1) * (self.plan.pairs as u64 + 1);
        (is_pair && in_all > self.max_data).then_some(CutShort::WouldTake(in_all))
    }
}
