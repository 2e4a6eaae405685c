//! Progress bars on standard error; hidden if that is not a terminal.

use crate::shown::{shown, shown_lines};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::fmt::Display;

/// A progress bar.
#[derive(Clone, Debug)]
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar of that length, drawn by a template of indicatif's.
    ///
    /// # Panics
    /// If the template is invalid.
    pub fn new(length: u64, template: &str) -> Self {
        let style = ProgressStyle::with_template(template).expect("a template of known keys");
        Self(ProgressBar::new(length).with_style(style))
    }

    /// A spinner, for work of unknown length.
    pub fn line() -> Self {
        Self(ProgressBar::new_spinner())
    }

    /// A bar that shows nothing.
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Sets the template's `msg`: what is being done.
    pub fn message(&self, text: impl Display) {
        let text = text.to_string();
        self.0.set_message(shown(&text).into_owned());
    }

    /// Sets the template's `prefix`: what the bar is about.
    pub fn prefix(&self, text: impl Display) {
        let text = text.to_string();
        self.0.set_prefix(shown(&text).into_owned());
    }

    /// Prints a line above it.
    pub fn say(&self, line: impl Display) {
        let line = line.to_string();
        self.0.println(shown_lines(&line));
    }

    /// Sets its length.
    pub fn length(&self, length: u64) {
        self.0.set_length(length);
    }

    /// Sets its position.
    pub fn position(&self, position: u64) {
        self.0.set_position(position);
    }

    /// Advances its position.
    pub fn further(&self, by: u64) {
        self.0.inc(by);
    }

    /// Redraws it.
    pub fn tick(&self) {
        self.0.tick();
    }

    /// Begins anew, for something else.
    pub fn reset(&self) {
        self.0.reset();
    }

    /// Measures its speed from here on: progress made earlier does not count.
    pub fn reset_speed(&self) {
        self.0.reset_eta();
    }

    /// Hides it while `work` prints.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }

    /// Removes it from the screen.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }

    /// Whether it is not shown.
    pub fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }
}

/// Several at once.
#[derive(Clone, Debug, Default)]
pub struct Bars(MultiProgress);

impl Bars {
    /// Adds one.
    pub fn add(&self, bar: Bar) -> Bar {
        Bar(self.0.add(bar.0))
    }

    /// Hides all while `work` prints.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }
}
