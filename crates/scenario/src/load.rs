//! Reading a scenario and the files that it names, with errors that say where and what.

use crate::{Law, Run, Scenario, read_text};
use std::path::{Path, PathBuf};
use tidegate_link::Config;

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

impl LoadError {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<String, Self> {
        read_text(path).map_err(|source| Self::Read {
            path: path.into(),
            source,
        })
    }

    /// TOML's own message without its drawing of the line, which we name instead.
    pub fn toml(e: &toml::de::Error, text: &str, path: &Path) -> Self {
        let offset = e.span().map_or(0, |s| s.start);
        Self::at(offset, e.message().replace('\n', ", "), text, path)
    }

    /// What is wrong with the text at that offset.
    pub fn at(offset: usize, message: String, text: &str, path: &Path) -> Self {
        let offset = offset.min(text.len());
        Self::Syntax {
            path: path.into(),
            line: text[..offset].matches('\n').count() + 1,
            message,
        }
    }
}

/// Keys of a scenario whose values name files, relative to the folder of the scenario's own.
pub const FILE_KEYS: [&str; 3] = ["delay_trace", "series", "trace"];

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
        let scenario: Scenario =
            toml::from_str(text).map_err(|e| LoadError::toml(&e, text, path))?;
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
        Self::parse(&LoadError::read(path)?, path)
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

    /// Whether some flow control in the run needs a fixed buffer that it does not have.
    fn lacks_window(&self, run: &Run) -> bool {
        let own = self.workloads.iter().filter_map(|w| w.flow_control);
        let mut all = own.chain([run.flow_control]);
        run.window.is_none() && all.any(|flow_control| !flow_control.is_linux())
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
        if self.hosts.initial_window == Some(0) {
            return Some("hosts.initial_window is 0, expected at least 1".into());
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
        if let Some(r) = self.runs.iter().find(|r| self.lacks_window(r)) {
            return Some(format!(
                "run \"{}\" has no window, expected one in bytes: classic and adaptive flow control need a fixed buffer",
                r.name
            ));
        }
        if let Some(r) = self.runs.iter().find(|r| r.window == Some(0)) {
            return Some(format!(
                "run \"{}\": window is 0, expected at least 1",
                r.name
            ));
        }
        let cannot = |r: &&Run| r.uploads == Some(true) && !r.law.steers_uploads();
        if let Some(r) = self.runs.iter().find(cannot) {
            return Some(format!(
                "run \"{}\": uploads = true, but {} cannot steer them, expected {}",
                r.name,
                r.law,
                Law::names(|law| law.steers_uploads()).join(" or ")
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
            if let Some(complaint) = self.ways_complaint(w) {
                return Some(format!("workload \"{}\": {complaint}", w.name));
            }
            let stop = w.stop_s.unwrap_or(self.duration_s);
            if !(1..=100).contains(&w.weight) {
                return Some(format!(
                    "workload \"{}\": weight is {}, expected 1 to 100",
                    w.name, w.weight
                ));
            }
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

/// Reads `file` below `folder` and hands its text to one of the link's parsers.
pub(crate) fn parse<T>(
    folder: &Path,
    file: &str,
    parser: fn(&str) -> Result<T, tidegate_link::ParseError>,
) -> Result<T, LoadError> {
    let path = folder.join(file);
    parser(&LoadError::read(&path)?).map_err(|e| LoadError::Syntax {
        line: e.line,
        message: e.message,
        path,
    })
}

pub(crate) fn duplicate<'a>(names: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    names
        .into_iter()
        .find(|n| !seen.insert(n.as_str()))
        .cloned()
}
