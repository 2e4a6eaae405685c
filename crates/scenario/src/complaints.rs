//! What makes no sense in a scenario that parses: everything, each with its place.

use crate::Step;

/// Something that makes no sense.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complaint {
    /// Where its value stands, or would.
    pub place: Vec<Step>,
    /// What is wrong and what was expected.
    pub message: String,
    /// Whether it is of that value alone, whatever stands beside it.
    pub is_of_one: bool,
}

/// All of it, gathered part by part.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    place: Vec<Step>,
    whose: String,
    found: Vec<Complaint>,
}

impl Complaints {
    /// With what is known already: numbers that are out of range.
    pub fn with(found: Vec<Complaint>) -> Self {
        Self {
            found,
            ..Self::default()
        }
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What was found.
    pub fn found(self) -> Vec<Complaint> {
        self.found
    }

    /// The message of the first, if there is any.
    pub fn first(self) -> Option<String> {
        self.found.into_iter().next().map(|c| c.message)
    }

    /// Has `look` look at what stands under these keys, joined by dots.
    pub fn inside(&mut self, keys: &'static str, look: impl FnOnce(&mut Self)) {
        self.at(steps(keys), "", look);
    }

    /// Has `look` look at what stands there; its messages begin with `whose`.
    pub fn at(
        &mut self,
        place: impl IntoIterator<Item = Step>,
        whose: &str,
        look: impl FnOnce(&mut Self),
    ) {
        let (depth, length) = (self.place.len(), self.whose.len());
        self.place.extend(place);
        self.whose.push_str(whose);
        look(self);
        self.place.truncate(depth);
        self.whose.truncate(length);
    }

    /// Complains of the value under these keys, joined by dots; of the table itself without any.
    pub fn say(&mut self, keys: &'static str, message: impl AsRef<str>) {
        let place = self.place.iter().cloned().chain(steps(keys));
        self.found.push(Complaint {
            place: place.collect(),
            message: format!("{}{}", self.whose, message.as_ref()),
            is_of_one: false,
        });
    }

    /// Complains unless it is so.
    pub fn expect(&mut self, ok: bool, keys: &'static str, message: impl FnOnce() -> String) {
        if !ok {
            self.say(keys, message());
        }
    }

    /// Whether each number under these keys is within its range, so that it can be asked what they are together.
    pub fn sound<const N: usize>(&self, keys: [&'static str; N]) -> bool {
        keys.iter().all(|keys| {
            let place: Vec<_> = self.place.iter().cloned().chain(steps(keys)).collect();
            let mut outside = self.found.iter().filter(|complaint| complaint.is_of_one);
            outside.all(|complaint| !complaint.place.starts_with(&place))
        })
    }
}

fn steps(keys: &'static str) -> impl Iterator<Item = Step> {
    let keys = keys.split('.').filter(|key| !key.is_empty());
    keys.map(Step::Key)
}
