//! How far a trial has come: a bar on a terminal, otherwise a line a slot.

use super::plan::{Plan, Planned, Purpose};
use super::slot::{Slot, median};
use crate::say;
use std::io::IsTerminal;
use std::time::Instant;
use tidegate_terminal::Bar;

/// On standard error.
pub struct Progress {
    bar: Bar,
    plan: Plan,
    began: Instant,
    /// Where there is no terminal lines are said.
    lines: bool,
}

impl Progress {
    /// Of a trial that begins.
    pub fn new(plan: Plan) -> Self {
        let template = "{elapsed_precise} {wide_bar} {msg}";
        Self {
            bar: Bar::new(plan.loaded().as_secs(), template),
            plan,
            began: Instant::now(),
            lines: !std::io::stderr().is_terminal(),
        }
    }

    /// What goes on.
    pub fn say(&self, what: &str) {
        self.bar.message(what);
        if self.lines {
            say::err(what);
        }
    }

    /// A slot begins.
    pub fn begin(&self, planned: Planned) {
        self.bar.message(name(planned, self.plan));
    }

    /// Time passes.
    pub fn tick(&self) {
        self.bar.position(self.began.elapsed().as_secs());
    }

    /// A slot is over.
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
            say::err(line);
        } else {
            self.bar.say(line);
        }
    }

    /// It is over.
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
