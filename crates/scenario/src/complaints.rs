//! What makes no sense in a scenario that parses: everything, each with its place.

use crate::Step;

/// Something that makes no sense.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complaint {
    /// Where its value stands, or would.
    pub place: Vec<Step>,
    /// What is wrong and what was expected.
    pub message: String,
}

/// All of it, gathered part by part.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    place: Vec<Step>,
    whose: String,
    found: Vec<Complaint>,
}

impl Complaints {
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
        });
    }

    /// Complains unless it is so.
    pub fn expect(&mut self, ok: bool, keys: &'static str, message: impl FnOnce() -> String) {
        if !ok {
            self.say(keys, message());
        }
    }

    /// Complains unless the value of that name is above 0 and at most `max`.
    pub fn within(&mut self, name: &'static str, value: f64, max: f64) {
        self.expect(value > 0.0 && value <= max, name, || {
            format!("{name} is {value}, expected more than 0 and at most {max}")
        });
    }

    /// Complains unless it is above 0 and no more than anybody means, in any unit.
    pub fn positive(&mut self, name: &'static str, value: f64) {
        self.within(name, value, 1e6);
    }

    /// Complains unless it is from 0 to 1.
    pub fn share(&mut self, name: &'static str, value: f64) {
        self.expect((0.0..=1.0).contains(&value), name, || {
            format!("{name} is {value}, expected 0 to 1")
        });
    }

    /// Complains of 0.
    pub fn at_least_one(&mut self, name: &'static str, value: u64) {
        self.expect(value > 0, name, || {
            format!("{name} is 0, expected at least 1")
        });
    }
}

fn steps(keys: &'static str) -> impl Iterator<Item = Step> {
    let keys = keys.split('.').filter(|key| !key.is_empty());
    keys.map(Step::Key)
}
