//! The agent's log: one line per event, for people or for programs.

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};
use tidegate_terminal as terminal;

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A sentence
    #[default]
    Text,
    /// A JSON object with `time` (seconds since 1970), `level`, `event`, `message` and the event's own fields
    Json,
}

/// How important an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Normal operation.
    Info,
    /// The administrator may want to act.
    Warning,
}

/// Writes sentences to standard output; warnings and JSON to standard error.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    /// The format of lines.
    pub format: LogFormat,
    /// Standard output is for data, so sentences go to standard error, too.
    pub data_on_stdout: bool,
}

impl Log {
    /// Logs an event of normal operation. `fields` is a JSON object.
    pub fn info(self, event: &str, message: &str, fields: Value) {
        self.line(Level::Info, event, message, fields);
    }

    /// Logs an event that the administrator may want to act on.
    pub fn warn(self, event: &str, message: &str, fields: Value) {
        self.line(Level::Warning, event, message, fields);
    }

    fn line(self, level: Level, event: &str, message: &str, fields: Value) {
        let now = SystemTime::now();
        let time = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        // If the reader has closed the stream, the line is lost: that is no reason to end.
        let _ = match self.format {
            LogFormat::Json => {
                let line = object(level, event, message, fields, time.as_secs_f64());
                writeln!(terminal::data_on_err(), "{line}")
            }
            LogFormat::Text if level == Level::Info && !self.data_on_stdout => {
                writeln!(terminal::out(), "{}", sentence(level, message))
            }
            LogFormat::Text => writeln!(terminal::err(), "{}", sentence(level, message)),
        };
    }
}

/// A line for people. The journal adds time and unit. A name may contain a line feed: indenting what follows keeps it
/// from looking like another event.
fn sentence(level: Level, message: &str) -> String {
    let message = message.replace('\n', "\n    ");
    match level {
        Level::Info => message,
        Level::Warning => format!("warning: {message}"),
    }
}

/// A line for programs.
fn object(level: Level, event: &str, message: &str, fields: Value, time_s: f64) -> String {
    let mut line = Map::new();
    line.insert("time".into(), json!((time_s * 1e3).round() / 1e3));
    line.insert(
        "level".into(),
        match level {
            Level::Info => "info",
            Level::Warning => "warning",
        }
        .into(),
    );
    line.insert("event".into(), event.into());
    line.insert("message".into(), message.into());
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    Value::Object(line).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Level, object, sentence};
    use serde_json::{Value, json};

    #[test]
    fn a_line_for_programs_has_the_events_fields_beside_the_common_ones() {
        let fields = json!({ "interface": "wwan0" });
        let line = object(Level::Warning, "interface_gone", "gone", fields, 12.34567);
        assert!(!line.contains('\n'));
        let line: Value = serde_json::from_str(&line).unwrap();
        let expected = json!({
            "time": 12.346, "level": "warning", "event": "interface_gone", "message": "gone",
            "interface": "wwan0",
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn a_line_for_people_says_what_and_marks_what_matters() {
        assert_eq!(sentence(Level::Info, "steering"), "steering");
        assert_eq!(sentence(Level::Warning, "gone"), "warning: gone");
        let forged = sentence(Level::Info, "left a\nwarning: b");
        assert_eq!(forged, "left a\n    warning: b");
    }
}
