//! Mutants of the shipped scenarios.

use crate::schema::{SCHEMA, number, settled, value};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64Mcg;
use serde_json::Value as Json;
use std::path::PathBuf;
use toml::{Table, Value};

/// The shipped scenarios, from which mutants are made.
pub struct Mutator {
    originals: Vec<(PathBuf, Table)>,
}

/// A step into a document.
#[derive(Clone, Debug)]
enum Into {
    Key(String),
    Nth(usize),
}

type Place = Vec<Into>;

impl Mutator {
    pub fn new(paths: &[PathBuf]) -> Self {
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).expect("readable");
            (path.clone(), text.parse().expect("TOML"))
        };
        Self {
            originals: paths.iter().map(read).collect(),
        }
    }

    /// A scenario with one to six mutations, and the path of the original.
    pub fn mutant(&self, rng: &mut Pcg64Mcg) -> (PathBuf, String) {
        let (path, original) = self.originals.choose(rng).expect("one at least");
        let mut document = Value::Table(original.clone());
        for _ in 0..rng.random_range(1..=6) {
            self.spoil(&mut document, rng);
        }
        let mut text = toml::to_string(&document).unwrap_or_default();
        if rng.random::<f64>() < 0.05 {
            spoil_text(&mut text, rng);
        }
        (path.clone(), text)
    }

    fn spoil(&self, document: &mut Value, rng: &mut Pcg64Mcg) {
        let places = places(document);
        let Some(place) = places.choose(rng).cloned() else {
            return;
        };
        match rng.random_range(0..12) {
            // A number of the document, drawn anew from its range and its edges.
            0..=4 => {
                let numbers: Vec<_> = places.iter().filter(|at| is_number(document, at)).collect();
                if let Some(place) = numbers.choose(rng) {
                    let schema = schema_at(place, rng);
                    if let (Some(schema), Some(at)) = (schema, find(document, place)) {
                        *at = number(schema, rng);
                    }
                }
            }
            // A key that it does not have yet.
            5..=7 => add_key(document, &place, rng),
            // Another value that the schema allows there.
            8 => {
                let key = last_key(&place);
                if let (Some(schema), Some(at)) = (schema_at(&place, rng), find(document, &place)) {
                    *at = value(schema, &key, 1, rng);
                }
            }
            9 => remove(document, &place),
            10 => duplicate(document, &place, rng),
            // The value that another scenario has under the same key.
            _ => {
                let (_, other) = self.originals.choose(rng).expect("one at least");
                let other = Value::Table(other.clone());
                let key = last_key(&place);
                let same: Vec<_> = self::places(&other)
                    .into_iter()
                    .filter(|at| last_key(at) == key)
                    .collect();
                let theirs = same.choose(rng).and_then(|at| peek(&other, at)).cloned();
                if let (Some(theirs), Some(at)) = (theirs, find(document, &place)) {
                    *at = theirs;
                }
            }
        }
    }
}

fn spoil_text(text: &mut String, rng: &mut Pcg64Mcg) {
    let mut bytes = std::mem::take(text).into_bytes();
    if !bytes.is_empty() {
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..3) {
            0 => bytes[at] = rng.random_range(0..128),
            1 => bytes.truncate(at),
            _ => bytes.insert(at, rng.random_range(32..127)),
        }
    }
    *text = String::from_utf8_lossy(&bytes).into_owned();
}

/// All places of a document below its top.
fn places(document: &Value) -> Vec<Place> {
    fn gather(value: &Value, at: &mut Place, all: &mut Vec<Place>) {
        let steps: Vec<(Into, &Value)> = match value {
            Value::Table(table) => table
                .iter()
                .map(|(key, value)| (Into::Key(key.clone()), value))
                .collect(),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .map(|(nth, value)| (Into::Nth(nth), value))
                .collect(),
            _ => Vec::new(),
        };
        for (step, inner) in steps {
            at.push(step);
            all.push(at.clone());
            gather(inner, at, all);
            at.pop();
        }
    }
    let mut all = Vec::new();
    gather(document, &mut Vec::new(), &mut all);
    all
}

fn peek<'v>(document: &'v Value, place: &Place) -> Option<&'v Value> {
    place.iter().try_fold(document, |at, step| match step {
        Into::Key(key) => at.get(key),
        Into::Nth(nth) => at.get(*nth),
    })
}

fn find<'v>(document: &'v mut Value, place: &[Into]) -> Option<&'v mut Value> {
    place.iter().try_fold(document, |at, step| match step {
        Into::Key(key) => at.get_mut(key),
        Into::Nth(nth) => at.get_mut(*nth),
    })
}

fn is_number(document: &Value, place: &Place) -> bool {
    peek(document, place).is_some_and(|value| value.is_integer() || value.is_float())
}

fn last_key(place: &[Into]) -> String {
    let mut keys = place.iter().rev().filter_map(|step| match step {
        Into::Key(key) => Some(key.clone()),
        Into::Nth(_) => None,
    });
    keys.next().unwrap_or_default()
}

/// The schema of the value at that place.
fn schema_at(place: &[Into], rng: &mut Pcg64Mcg) -> Option<&'static Json> {
    fn step(schema: &'static Json, into: &Into) -> Option<&'static Json> {
        let found = match into {
            Into::Key(key) => schema.get("properties").and_then(|all| all.get(key)),
            Into::Nth(nth) => {
                let prefix = schema.get("prefixItems").and_then(|all| all.get(*nth));
                prefix.or_else(|| schema.get("items"))
            }
        };
        if found.is_some() {
            return found;
        }
        if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            return step(SCHEMA.pointer(&reference[1..])?, into);
        }
        let choices = ["anyOf", "oneOf"].into_iter();
        let mut choices = choices
            .filter_map(|list| schema.get(list)?.as_array())
            .flatten();
        choices.find_map(|choice| step(choice, into))
    }
    let mut at: &'static Json = &SCHEMA;
    for into in place {
        at = step(at, into)?;
    }
    // The number can belong to one of the types of an optional key.
    Some(if at.get("minimum").is_some() {
        at
    } else {
        settled(at, rng)
    })
}

/// Gives the table there, or the one around it, a key that it lacks.
fn add_key(document: &mut Value, place: &[Into], rng: &mut Pcg64Mcg) {
    for depth in (0..=place.len()).rev() {
        let (Some(schema), Some(Value::Table(table))) = (
            schema_at(&place[..depth], rng),
            find(document, &place[..depth]),
        ) else {
            continue;
        };
        let properties = schema.get("properties").and_then(Json::as_object);
        let lacking: Vec<_> = properties
            .into_iter()
            .flatten()
            .filter(|(key, _)| !table.contains_key(*key))
            .collect();
        if let Some((key, inner)) = lacking.choose(rng) {
            table.insert((*key).clone(), value(inner, key, 1, rng));
            return;
        }
    }
}

fn remove(document: &mut Value, place: &[Into]) {
    let Some((last, around)) = place.split_last() else {
        return;
    };
    match (find(document, around), last) {
        (Some(Value::Table(table)), Into::Key(key)) => {
            table.remove(key);
        }
        (Some(Value::Array(list)), Into::Nth(nth)) => {
            list.remove(*nth);
        }
        _ => {}
    }
}

/// Repeats an item of a list, a table under another name.
fn duplicate(document: &mut Value, place: &[Into], rng: &mut Pcg64Mcg) {
    let end = place.iter().rposition(|step| matches!(step, Into::Nth(_)));
    let Some((Into::Nth(nth), around)) = end.and_then(|end| place[..=end].split_last()) else {
        return;
    };
    if let Some(Value::Array(list)) = find(document, around) {
        for _ in 0..rng.random_range(1..4) {
            let mut copy = list[*nth].clone();
            if let Some(name) = copy.get_mut("name") {
                *name = Value::String(format!("copy{}", rng.random_range(0..100_000)));
            }
            list.push(copy);
        }
    }
}
