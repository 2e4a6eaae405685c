//! The files that a scenario names: below a folder, or made by a program and never written.

use crate::LoadError;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Where the files are that a scenario names.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    folder: &'a Path,
    made: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Files<'a> {
    /// Below that folder.
    pub fn below(folder: &'a Path) -> Self {
        Self { folder, made: None }
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

    /// The text of the file that the scenario calls so.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, name: &str) -> Result<Cow<'a, str>, LoadError> {
        match self.made.and_then(|made| made.get(name)) {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => LoadError::read(&self.folder.join(name)).map(Cow::Owned),
        }
    }

    /// Hands the text of that file to one of the link's parsers.
    pub(crate) fn parse<T>(
        &self,
        name: &str,
        parser: fn(&str) -> Result<T, tidegate_link::ParseError>,
    ) -> Result<T, LoadError> {
        parser(&self.read(name)?).map_err(|e| LoadError::Syntax {
            path: self.folder.join(name),
            line: e.line,
            key: None,
            message: e.message,
        })
    }
}
