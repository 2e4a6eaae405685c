//! The range of every number in a scenario.
//!
//! Each stands beside its key, in `#[schemars(range(…))]`: reference, JSON Schema and the check of what somebody has written
//! are made of the same schema. A number without a range there is a fault of the code, which a test finds.

mod walk;

use crate::complaints::Complaint;
use crate::{LinkSpec, Scenario, Step, schema};
use schemars::{Schema, json_schema};
use serde_json::Value;
use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use std::sync::LazyLock;
pub(crate) use walk::Number;
use walk::{Found, walk};

/// The lowest and the highest value that a number may have, and its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The lowest.
    pub min: serde_json::Number,
    /// The highest.
    pub max: serde_json::Number,
    /// As the reference has it; none of a bare number.
    pub unit: Option<String>,
}

impl Range {
    /// That of a number's schema.
    fn of(schema: &Value) -> Option<Self> {
        let bound = |key| schema.get(key).and_then(Value::as_number).cloned();
        Some(Self {
            min: bound("minimum")?,
            max: bound("maximum")?,
            unit: None,
        })
    }

    fn holds(&self, number: Number) -> bool {
        match number {
            Number::Whole(whole) => {
                let exact = |bound: &serde_json::Number| {
                    let whole = bound.as_i64().map(i128::from);
                    whole.or_else(|| bound.as_u64().map(i128::from))
                };
                match (exact(&self.min), exact(&self.max)) {
                    (Some(min), Some(max)) => (min..=max).contains(&whole),
                    _ => self.spans(whole as f64),
                }
            }
            // No number is in no range.
            Number::Float(float) => self.spans(float),
        }
    }

    /// Whether the number is in it.
    pub fn spans(&self, number: f64) -> bool {
        let bound = |bound: &serde_json::Number| bound.as_f64().unwrap_or(f64::NAN);
        (bound(&self.min)..=bound(&self.max)).contains(&number)
    }
}

impl Display for Range {
    /// As errors have it: `0.001 to 100000 Mbit/s`.
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{} to {}", plain(&self.min), plain(&self.max))?;
        match self.unit.as_deref() {
            // What has no dimension says so by its range.
            None | Some("probability" | "share" | "ratio") => Ok(()),
            Some(unit) => write!(f, " {unit}"),
        }
    }
}

/// A bound without the point of a whole number.
fn plain(bound: &serde_json::Number) -> String {
    match bound.as_f64() {
        Some(float) if bound.is_f64() => format!("{float}"),
        _ => bound.to_string(),
    }
}

static SCENARIO: LazyLock<Value> = LazyLock::new(schema);
static LINK: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(LinkSpec).to_value());

/// What of the scenario's numbers is out of range.
pub(crate) fn of_scenario(scenario: &Scenario) -> Vec<Complaint> {
    let mut found = outside(scenario, &SCENARIO);
    for complaint in &mut found {
        let whose = whose(scenario, &complaint.place);
        complaint.message.insert_str(0, &whose);
    }
    found
}

/// The same of a link by itself.
pub(crate) fn of_link(link: &LinkSpec) -> Vec<Complaint> {
    outside(link, &LINK)
}

/// The range of the number under that key of a scenario, such as `workload[0].does.bulk.flows`, if there is one.
pub fn range(key: &str) -> Option<Range> {
    let mut cursor = Cursor::new(&SCENARIO);
    for part in key.split(['.', '[']) {
        cursor = match part.strip_suffix(']') {
            Some(nth) => cursor.item(nth.parse().ok()?),
            None => cursor.key(part),
        };
    }
    cursor.range()
}

/// Each number that is out of range, and each list that is too short or too long.
fn outside(value: &impl serde::Serialize, root: &'static Value) -> Vec<Complaint> {
    let mut found = Vec::new();
    walk(value, Cursor::new(root), &mut |place, what, cursor| {
        let key = || crate::place::spelt(own_part(place));
        let message = match what {
            Found::Number(number) => cursor
                .range()
                .filter(|range| !range.holds(number))
                .map(|range| format!("{} is {number}, expected {range}", key())),
            Found::List(length) => cursor
                .lengths()
                .filter(|lengths| !lengths.contains(&length))
                .map(|lengths| {
                    let (least, most) = lengths.into_inner();
                    format!("{} has {length} items, expected {least} to {most}", key())
                }),
        };
        found.extend(message.map(|message| Complaint {
            place: place.to_vec(),
            message,
            is_of_one: true,
        }));
    });
    found
}

/// What stands before the key in messages: whose it is.
fn whose(scenario: &Scenario, place: &[Step]) -> String {
    let name = match place {
        [Step::Key(link @ ("down" | "up")), ..] => (*link).to_owned(),
        [Step::Key("hop"), Step::Nth(nth), ..] => scenario.hops[*nth].name.clone(),
        [Step::Key("workload"), Step::Nth(nth), ..] => {
            format!("workload \"{}\"", scenario.workloads[*nth].name)
        }
        [Step::Key("run"), Step::Nth(nth), ..] => format!("run \"{}\"", scenario.runs[*nth].name),
        _ => return String::new(),
    };
    format!("{name}: ")
}

/// The place within what messages name.
fn own_part(place: &[Step]) -> &[Step] {
    match place {
        [Step::Key("down" | "up"), rest @ ..]
        | [Step::Key("hop"), Step::Nth(_), Step::Key("link"), rest @ ..]
        | [Step::Key("workload" | "run"), Step::Nth(_), rest @ ..] => rest,
        all => all,
    }
}

/// A place of a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'s> {
    root: &'s Value,
    /// None where the schema says nothing.
    at: Option<&'s Value>,
    /// The nearest unit above.
    unit: Option<&'s str>,
}

impl<'s> Cursor<'s> {
    pub(crate) fn new(root: &'s Value) -> Self {
        Self {
            root,
            at: Some(root),
            unit: None,
        }
    }

    /// What stands under that key.
    pub(crate) fn key(self, key: &str) -> Self {
        let inner = self.find(&|schema| schema.get("properties")?.get(key));
        let own = inner
            .and_then(|schema| schema.get("unit"))
            .and_then(Value::as_str);
        // That of a kind which is a number or a list stands with the kind.
        let kind = self.find(&|schema| schema.get("properties")?.get(key).and(Some(schema)));
        let kind = kind
            .and_then(|schema| schema.get("unit"))
            .and_then(Value::as_str);
        Self {
            at: inner,
            unit: own.or(kind).or_else(|| unit_in(key)),
            ..self
        }
    }

    /// The item at that place of a list.
    pub(crate) fn item(self, nth: usize) -> Self {
        let inner = self.find(&|schema| {
            let items = schema.get("prefixItems").and_then(|items| items.get(nth));
            items.or_else(|| schema.get("items"))
        });
        let own = inner
            .and_then(|schema| schema.get("unit"))
            .and_then(Value::as_str);
        Self {
            at: inner,
            unit: own.or(self.unit),
            ..self
        }
    }

    /// How many items a list may have, if it may not have any number.
    fn lengths(self) -> Option<RangeInclusive<usize>> {
        let list = self.find(&|schema| schema.get("maxItems").and(Some(schema)))?;
        let count = |key| Some(list.get(key)?.as_u64()? as usize);
        Some(count("minItems").unwrap_or(0)..=count("maxItems")?)
    }

    fn range(self) -> Option<Range> {
        let range = self.find(&|schema| Range::of(schema).and(Some(schema)))?;
        let mut range = Range::of(range)?;
        range.unit = self.unit.map(str::to_owned);
        Some(range)
    }

    /// The first of what it may be in which `look` finds something.
    fn find(self, look: &dyn Fn(&'s Value) -> Option<&'s Value>) -> Option<&'s Value> {
        fn find<'s>(
            root: &'s Value,
            schema: &'s Value,
            look: &dyn Fn(&'s Value) -> Option<&'s Value>,
        ) -> Option<&'s Value> {
            if let Some(found) = look(schema) {
                return Some(found);
            }
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                return find(root, root.pointer(reference.strip_prefix('#')?)?, look);
            }
            let choices = ["anyOf", "oneOf"].into_iter();
            let mut choices = choices
                .filter_map(|key| schema.get(key)?.as_array())
                .flatten();
            choices.find_map(|choice| find(root, choice, look))
        }
        find(self.root, self.at?, look)
    }
}

/// The unit with which the name of a key ends, if it does.
pub fn unit_in(key: &str) -> Option<&'static str> {
    Some(match key.rsplit('_').next().unwrap_or(key) {
        "s" => "s",
        "ms" => "ms",
        "mbps" => "Mbit/s",
        "bps" => "bit/s",
        "bytes" => "bytes",
        "packets" => "packets",
        "db" => "dB",
        _ => return None,
    })
}

/// The schema of a list of pairs: of each of the two its unit, its lowest and its highest value.
pub(crate) fn pairs(of: [(&str, f64, f64); 2]) -> Schema {
    let [first, second] = of.map(|(unit, min, max)| {
        json_schema!({ "type": "number", "unit": unit, "minimum": min, "maximum": max })
    });
    json_schema!({
        "type": "array",
        "items": {
            "type": "array",
            "prefixItems": [first, second],
            "minItems": 2,
            "maxItems": 2,
        },
    })
}

#[cfg(test)]
mod tests;
