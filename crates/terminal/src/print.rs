//! Standard output and standard error.

use crate::shown::{cut, shown_lines};
use crate::table::Table;
use std::fmt::{self, Display};
use std::io::{self, StderrLock, StdoutLock, Write};

/// The most characters of a line: an error may quote a file of a single long line.
const LONGEST: usize = 4000;

/// Filters text through [`shown_lines`].
pub struct Lines<W>(W);

/// Standard output, for people.
pub fn out() -> Lines<StdoutLock<'static>> {
    Lines(io::stdout().lock())
}

/// Standard error, for people.
pub fn err() -> Lines<StderrLock<'static>> {
    Lines(io::stderr().lock())
}

/// Standard output, for programs: unfiltered.
pub fn data() -> StdoutLock<'static> {
    io::stdout().lock()
}

/// Standard error, for programs: unfiltered.
pub fn data_on_err() -> StderrLock<'static> {
    io::stderr().lock()
}

/// Prints a line on standard output. If that fails, because the disk is full or the reader has gone, the line is lost
/// without an error; `println!` would end the program.
pub fn say(line: impl Display) {
    let _ = writeln!(out(), "{line}");
}

/// Prints a line, or several, on standard error. If that fails, because the disk is full or the reader has gone, the
/// line is lost without an error.
pub fn warn(line: impl Display) {
    let text = line.to_string();
    let lines: Vec<_> = text.lines().map(|line| cut(line, LONGEST)).collect();
    let _ = writeln!(err(), "{}", lines.join("\n"));
}

impl<W: Write> Lines<W> {
    /// Prints text with its own colours.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn text(&mut self, text: &Text) -> io::Result<()> {
        self.0.write_all(text.0.as_bytes())
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Formatted text comes in whole strings, so no character is cut in two.
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(shown_lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Tables and lines, one after another. It has no control characters but the colours of its tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Adds a line, or several.
    pub fn line(&mut self, line: impl Display) {
        let line = line.to_string();
        self.0.push_str(&shown_lines(&line));
        self.0.push('\n');
    }

    /// Adds a table.
    pub fn table(&mut self, table: &Table) {
        self.0.push_str(&table.trimmed());
        self.0.push('\n');
    }

    /// Adds all of another text.
    pub fn text(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }
}

impl Display for Text {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_alone_go_through() {
        let mut lines = Lines(Vec::new());
        let (name, what) = ("\u{1b}[31mred", "\u{9b}m\u{202e}");
        write!(lines, "{name}: {what}\r\n").unwrap();
        lines.write_all(b"\xff\x07\n").unwrap();
        let expected = "\\u{1b}[31mred: \\u{9b}m\\u{202e}\\u{d}\n\u{fffd}\\u{7}\n";
        assert_eq!(String::from_utf8(lines.0).unwrap(), expected);
    }

    #[test]
    fn a_texts_own_colours_go_through_and_no_others() {
        let mut text = Text::default();
        text.line("\u{1b}[31mred");
        let mut table = Table::new(crate::Style::Plain);
        table.styled(true);
        table.row([crate::Cell::new("\u{1b}[32mgreen").bold()]);
        text.table(&table);
        let text = text.to_string();
        assert!(text.starts_with("\\u{1b}[31mred\n"), "{text:?}");
        assert!(text.contains("\\u{1b}[32mgreen"), "{text:?}");
        let own: Vec<_> = text.match_indices('\u{1b}').collect();
        assert_eq!(own.len(), 2, "{text:?}");
    }
}
