//! Reading a scenario and the files that it names, with errors that say where and what.

use crate::{
    CellKind, GenerateSpec, LinkSpec, LossSpec, QueuePolicy, QueueSpec, RateSpec, Scenario,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tidegate_link::{
    Cell, CellModel, Config, DelayProfile, Instant, Loss, Policy, QueueConfig, Rate, RateSeries,
    Trace,
};

/// Why a scenario cannot be run. Displays as one sentence that names the file and, where there is
/// one, the line.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{}:{line}: {message}", path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong and what was expected.
        message: String,
    },
    /// The scenario parses but makes no sense.
    #[error("{}: {message}", path.display())]
    Meaning {
        /// Which file.
        path: PathBuf,
        /// What is wrong and what was expected.
        message: String,
    },
}

/// A scenario's links with every trace read and parsed, ready to run.
#[derive(Clone, Debug)]
pub struct LinkInputs {
    /// Server to client.
    pub down: Config,
    /// Client to server.
    pub up: Config,
    /// The scenario's further links, in its order.
    pub hops: Vec<Config>,
}

impl Scenario {
    /// Parses and checks a scenario; `path` is named in errors and need not exist.
    pub fn parse(text: &str, path: &Path) -> Result<Self, LoadError> {
        let scenario: Scenario = toml::from_str(text).map_err(|e| syntax(&e, text, path))?;
        scenario.checked(path)
    }

    /// The scenario, if it makes sense.
    pub(crate) fn checked(self, path: &Path) -> Result<Self, LoadError> {
        match self.complaint() {
            Some(message) => Err(LoadError::Meaning {
                path: path.into(),
                message,
            }),
            None => Ok(self),
        }
    }

    /// Reads, parses and checks a scenario.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::parse(&read(path)?, path)
    }

    /// Reads the traces that the scenario names, relative to the folder of the scenario's `path`.
    pub fn link_inputs(&self, path: &Path) -> Result<LinkInputs, LoadError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        Ok(LinkInputs {
            down: self.down.resolve(folder, self.seed)?,
            // Another stream of the same seed: the uplink's cell is not the downlink's.
            up: self.up.resolve(folder, self.seed ^ 0x5570)?,
            hops: self
                .hops
                .iter()
                .zip(2..)
                .map(|(hop, stream)| hop.link.resolve(folder, self.seed ^ (stream << 16)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The first thing about the scenario that makes no sense.
    fn complaint(&self) -> Option<String> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !positive(self.duration_s) {
            return Some(format!(
                "duration_s is {}, expected more than 0",
                self.duration_s
            ));
        }
        if !(0.0..self.duration_s).contains(&self.warmup_s) {
            return Some(format!(
                "warmup_s is {}, expected 0 to less than duration_s = {}",
                self.warmup_s, self.duration_s
            ));
        }
        if self.runs.is_empty() {
            return Some("no [[run]], expected at least one".into());
        }
        if self.workloads.is_empty() {
            return Some("no [[workload]], expected at least one".into());
        }
        if let Some(name) = duplicate(self.runs.iter().map(|r| &r.name)) {
            return Some(format!(
                "two runs are named \"{name}\", expected different names"
            ));
        }
        if let Some(name) = duplicate(self.workloads.iter().map(|w| &w.name)) {
            return Some(format!(
                "two workloads are named \"{name}\", expected different names"
            ));
        }
        if let Some(r) = self.runs.iter().find(|r| !positive(r.lambda)) {
            return Some(format!(
                "run \"{}\": lambda is {}, expected more than 0",
                r.name, r.lambda
            ));
        }
        let links = ["down".to_owned(), "up".to_owned()];
        let links: Vec<_> = links
            .iter()
            .chain(self.hops.iter().map(|h| &h.name))
            .collect();
        if let Some(name) = duplicate(links.iter().copied()) {
            return Some(format!(
                "two links are named \"{name}\", expected different names"
            ));
        }
        if let Some(r) = self.runs.iter().find(|r| r.window == Some(0)) {
            return Some(format!(
                "run \"{}\": window is 0, expected at least 1",
                r.name
            ));
        }
        for w in &self.workloads {
            let mut crossed = w.links.iter().flatten();
            if let Some(unknown) = crossed.find(|name| !links.contains(name)) {
                return Some(format!(
                    "workload \"{}\": no link is named \"{unknown}\", expected down, up or a hop's name",
                    w.name
                ));
            }
            let stop = w.stop_s.unwrap_or(self.duration_s);
            if !(w.start_s >= 0.0 && w.start_s < stop) {
                return Some(format!(
                    "workload \"{}\": start_s = {} and stop_s = {stop}, expected 0 <= start_s < stop_s",
                    w.name, w.start_s
                ));
            }
            if let Some(complaint) = w.does.complaint() {
                return Some(format!("workload \"{}\": {complaint}", w.name));
            }
        }
        let hops = self.hops.iter().map(|hop| (hop.name.as_str(), &hop.link));
        [("down", &self.down), ("up", &self.up)]
            .into_iter()
            .chain(hops)
            .find_map(|(name, link)| link.complaint().map(|c| format!("{name}: {c}")))
    }
}

impl LinkSpec {
    /// Reads the trace that the link names, relative to `folder`.
    pub fn resolve(&self, folder: &Path, seed: u64) -> Result<Config, LoadError> {
        Ok(Config {
            rate: self.rate.resolve(folder, seed)?,
            delay: DelayProfile::new(
                milliseconds(self.delay_ms),
                self.delay_steps
                    .iter()
                    .map(|s| (Instant::from_secs_f64(s.at_s), milliseconds(s.ms)))
                    .collect(),
            ),
            queue: self.queue.resolve(),
            loss: match self.loss {
                None => Loss::None,
                Some(LossSpec::Random(p)) => Loss::Random(p),
                Some(LossSpec::Bursty {
                    probability,
                    mean_length,
                }) => Loss::Bursty {
                    probability,
                    mean_length,
                },
            },
            ..Config::default()
        })
    }

    /// The first thing about the link that makes no sense.
    pub fn complaint(&self) -> Option<String> {
        let milliseconds_ok = |x: f64| (0.0..=60_000.0).contains(&x);
        if !milliseconds_ok(self.delay_ms) {
            return Some(format!(
                "delay_ms is {}, expected 0 to 60000",
                self.delay_ms
            ));
        }
        if let Some(s) = self
            .delay_steps
            .iter()
            .find(|s| !milliseconds_ok(s.ms) || s.at_s.is_nan() || s.at_s < 0.0)
        {
            return Some(format!(
                "delay step {{ at_s = {}, ms = {} }}, expected at_s >= 0 and ms 0 to 60000",
                s.at_s, s.ms
            ));
        }
        if self.delay_steps.windows(2).any(|w| w[0].at_s >= w[1].at_s) {
            return Some("delay_steps out of order, expected increasing at_s".into());
        }
        if let Some(complaint) = self.rate.complaint() {
            return Some(complaint);
        }
        if self.queue.packets == Some(0) || self.queue.bytes == Some(0) {
            return Some("a queue limit of 0, expected at least 1".into());
        }
        let codel_ms = [self.queue.codel_target_ms, self.queue.codel_interval_ms];
        if !codel_ms.iter().all(|&ms| ms > 0.0 && milliseconds_ok(ms)) {
            return Some(
                "codel_target_ms and codel_interval_ms, expected more than 0, at most 60000".into(),
            );
        }
        let probability_ok = |p: f64| (0.0..1.0).contains(&p);
        match self.loss {
            Some(LossSpec::Random(p)) if !probability_ok(p) => {
                Some(format!("loss.random is {p}, expected 0 to less than 1"))
            }
            Some(LossSpec::Bursty {
                probability,
                mean_length,
            }) if !probability_ok(probability) || mean_length.is_nan() || mean_length < 1.0 => {
                Some(
                    "loss.bursty, expected probability 0 to less than 1 and mean_length >= 1"
                        .into(),
                )
            }
            // Every run of losses is followed by at least one packet that arrives.
            Some(LossSpec::Bursty {
                probability,
                mean_length,
            }) if probability > mean_length / (mean_length + 1.0) => Some(format!(
                "loss.bursty, a probability of {probability} cannot be had in runs of mean_length = \
                 {mean_length}, expected at most mean_length / (mean_length + 1)"
            )),
            _ => None,
        }
    }
}

impl RateSpec {
    /// The first thing about the rate that makes no sense, as far as can be told without its file.
    fn complaint(&self) -> Option<String> {
        let (name, mbps) = match self {
            RateSpec::ConstantMbps(mbps) => ("constant_mbps", *mbps),
            RateSpec::Generate(g) => ("mean_mbps", g.mean_mbps?),
            RateSpec::Trace(_) | RateSpec::Series(_) => return None,
        };
        let positive = mbps.is_finite() && mbps > 0.0;
        (!positive).then(|| format!("{name} is {mbps}, expected more than 0"))
    }

    fn resolve(&self, folder: &Path, seed: u64) -> Result<Rate, LoadError> {
        Ok(match self {
            RateSpec::ConstantMbps(mbps) => Rate::Constant(mbps * 1e6),
            RateSpec::Trace(file) => {
                Rate::Opportunities(Arc::new(parse(folder, file, Trace::parse)?))
            }
            RateSpec::Series(file) => {
                Rate::Series(Arc::new(parse(folder, file, RateSeries::parse)?))
            }
            RateSpec::Generate(g) => Rate::Cell(g.model(seed)),
        })
    }
}

impl GenerateSpec {
    /// The cell model, with `seed` unless it has one of its own.
    pub fn model(&self, seed: u64) -> CellModel {
        let cell = match self.kind {
            CellKind::Lte => Cell::Lte,
            CellKind::Hspa => Cell::Hspa,
            CellKind::Evdo => Cell::Evdo,
        };
        CellModel::new(
            cell,
            self.mean_mbps.map(|m| m * 1e6),
            self.seed.unwrap_or(seed),
        )
    }
}

impl QueueSpec {
    fn resolve(&self) -> QueueConfig {
        QueueConfig {
            packets: self.packets,
            bytes: self.bytes,
            policy: match self.policy {
                QueuePolicy::DropTail => Policy::DropTail,
                QueuePolicy::DropHead => Policy::DropHead,
                QueuePolicy::Codel => Policy::Codel {
                    target: milliseconds(self.codel_target_ms),
                    interval: milliseconds(self.codel_interval_ms),
                },
            },
        }
    }
}

/// Reads `file` below `folder` and hands its text to one of the link's parsers.
fn parse<T>(
    folder: &Path,
    file: &str,
    parser: fn(&str) -> Result<T, tidegate_link::ParseError>,
) -> Result<T, LoadError> {
    let path = folder.join(file);
    parser(&read(&path)?).map_err(|e| LoadError::Syntax {
        line: e.line,
        message: e.message,
        path,
    })
}

fn read(path: &Path) -> Result<String, LoadError> {
    std::fs::read_to_string(path).map_err(|source| LoadError::Read {
        path: path.into(),
        source,
    })
}

/// TOML's own message without its drawing of the line, which we name instead.
fn syntax(e: &toml::de::Error, text: &str, path: &Path) -> LoadError {
    let offset = e.span().map_or(0, |s| s.start).min(text.len());
    LoadError::Syntax {
        path: path.into(),
        line: text[..offset].matches('\n').count() + 1,
        message: e.message().replace('\n', ", "),
    }
}

fn duplicate<'a>(names: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    names
        .into_iter()
        .find(|n| !seen.insert(n.as_str()))
        .cloned()
}

fn milliseconds(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}
