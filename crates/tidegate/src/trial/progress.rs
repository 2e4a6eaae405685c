//! Shows how far a trial has come: a bar on a terminal, otherwise a line per slot.

use super::plan::{Plan, Planned, Purpose};
use super::slot::Slot;
use std::io::IsTerminal;
use std::time::Instant;
use tidegate_measure::median;
use tidegate_terminal::Bar;
use tidegate_terminal::warn;

/// On standard error.
pub struct Progress {
    bar: Bar,
    plan: Plan,
    began: Instant,
    /// Whether to print lines, as there is no terminal.
    lines: bool,
}

impl Progress {
    /// Progress of a trial that begins.
    pub fn new(plan: Plan) -> Self {
        let template = "{elapsed_precise} {wide_bar} {msg}";
        Self {
            bar: Bar::new(plan.loaded().as_secs(), template),
            plan,
            began: Instant::now(),
            lines: !std::io::stderr().is_terminal(),
        }
    }

    /// Shows what is happening.
    pub fn say(&self, what: &str) {
        self.bar.message(what);
        if self.lines {
            warn(what);
        }
    }

    /// Shows that a slot begins.
    pub fn begin(&self, planned: Planned) {
        self.bar.message(name(planned, self.plan));
    }

    /// Moves the bar on.
    pub fn tick(&self) {
        self.bar.position(self.began.elapsed().as_secs());
    }

    /// Shows the result of a slot.
    pub fn end(&self, slot: &Slot) {
        let delay = match median(&slot.delays_ms()) {
            Some(ms) => format!("{ms:.0} ms"),
            None => "no answers".into(),
        };
        let planned = Planned {
            purpose: slot.purpose,
            pair: slot.pair,
            steered: slot.steered,
        };
        let line = format!("{}: {delay}", name(planned, self.plan));
        if self.lines {
            warn(line);
        } else {
            self.bar.say(line);
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.end();
    }
}

fn name(slot: Planned, plan: Plan) -> String {
    let way = if slot.steered { "with" } else { "without" };
    match slot.purpose {
        Purpose::WarmUp => format!("warm-up, {way} steering"),
        Purpose::Counts => format!("pair {} of {}, {way} steering", slot.pair, plan.pairs),
        Purpose::Check => "twice the load, without steering".into(),
    }
}
