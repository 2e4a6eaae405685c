//! The files that a scenario names: below a folder, or made by a program and never written.

mod recordings;

use crate::{LoadError, SizeTable};
use recordings::Recorded;
pub use recordings::Recordings;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tidegate_link::{DelayTrace, RateSeries, Trace};

/// Where the files are that a scenario names.
#[derive(Clone, Debug)]
pub struct Files<'a> {
    folder: &'a Path,
    made: Option<&'a BTreeMap<String, String>>,
    recordings: Recordings,
}

impl<'a> Files<'a> {
    /// Below that folder.
    pub fn below(folder: &'a Path) -> Self {
        Self {
            folder,
            made: None,
            recordings: Recordings::default(),
        }
    }

    /// Beside the scenario's own file.
    pub fn beside(scenario: &'a Path) -> Self {
        Self::below(scenario.parent().unwrap_or(Path::new(".")))
    }

    /// The same but for those whose text is given here, by their names.
    #[must_use]
    pub fn with(self, made: &'a BTreeMap<String, String>) -> Self {
        let made = Some(made);
        Self { made, ..self }
    }

    /// The same, of which what has been read is not read again: variants of a scenario share their recordings, and a pipe,
    /// which can be read once, serves them all.
    #[must_use]
    pub fn sharing(self, recordings: &Recordings) -> Self {
        let recordings = recordings.clone();
        Self { recordings, ..self }
    }

    /// What is to be said of those that have been read, as [`Recordings::warnings`] has it.
    pub fn warnings(&self) -> Vec<String> {
        self.recordings.warnings()
    }

    /// The hash of what is in the file that stands under that one of [`FILE_KEYS`](crate::FILE_KEYS), by BLAKE3.
    ///
    /// # Errors
    /// When it cannot be read, or is not what the key wants.
    pub fn hash(&self, key: &str, name: &str) -> Result<String, LoadError> {
        let hash = match key {
            "series" => self.read::<RateSeries>(name)?.1,
            "delay_trace" => self.read::<DelayTrace>(name)?.1,
            "cdf" => self.read::<SizeTable>(name)?.1,
            _ => self.read::<Trace>(name)?.1,
        };
        Ok(hash.to_string())
    }

    pub(crate) fn trace(&self, name: &str) -> Result<Arc<Trace>, LoadError> {
        self.read(name).map(|(trace, _)| trace)
    }

    pub(crate) fn series(&self, name: &str) -> Result<Arc<RateSeries>, LoadError> {
        self.read(name).map(|(series, _)| series)
    }

    pub(crate) fn delay_trace(&self, name: &str) -> Result<Arc<DelayTrace>, LoadError> {
        self.read(name).map(|(delays, _)| delays)
    }

    pub(crate) fn sizes(&self, name: &str) -> Result<Arc<SizeTable>, LoadError> {
        self.read(name).map(|(sizes, _)| sizes)
    }

    fn read<R: Recorded>(&self, name: &str) -> Result<(Arc<R>, blake3::Hash), LoadError> {
        let text = self.made.and_then(|made| made.get(name));
        self.recordings
            .get(&self.folder.join(name), text.map(String::as_str))
    }
}
