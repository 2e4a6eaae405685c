//! The common part of comparisons over the laboratory's links.

use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// A link, by the rate of its downlink; 25 ms each way, and a buffer of 2000 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The LTE cell that is shipped.
    Cell,
    /// 20 Mbit/s.
    Constant,
}

impl Link {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Cell, Self::Constant];

    /// Both directions, in the format of scenarios.
    #[must_use]
    pub fn directions(self) -> String {
        self.between("down", "up")
    }

    /// The same with the directions exchanged, for uploads.
    #[must_use]
    pub fn exchanged(self) -> String {
        self.between("up", "down")
    }

    fn between(self, studied: &str, other: &str) -> String {
        let rate = match self {
            Self::Cell => r#"{ generate = { kind = "lte" } }"#,
            Self::Constant => "{ constant_mbps = 20 }",
        };
        format!(
            "{studied} = {{ rate = {rate}, delay_ms = 25, queue = {{ packets = 2000 }} }}
{other} = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 25, queue = {{ packets = 1000 }} }}"
        )
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cell => "LTE cell",
            Self::Constant => "20 Mbit/s",
        })
    }
}

/// A shell command at one of the hosts, in the format of scenarios.
#[must_use]
pub fn command(shell: &str) -> String {
    let shell = quoted(shell);
    format!(r#"run = ["sh", "-c", {shell}]"#)
}

/// A string of TOML.
#[must_use]
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
