//! How far something has come, on standard error; nothing where that is no terminal.

use crate::shown::{shown, shown_lines};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::fmt::Display;

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar(ProgressBar);

impl Bar {
    /// One of that length, drawn by that template of indicatif's.
    ///
    /// # Panics
    /// If the template is none.
    pub fn new(length: u64, template: &str) -> Self {
        let style = ProgressStyle::with_template(template).expect("a template of known keys");
        Self(ProgressBar::new(length).with_style(style))
    }

    /// A line that moves, whose end is not known.
    pub fn line() -> Self {
        Self(ProgressBar::new_spinner())
    }

    /// One that shows nothing.
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// What goes on, the template's `msg`.
    pub fn message(&self, text: impl Display) {
        let text = text.to_string();
        self.0.set_message(shown(&text).into_owned());
    }

    /// What it is about, the template's `prefix`.
    pub fn prefix(&self, text: impl Display) {
        let text = text.to_string();
        self.0.set_prefix(shown(&text).into_owned());
    }

    /// Says something above it.
    pub fn say(&self, line: impl Display) {
        let line = line.to_string();
        self.0.println(shown_lines(&line));
    }

    /// The end.
    pub fn length(&self, length: u64) {
        self.0.set_length(length);
    }

    /// How far it is.
    pub fn position(&self, position: u64) {
        self.0.set_position(position);
    }

    /// So much further.
    pub fn further(&self, by: u64) {
        self.0.inc(by);
    }

    /// Draws it anew.
    pub fn tick(&self) {
        self.0.tick();
    }

    /// Begins anew, for something else.
    pub fn reset(&self) {
        self.0.reset();
    }

    /// What was there before it began is no measure of its speed.
    pub fn reset_speed(&self) {
        self.0.reset_eta();
    }

    /// Takes it from the screen while `work` prints.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }

    /// Takes it from the screen.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }

    /// Whether there is nothing to be seen of it.
    pub fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }
}

/// Several at once.
#[derive(Clone, Debug, Default)]
pub struct Bars(MultiProgress);

impl Bars {
    /// One more.
    pub fn add(&self, bar: Bar) -> Bar {
        Bar(self.0.add(bar.0))
    }

    /// Takes all from the screen while `work` prints.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }
}
