//! A proxy's reports about itself.

use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;
use tidegate_command::exit::BadInput;
use tidegate_overlay::proxy::{Counts, Traffic};
use tidegate_overlay::{Error, Listing};
use tidegate_terminal::units;
use tidegate_terminal::{say, warn};

/// Reports changes.
pub struct Status {
    json: bool,
    listed: Vec<SocketAddr>,
    error: Option<Error>,
    /// The counts in the last report, and its time.
    last: Counts,
    at: Instant,
}

#[derive(Serialize)]
struct Line<'a> {
    listed: &'a [SocketAddr],
    received: Traffic,
    forwarded: Traffic,
    refused: BTreeMap<&'static str, u64>,
}

impl Status {
    pub fn new(json: bool) -> Self {
        Self {
            json,
            listed: Vec::new(),
            error: None,
            last: Counts::default(),
            at: Instant::now(),
        }
    }

    pub fn listening(&self, address: SocketAddr) {
        self.say(&format!("the proxy listens at {address}, UDP"));
    }

    /// A refusal before the proxy was ever listed is a user error; later the registry may recover.
    pub fn registered(&mut self, enrolment: &Listing) -> Result<(), BadInput> {
        let (listed, error) = (enrolment.addresses(), enrolment.error());
        if let Some(error) = &error
            && error.is_final()
            && listed.is_empty()
        {
            return Err(BadInput(error.to_string()));
        }
        if error != self.error {
            match &error {
                Some(error) => warn(format_args!("warning: {error}; trying again")),
                None if self.listed == listed => self.say("the registry is back"),
                None => {}
            }
            self.error = error;
        }
        if listed != self.listed {
            let addresses: Vec<_> = listed.iter().map(ToString::to_string).collect();
            self.say(&format!("listed as {}", addresses.join(" and ")));
            self.listed = listed;
        }
        Ok(())
    }

    /// Reports the counts since the last time, unless they are all zero.
    pub fn counts(&mut self, counts: &Counts) {
        if self.json {
            return self.object(counts);
        }
        if *counts != self.last {
            let seconds = self.at.elapsed().as_secs_f64();
            let bytes = counts.forwarded.bytes - self.last.forwarded.bytes;
            let rate = units::rate(bytes as f64 * 8.0 / seconds);
            self.say(&format!("{rate}; {}", sentence(counts)));
        }
        self.last = counts.clone();
        self.at = Instant::now();
    }

    /// Reports the totals.
    pub fn total(&self, counts: &Counts) {
        match self.json {
            true => self.object(counts),
            false => self.say(&sentence(counts)),
        }
    }

    fn object(&self, counts: &Counts) {
        let refused = counts
            .refusals()
            .map(|(why, packets)| (why.name(), packets));
        let line = Line {
            listed: &self.listed,
            received: counts.received,
            forwarded: counts.forwarded,
            refused: refused.collect(),
        };
        let line = serde_json::to_string(&line);
        say(line.expect("it has nothing that JSON has not"));
    }

    /// Prints a sentence, on standard error if standard output is for JSON.
    fn say(&self, sentence: &str) {
        match self.json {
            true => warn(sentence),
            false => say(sentence),
        }
    }
}

fn sentence(counts: &Counts) -> String {
    let Traffic { packets, bytes } = counts.forwarded;
    let refused: Vec<_> = counts
        .refusals()
        .filter(|(_, packets)| *packets > 0)
        .map(|(why, packets)| format!("{packets} {why}"))
        .collect();
    let refused = match &refused[..] {
        [] => "none".to_owned(),
        some => some.join(", "),
    };
    let bytes = units::bytes(bytes);
    format!("forwarded {packets} packets, {bytes}; refused {refused}")
}
