//! Reading a scenario and the files that it names, with errors that say where and what: all of them at once.

use crate::complaints::{Complaint, Complaints};
use crate::cost::Known;
use crate::link::place_of;
use crate::place::{as_value, document, follow, key_at, spelt};
use crate::unknown::with_suggestion;
use crate::{
    Files, LinkSpec, Scenario, SizeDistribution, Step, WorkloadKind, range, read_text, tolerant,
};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use tidegate_link::Config;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Why a scenario cannot be run. Displays as one line, or a line for each thing that is wrong; each names the file and, where
/// there is one, the line.
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
        /// Which key of a scenario, as `down.delay_ms` or `workload[0].does`; none of what is no TOML, or of a trace.
        key: Option<String>,
        /// What is wrong and what was expected.
        message: String,
    },
    /// The scenario parses but makes no sense.
    #[error("{}: {message}", path.display())]
    Meaning {
        /// Which file.
        path: PathBuf,
        /// Which key, where it is known.
        key: Option<String>,
        /// What is wrong and what was expected.
        message: String,
    },
    /// Several things are wrong.
    #[error("{}", Lines(.0))]
    Several(Vec<LoadError>),
}

/// Errors, a line each, with their causes.
struct Lines<'a>(&'a [LoadError]);

impl Display for Lines<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for (nth, error) in self.0.iter().enumerate() {
            let end = if nth == 0 { "" } else { "\n" };
            write!(f, "{end}{error}")?;
            if let LoadError::Read { source, .. } = error {
                write!(f, ": {source}")?;
            }
        }
        Ok(())
    }
}

impl LoadError {
    /// Reads a file.
    ///
    /// # Errors
    /// [`LoadError::Read`] when it cannot be read, as [`read_text`] says.
    pub fn read(path: &Path) -> Result<String, Self> {
        read_text(path).map_err(|source| Self::Read {
            path: path.into(),
            source,
        })
    }

    /// TOML's own message without its drawing of the line, which we name instead, and with what may have been meant.
    pub fn toml(e: &toml::de::Error, text: &str, path: &Path) -> Self {
        let offset = e.span().map_or(0, |s| s.start);
        let message = with_suggestion(&e.message().replace('\n', ", "));
        Self::at(offset, message, text, path)
    }

    /// What is wrong with the text at that offset.
    pub fn at(offset: usize, message: String, text: &str, path: &Path) -> Self {
        let offset = offset.min(text.len());
        Self::Syntax {
            path: path.into(),
            line: text[..offset].matches('\n').count() + 1,
            key: document(text).and_then(|document| key_at(&document, offset)),
            message,
        }
    }

    /// All of them, in the order of their lines, each once; none of none.
    pub fn all(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let flat = errors.into_iter().flat_map(|error| match error {
            Self::Several(errors) => errors,
            one => vec![one],
        });
        let mut errors: Vec<Self> = flat.collect();
        errors.sort_by_key(Self::line);
        errors.dedup_by_key(|error| error.to_string());
        match errors.len() {
            0 | 1 => errors.pop(),
            _ => Some(Self::Several(errors)),
        }
    }

    /// Whatever has no line comes last.
    fn line(&self) -> usize {
        match self {
            Self::Syntax { line, .. } => *line,
            _ => usize::MAX,
        }
    }

    /// This, and that files are missing which the scenario in `text` names, relative to the folder of `path`: so that whoever
    /// puts the one right hears of the other.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "this is one at least")]
    pub fn with_missing_files(self, text: &str, path: &Path) -> Self {
        let (table, _) = DeTable::parse_recoverable(text);
        let mut missing = Vec::new();
        let folder = path.parent().unwrap_or(Path::new("."));
        each_file(&as_value(table), &mut |offset, file| {
            if let Err(error) = std::fs::metadata(folder.join(file)) {
                missing.push(Self::at(offset, unreadable(file, &error), text, path));
            }
        });
        Self::all([self].into_iter().chain(missing)).expect("one at least")
    }

    /// With the line of the scenario at `path` that names the file, where it is one that cannot be read.
    fn of_file_in(self, path: &Path) -> Self {
        let Self::Read { path: file, source } = &self else {
            return self;
        };
        let Some(text) = read_again(path) else {
            return self;
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut named = None;
        if let Some(document) = document(&text) {
            each_file(&document, &mut |offset, name| {
                if folder.join(name) == *file {
                    named.get_or_insert((offset, unreadable(name, source)));
                }
            });
        }
        match named {
            Some((offset, message)) => Self::at(offset, message, &text, path),
            None => self,
        }
    }
}

/// What has been read once; of a pipe nothing is left.
pub(crate) fn read_again(path: &Path) -> Option<String> {
    let is_file = std::fs::metadata(path).is_ok_and(|file| file.is_file());
    is_file.then(|| read_text(path).ok())?
}

fn unreadable(file: &str, why: &std::io::Error) -> String {
    format!("cannot read {file}: {why}")
}

/// Keys of a scenario whose values name files, relative to the folder of the scenario's own.
pub const FILE_KEYS: [&str; 4] = ["cdf", "delay_trace", "series", "trace"];

/// Tells of each file that is named in there.
fn each_file(value: &Spanned<DeValue>, tell: &mut impl FnMut(usize, &str)) {
    match value.get_ref() {
        DeValue::Table(table) => {
            for (key, value) in table {
                match value.get_ref() {
                    DeValue::String(file) if FILE_KEYS.contains(&key.get_ref().as_ref()) => {
                        tell(value.span().start, file);
                    }
                    _ => each_file(value, tell),
                }
            }
        }
        DeValue::Array(values) => values.iter().for_each(|value| each_file(value, tell)),
        _ => {}
    }
}

/// A scenario's links and sizes of flows with every file read and parsed, ready to run.
#[derive(Clone, Debug)]
pub struct LinkInputs {
    /// Server to client.
    pub down: Config,
    /// Client to server.
    pub up: Config,
    /// The scenario's further links, in its order.
    pub hops: Vec<Config>,
    /// Of each workload the sizes of its flows, if it has any, in the scenario's order.
    pub sizes: Vec<Option<SizeDistribution>>,
}

impl Scenario {
    /// Parses and checks a scenario; `path` is named in errors and need not exist.
    ///
    /// # Errors
    /// All that is wrong with it, as far as one thing does not hide another.
    pub fn parse(text: &str, path: &Path) -> Result<Self, LoadError> {
        match toml::from_str::<Self>(text) {
            Ok(scenario) => scenario.checked(text, path),
            Err(first) => Err(malformed(&first, text, path)),
        }
    }

    /// The scenario of `text`, if it makes sense.
    fn checked(self, text: &str, path: &Path) -> Result<Self, LoadError> {
        match refused(self.complaints(), text, path) {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    /// Reads, parses and checks a scenario.
    ///
    /// # Errors
    /// See [`Self::parse`]; and files that it names and that are not there.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let text = LoadError::read(path)?;
        Self::parse(&text, path).map_err(|error| error.with_missing_files(&text, path))
    }

    /// Reads the traces that the scenario names, relative to the folder of the scenario's `path`.
    ///
    /// # Errors
    /// All that cannot be read, or are not what they should be.
    pub fn link_inputs(&self, path: &Path) -> Result<LinkInputs, LoadError> {
        self.link_inputs_from(&Files::beside(path), path)
    }

    /// The same with files that need not lie beside the scenario's `path`, which is named in errors.
    ///
    /// # Errors
    /// As [`Self::link_inputs`].
    #[expect(
        clippy::missing_panics_doc,
        reason = "where one is wrong there is an error"
    )]
    pub fn link_inputs_from(&self, files: &Files, path: &Path) -> Result<LinkInputs, LoadError> {
        let place = place_of(self.seed);
        let down = self.down.resolve_at(files, self.seed, place);
        // Another stream of the same seed: the uplink's cell is not the downlink's.
        let up = self.up.resolve_at(files, self.seed ^ 0x5570, place);
        let hops: Vec<_> = self
            .hops
            .iter()
            .zip(2..)
            .map(|(hop, stream)| {
                let seed = self.seed ^ (stream << 16);
                hop.link.resolve_at(files, seed, place)
            })
            .collect();
        let sizes = self.workloads.iter().map(|workload| match &workload.does {
            WorkloadKind::Flows(flows) => flows.sizes.resolve(files).map(Some),
            _ => Ok(None),
        });
        let mut errors = Vec::new();
        let sizes = all_of(sizes, path, &mut errors);
        let links = all_of([down, up].into_iter().chain(hops), path, &mut errors);
        match (links, sizes) {
            (Some(mut links), Some(sizes)) => {
                let hops = links.split_off(2);
                let [down, up] = links.try_into().expect("these two");
                let inputs = LinkInputs {
                    down,
                    up,
                    hops,
                    sizes,
                };
                match self.costly(&inputs, path) {
                    Some(refusal) => Err(refusal),
                    None => Ok(inputs),
                }
            }
            _ => Err(LoadError::all(errors).expect("one at least")),
        }
    }
}

impl Scenario {
    /// Whether every seed plays the same piece of some link's recording: what several seeds measure is of that piece.
    pub fn plays_one_piece(&self) -> bool {
        let hops = self.hops.iter().map(|hop| &hop.link);
        let mut links = [&self.down, &self.up].into_iter().chain(hops);
        links.any(LinkSpec::plays_one_piece)
    }

    /// Recordings that carry so much that nobody could wait for it.
    fn costly(&self, inputs: &LinkInputs, path: &Path) -> Option<LoadError> {
        let rates: Vec<f64> = [&inputs.down, &inputs.up]
            .into_iter()
            .chain(&inputs.hops)
            .map(|config| config.rate.mean_bps() / 1e6)
            .collect();
        let mut complaints = Complaints::default();
        let known = Known {
            rates: &|place| rates.get(place).copied(),
            mean_bytes: &|workload| Some(inputs.sizes.get(workload)?.as_ref()?.mean()),
        };
        self.complain_of_cost(&known, &mut complaints);
        let complaint = complaints.found().into_iter().next()?;
        Some(LoadError::Meaning {
            path: path.into(),
            key: Some(spelt(&complaint.place)),
            message: complaint.message,
        })
    }
}

/// All of them, where each could be read; what is wrong goes into `errors`.
fn all_of<T>(
    read: impl IntoIterator<Item = Result<T, LoadError>>,
    path: &Path,
    errors: &mut Vec<LoadError>,
) -> Option<Vec<T>> {
    let mut keep = |one: Result<T, LoadError>| match one {
        Ok(one) => Some(one),
        Err(error) => {
            errors.push(error.of_file_in(path));
            None
        }
    };
    let kept: Vec<_> = read.into_iter().map(&mut keep).collect();
    kept.into_iter().collect()
}

/// All that is wrong with a text that is no scenario; `first` is what the parser ended with.
fn malformed(first: &toml::de::Error, text: &str, path: &Path) -> LoadError {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let errors = errors
            .iter()
            .map(|error| LoadError::toml(error, text, path));
        // What follows an error in its line is mostly its doing.
        let mut errors: Vec<_> = errors.collect();
        errors.sort_by_key(LoadError::line);
        errors.dedup_by_key(|error| error.line());
        return LoadError::all(errors).expect("one at least");
    }
    let document = as_value(table);
    let (scenario, faults) = tolerant::read::<Scenario>(&document);
    let complaints = scenario
        .map(|s| s.complaints_of_parts())
        .unwrap_or_default();
    // Of what is wrong already nothing more can be said.
    let sound = complaints.into_iter().filter(|complaint| {
        let parts = match complaint.is_of_one {
            true => vec![complaint.place.clone()],
            false => parts_of(&complaint.place),
        };
        let mut parts = parts.iter().map(|part| follow(&document, part).0);
        parts.all(|part| !faults.iter().any(|fault| fault.within(part)))
    });
    let meant = refused(sound.collect(), text, path);
    let faults = faults.iter();
    let faults = faults.map(|fault| {
        let message = out_of_range(fault, &document).unwrap_or_else(|| fault.message.clone());
        LoadError::at(fault.offset, message, text, path)
    });
    LoadError::all(faults.chain(meant)).unwrap_or_else(|| LoadError::toml(first, text, path))
}

/// Of a number that its type cannot hold: its range, of which the type's is more than it may have.
fn out_of_range(fault: &tolerant::Fault, document: &Spanned<DeValue>) -> Option<String> {
    let (number, key) = (fault.number?, key_at(document, fault.offset)?);
    Some(format!("{key} is {number}, expected {}", range(&key)?))
}

/// Places of all that has to be known to tell whether the value at `place` makes sense.
fn parts_of(place: &[Step]) -> Vec<Vec<Step>> {
    let depth = match place.first() {
        Some(Step::Key("down" | "up")) => 2,
        Some(Step::Key("hop")) => 4,
        Some(Step::Key("workload")) => 3,
        _ => 2,
    };
    let part = &place[..depth.min(place.len())];
    let mut parts = vec![part.to_vec()];
    // A link's errors may be by the signal of its rate.
    if let Some((Step::Key("arq"), link)) = part.split_last() {
        parts.push([link, &[Step::Key("rate")]].concat());
    }
    parts
}

/// Complaints of the scenario of `text`.
fn refused(complaints: Vec<Complaint>, text: &str, path: &Path) -> Option<LoadError> {
    if complaints.is_empty() {
        return None;
    }
    let document = document(text);
    let errors = complaints.into_iter().map(|complaint| match &document {
        Some(document) => {
            let (value, _) = follow(document, &complaint.place);
            LoadError::at(value.span().start, complaint.message, text, path)
        }
        None => LoadError::Meaning {
            path: path.into(),
            key: Some(spelt(&complaint.place)),
            message: complaint.message,
        },
    });
    LoadError::all(errors)
}

pub(crate) fn duplicate<'a>(names: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    names
        .into_iter()
        .find(|n| !seen.insert(n.as_str()))
        .cloned()
}
