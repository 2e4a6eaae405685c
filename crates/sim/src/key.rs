//! The key of a result: a hash of everything that the result depends on.
//!
//! ```text
//!  scenario, resolved ┐
//!  files, by content  ├─▶ BLAKE3 ─▶ 1-6c0e3b…
//!  run, resolved      ┘             └ behaviour version
//! ```
//!
//! Different spellings of the same scenario have the same key: comments, the order of keys, defaults written out, `5`
//! or `5.0`, a recording's place and name, a setting given for the hosts or in the run. A key leaves out everything
//! that does not affect the run: names and descriptions of scenario and run, the other runs, and `own_tcp`, which only
//! the laboratory has. Names of workloads and hops are part of it, since they name flows and random streams.

use crate::behaviour::BEHAVIOUR_VERSION;
use blake3::Hasher;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use tidegate_scenario::{FILE_KEYS, Files, Hosts, LoadError, Run, Scenario};

/// The key of one run's result: equal keys mean equal results.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    version: u32,
    hash: u128,
    /// Whether the caller's own code took part.
    own: bool,
}

impl fmt::Display for Key {
    /// The behaviour's version and 32 hexadecimal digits; `-own` if the caller's own code took part.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = if self.own { "-own" } else { "" };
        write!(f, "{}-{:032x}{own}", self.version, self.hash)
    }
}

/// The keys of a scenario's runs.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The scenario without its runs, with the contents of files in place of their names.
    shared: Value,
    hosts: Hosts,
}

impl Keys {
    /// The keys of `scenario`, with its files relative to the folder of its `path`, as for [`Scenario::link_inputs`].
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn new(scenario: &Scenario, path: &Path) -> Result<Self, LoadError> {
        Self::from_files(scenario, &Files::beside(path))
    }

    /// The same, with the contents of `files`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_files(scenario: &Scenario, files: &Files) -> Result<Self, LoadError> {
        let nameless = Scenario {
            name: String::new(),
            description: String::new(),
            runs: Vec::new(),
            ..scenario.clone()
        };
        let mut shared = json(&nameless);
        // Each run has its own.
        shared["hosts"].take();
        put_contents(&mut shared, files)?;
        Ok(Self {
            shared,
            hosts: scenario.hosts.clone(),
        })
    }

    /// The key of `run`, which may or may not be one of the scenario's.
    pub fn of(&self, run: &Run) -> Key {
        self.key(run, &[])
    }

    /// The key of `run` with the caller's own laws or congestion controls ([`Own`](crate::Own)). `stated` identifies
    /// them, place by place: it must change whenever they change the result. No run without them has an equal key,
    /// whatever is stated.
    pub fn of_own(&self, run: &Run, stated: &[(&str, &str)]) -> Key {
        Key {
            own: true,
            ..self.key(run, stated)
        }
    }

    fn key(&self, run: &Run, stated: &[(&str, &str)]) -> Key {
        let (hosts, run) = resolved(&self.hosts, run);
        let mut hasher = Hasher::new();
        for part in [&self.shared, &hosts, &run] {
            feed(&mut hasher, part);
        }
        for (place, what) in stated {
            count(&mut hasher, b'!', place.len());
            hasher.update(place.as_bytes());
            feed(&mut hasher, &Value::from(*what));
        }
        let mut hash = [0; 16];
        hasher.finalize_xof().fill(&mut hash);
        Key {
            version: BEHAVIOUR_VERSION,
            hash: u128::from_be_bytes(hash),
            own: false,
        }
    }
}

/// The hosts with the run's settings applied, and the rest of the run.
fn resolved(hosts: &Hosts, run: &Run) -> (Value, Value) {
    let congestion_control = run.congestion_control.as_ref();
    let hosts = Hosts {
        congestion_control: congestion_control
            .unwrap_or(&hosts.congestion_control)
            .clone(),
        rmem_max: run.rmem_max.or(hosts.rmem_max),
        own_tcp: Vec::new(),
        ..hosts.clone()
    };
    let run = Run {
        name: String::new(),
        uploads: Some(run.steers_uploads()),
        congestion_control: None,
        rmem_max: None,
        own_tcp: None,
        ..run.clone()
    };
    (json(&hosts), json(&run))
}

fn json(part: &impl Serialize) -> Value {
    serde_json::to_value(part).expect("scenarios can be written as JSON")
}

/// Replaces each file's name by a hash of its content.
fn put_contents(value: &mut Value, files: &Files) -> Result<(), LoadError> {
    match value {
        Value::Array(values) => values.iter_mut().try_for_each(|v| put_contents(v, files)),
        Value::Object(entries) => entries.iter_mut().try_for_each(|(key, value)| match value {
            Value::String(file) if FILE_KEYS.contains(&key.as_str()) => {
                *file = files.hash(key, file)?;
                Ok(())
            }
            other => put_contents(other, files),
        }),
        _ => Ok(()),
    }
}

/// Feeds a value to the hash so that different values never feed the same bytes. Objects go in the order of their
/// keys, however they are stored.
fn feed(hasher: &mut Hasher, value: &Value) {
    match value {
        Value::Array(values) => {
            count(hasher, b'[', values.len());
            values.iter().for_each(|value| feed(hasher, value));
        }
        Value::Object(entries) => {
            count(hasher, b'{', entries.len());
            for (key, value) in entries.iter().collect::<BTreeMap<_, _>>() {
                count(hasher, b'"', key.len());
                hasher.update(key.as_bytes());
                feed(hasher, value);
            }
        }
        scalar => {
            let text = scalar.to_string();
            count(hasher, b'=', text.len());
            hasher.update(text.as_bytes());
        }
    }
}

/// Feeds the kind of what follows, and its length.
fn count(hasher: &mut Hasher, kind: u8, length: usize) {
    hasher
        .update(&[kind])
        .update(&(length as u64).to_le_bytes());
}
