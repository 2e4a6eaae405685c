//! What comparisons over the laboratory's links have in common.

use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Rate of the downlink; 25 ms each way and 2000 packets.
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

    /// Both directions, as scenarios have them.
    #[must_use]
    pub fn directions(self) -> String {
        let rate = match self {
            Self::Cell => r#"{ generate = { kind = "lte" } }"#,
            Self::Constant => "{ constant_mbps = 20 }",
        };
        format!(
            "down = {{ rate = {rate}, delay_ms = 25, queue = {{ packets = 2000 }} }}
up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 25, queue = {{ packets = 1000 }} }}"
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

/// A command of the shell at one of the hosts, as scenarios have it.
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
