//! How far a trial has come: a bar on a terminal, otherwise a line a slot.

use super::plan::{Plan, Planned, Purpose};
use super::slot::{Slot, median};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;

/// On standard error.
pub struct Progress {
    bar: ProgressBar,
    plan: Plan,
    began: Instant,
    /// Where there is no terminal lines are said.
    lines: bool,
}

impl Progress {
    /// Of a trial that begins.
    pub fn new(plan: Plan) -> Self {
        let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {msg}")
            .expect("a template of known keys");
        Self {
            bar: ProgressBar::new(plan.loaded().as_secs()).with_style(style),
            plan,
            began: Instant::now(),
            lines: !std::io::stderr().is_terminal(),
        }
    }

    /// What goes on.
    pub fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        if self.lines {
            eprintln!("{what}");
        }
    }

    /// A slot begins.
    pub fn begin(&self, planned: Planned) {
        self.bar.set_message(name(planned, self.plan));
    }

    /// Time passes.
    pub fn tick(&self) {
        self.bar.set_position(self.began.elapsed().as_secs());
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
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// It is over.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
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
