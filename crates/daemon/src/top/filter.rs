//! The filter: which rows to show.

use crate::top::row::{Row, endpoint};
use tidegate_agent::Direction;

/// Words that a row must match, all of them.
#[derive(Clone, Debug, Default)]
pub struct Filter(Vec<Word>);

#[derive(Clone, Debug)]
struct Word {
    wanted: bool,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Port(u16),
    Direction(Direction),
    Steered,
    Left,
    Alone,
    Group(u32),
    Text(String),
}

impl Filter {
    /// A filter from the text that a person typed; every text is valid.
    pub fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(Word::new).collect())
    }

    /// Whether the row matches every word.
    pub fn admits(&self, row: &Row) -> bool {
        self.0.iter().all(|w| w.test.holds(row) == w.wanted)
    }
}

impl Word {
    fn new(word: &str) -> Self {
        let (wanted, word) = match word.strip_prefix('!') {
            Some(rest) => (false, rest),
            None => (true, word),
        };
        let port = word.strip_prefix(':').unwrap_or(word).parse();
        let test = match (port, word) {
            (Ok(port), _) => Test::Port(port),
            (_, "down") => Test::Direction(Direction::Down),
            (_, "up") => Test::Direction(Direction::Up),
            (_, "steered") => Test::Steered,
            (_, "left") => Test::Left,
            (_, "alone") => Test::Alone,
            _ => group(word).map_or_else(|| Test::Text(word.to_lowercase()), Test::Group),
        };
        Self { wanted, test }
    }
}

/// The number of a group, as in `group3`.
fn group(word: &str) -> Option<u32> {
    word.strip_prefix("group")?.parse().ok()
}

impl Test {
    fn holds(&self, row: &Row) -> bool {
        match self {
            Self::Port(port) => [row.key.local.port, row.key.remote.port].contains(port),
            Self::Direction(direction) => row.key.direction == *direction,
            Self::Steered => row.is_steered(),
            Self::Left => row.limit.is_left_alone(),
            Self::Alone => row.flow().is_some_and(|f| f.record.is_some()),
            Self::Group(group) => row.group() == Some(*group),
            Self::Text(text) => {
                let fields = [
                    endpoint(&row.key.remote),
                    endpoint(&row.key.local),
                    row.remote_name
                        .as_deref()
                        .unwrap_or_default()
                        .to_lowercase(),
                    row.key.protocol(),
                    row.interface.to_lowercase(),
                    row.device.clone().unwrap_or_default().to_lowercase(),
                    row.why().to_lowercase(),
                ];
                fields.iter().any(|field| field.contains(text))
            }
        }
    }
}
