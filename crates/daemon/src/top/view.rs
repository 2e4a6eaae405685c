//! The choices of the person at the terminal, and what keys change. It needs no terminal.

use crate::top::filter::Filter;
use crate::top::model::{Model, Selection};
use crate::top::order::Order;
use crate::top::row::{Key, Row};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The state of the screen.
#[derive(Debug, Default)]
pub struct View {
    /// Which rows to show, in which order.
    pub selection: Selection,
    /// The filter as it was typed.
    pub filter: String,
    /// The filter before the edit began.
    pub editing: Option<String>,
    /// The display is frozen.
    pub paused: bool,
    /// The details of the selected row are open.
    pub details: bool,
    /// The help is open.
    pub help: bool,
    selected: Option<Key>,
    at: usize,
}

/// What to do after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Draw again.
    Stay,
    /// End `top`.
    Quit,
}

/// How many rows a page key moves.
const PAGE: isize = 10;

impl View {
    /// The view that the command line asks for.
    pub fn new(order: Order, filter: &str, all: bool) -> Self {
        Self {
            selection: Selection {
                order,
                reverse: false,
                filter: Filter::new(filter),
                all,
            },
            filter: filter.into(),
            ..Self::default()
        }
    }

    /// The place of the selected row among `rows`, wherever it has moved; if the row is gone, that of its successor.
    pub fn selected(&mut self, rows: &[&Row]) -> Option<usize> {
        let place = |key: &Key| rows.iter().position(|row| row.key == *key);
        let at = self.selected.as_ref().and_then(place).unwrap_or(self.at);
        self.at = at.min(rows.len().saturating_sub(1));
        if self.selected.is_some() {
            self.selected = rows.get(self.at).map(|row| row.key.clone());
        }
        rows.get(self.at).map(|_| self.at)
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent, model: &Model) -> Action {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Action::Quit;
        }
        if self.editing.is_some() {
            self.edit(key.code);
            return Action::Stay;
        }
        match key.code {
            KeyCode::Char('q') => return Action::Quit,
            KeyCode::Esc => self.back(),
            KeyCode::Char(' ' | 'p') => self.paused = !self.paused,
            KeyCode::Char('>' | 's') => self.selection.order = self.selection.order.step(1),
            KeyCode::Char('<' | 'S') => self.selection.order = self.selection.order.step(-1),
            KeyCode::Char('r') => self.selection.reverse = !self.selection.reverse,
            KeyCode::Char('a') => self.selection.all = !self.selection.all,
            KeyCode::Char('/') => self.editing = Some(self.filter.clone()),
            KeyCode::Char('?' | 'h') => self.help = !self.help,
            KeyCode::Enter | KeyCode::Char('d') => {
                self.details = !self.details;
                self.go(0, model);
            }
            KeyCode::Down | KeyCode::Char('j') => self.go(1, model),
            KeyCode::Up | KeyCode::Char('k') => self.go(-1, model),
            KeyCode::PageDown => self.go(PAGE, model),
            KeyCode::PageUp => self.go(-PAGE, model),
            KeyCode::Home | KeyCode::Char('g') => self.go(isize::MIN, model),
            KeyCode::End | KeyCode::Char('G') => self.go(isize::MAX, model),
            _ => {}
        }
        Action::Stay
    }

    /// Closes what is open, innermost first.
    fn back(&mut self) {
        if self.help {
            self.help = false;
        } else if self.details {
            self.details = false;
        } else if !self.filter.is_empty() {
            self.set_filter(String::new());
        } else {
            self.selected = None;
            self.at = 0;
        }
    }

    fn edit(&mut self, code: KeyCode) {
        let mut filter = self.filter.clone();
        match code {
            KeyCode::Enter => self.editing = None,
            KeyCode::Esc => filter = self.editing.take().unwrap_or_default(),
            KeyCode::Backspace => {
                filter.pop();
            }
            KeyCode::Char(c) => filter.push(c),
            _ => {}
        }
        self.set_filter(filter);
    }

    fn set_filter(&mut self, filter: String) {
        self.selection.filter = Filter::new(&filter);
        self.filter = filter;
    }

    fn go(&mut self, by: isize, model: &Model) {
        let rows = model.rows(&self.selection);
        let at = self.selected(&rows).unwrap_or(0);
        // Without a selection, the first step selects a row and does not move.
        let by = if self.selected.is_none() && by.abs() == 1 {
            0
        } else {
            by
        };
        self.at = at
            .saturating_add_signed(by)
            .min(rows.len().saturating_sub(1));
        self.selected = rows.get(self.at).map(|row| row.key.clone());
    }

    /// Whether a row is selected.
    pub fn has_selection(&self) -> bool {
        self.selected.is_some()
    }
}

#[cfg(test)]
mod tests;
