//! One scenario, many variants: settings that the command line puts in place of the file's.

use crate::{FILE_KEYS, LoadError, Scenario};
use std::path::Path;
use std::str::FromStr;
use toml::{Table, Value};

/// Settings that change together, and the points that they take in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// The settings' keys: names of tables, then of the key.
    pub keys: Vec<Vec<String>>,
    /// Points in the order given.
    pub points: Vec<Point>,
}

/// A value for each of the keys that change together.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// In the order of the keys.
    pub values: Vec<Value>,
    /// What the point is called, in names of scenarios and in rows; its values if it has no name.
    pub name: Option<String>,
}

/// One value for one key.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Names of tables, then of the key.
    pub key: &'a [String],
    /// The value in place of the scenario's own.
    pub value: &'a Value,
    /// What the value is called, if it has a name.
    pub name: Option<&'a str>,
}

impl Setting<'_> {
    /// What stands for the value in a row: its name, a string without quotes, or the value in TOML's syntax.
    pub fn word(&self) -> String {
        match (self.name, self.value) {
            (Some(name), _) => name.to_owned(),
            (None, Value::String(text)) => text.clone(),
            (None, other) => other.to_string(),
        }
    }

    fn in_name(&self) -> String {
        let key = self.key.join(".");
        match self.name {
            Some(name) => format!("{key}={name}"),
            None => format!("{key}={}", short(self.value)),
        }
    }
}

impl Variation {
    /// One setting that takes these values in turn.
    pub fn of(key: Vec<String>, values: impl IntoIterator<Item = Value>) -> Self {
        let point = |value| Point {
            values: vec![value],
            name: None,
        };
        Self {
            keys: vec![key],
            points: values.into_iter().map(point).collect(),
        }
    }

    /// Lets `other` change together with this one.
    fn join(&mut self, other: Self) -> Result<(), String> {
        let (has, expected) = (other.points.len(), self.points.len());
        if has != expected {
            let named = |keys: &[Vec<String>]| keys.last().map(|key| key.join("."));
            return Err(format!(
                "+{} has {has} value{}, expected {expected}, as many as {} has, with which it changes",
                named(&other.keys).unwrap_or_default(),
                if has == 1 { "" } else { "s" },
                named(&self.keys).unwrap_or_default(),
            ));
        }
        self.keys.extend(other.keys);
        for (point, more) in self.points.iter_mut().zip(other.points) {
            point.values.extend(more.values);
        }
        Ok(())
    }
}

/// A variation as the command line has it: `down.delay_ms=40,140`, or `+up.delay_ms=20,70`, which changes together with the
/// one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    variation: Variation,
    with_the_one_before: bool,
}

impl Written {
    /// The variations, joined where the command line says so.
    ///
    /// # Errors
    /// If one is to change together with another that is not there, or has another number of values.
    pub fn joined(all: &[Self]) -> Result<Vec<Variation>, String> {
        let mut joined: Vec<Variation> = Vec::new();
        for one in all {
            let variation = one.variation.clone();
            match (one.with_the_one_before, joined.last_mut()) {
                (false, _) => joined.push(variation),
                (true, Some(before)) => before.join(variation)?,
                (true, None) => {
                    return Err(format!(
                        "+{} is to change together with the variation before it, but it is the first",
                        variation.keys[0].join(".")
                    ));
                }
            }
        }
        Ok(joined)
    }
}

impl FromStr for Written {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text
            .split_once('=')
            .ok_or("expected KEY=VALUE[,VALUE…], such as down.delay_ms=40,140")?;
        let joined = key.strip_prefix('+');
        let key: Vec<_> = joined
            .unwrap_or(key)
            .split('.')
            .map(|part| part.trim().to_owned())
            .collect();
        if key.iter().any(String::is_empty) {
            return Err("expected names joined by single dots before the =".into());
        }
        let names_files = key
            .last()
            .is_some_and(|key| FILE_KEYS.contains(&key.as_str()));
        let values: Vec<_> = match names_files {
            true => paths(values).into_iter().map(Value::String).collect(),
            false => parts(values).into_iter().map(value).collect(),
        };
        Ok(Self {
            variation: Variation::of(key, values),
            with_the_one_before: joined.is_some(),
        })
    }
}

/// Values between commas, apart from those inside tables, lists and strings.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        let begins = depth > 0 || text[from..at].trim().is_empty();
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) => quote = Some(open).filter(|&open| open != c),
            // Within a word it is an apostrophe.
            (None, '"' | '\'') if begins => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// Paths, between commas unless there is a file whose name has some.
fn paths(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split(',').collect();
    let mut paths = Vec::new();
    let mut from = 0;
    while from < parts.len() {
        let longer = (from + 2..=parts.len())
            .rev()
            .find(|&to| Path::new(&parts[from..to].join(",")).exists());
        let to = longer.unwrap_or(from + 1);
        let path = parts[from..to].join(",");
        paths.push(match longer {
            Some(_) => path,
            None => unquoted(path.trim()),
        });
        from = to;
    }
    paths
}

/// A path that is written as a TOML string, or as it stands.
fn unquoted(path: &str) -> String {
    match value(path) {
        Value::String(text) => text,
        _ => path.to_owned(),
    }
}

/// A TOML value, or else a string as it stands.
fn value(text: &str) -> Value {
    let text = text.trim();
    format!("v = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut table| table.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Every combination, the last variation turning fastest. Without variations: one, without settings.
pub fn combinations(variations: &[Variation]) -> Vec<Vec<Setting<'_>>> {
    variations.iter().fold(vec![Vec::new()], |sets, variation| {
        sets.iter()
            .flat_map(|set| {
                variation.points.iter().map(move |point| {
                    let settings = variation.keys.iter().zip(&point.values);
                    let settings = settings.map(|(key, value)| Setting {
                        key,
                        value,
                        name: point.name.as_deref(),
                    });
                    set.iter().copied().chain(settings).collect()
                })
            })
            .collect()
    })
}

impl Scenario {
    /// As [`Scenario::parse`], with `settings` in place of what the text says, and named after them.
    ///
    /// # Errors
    /// As [`Scenario::parse`], for the text as it is and for what becomes of it; and when a setting has no place in it.
    ///
    /// # Panics
    /// When a setting's key has no name.
    pub fn parse_with(
        text: &str,
        path: &Path,
        settings: &[Setting<'_>],
    ) -> Result<Self, LoadError> {
        let original = Self::parse(text, path)?;
        if settings.is_empty() {
            return Ok(original);
        }
        let wrong = |message: String| LoadError::Meaning {
            path: path.into(),
            key: match settings {
                [setting] => Some(setting.key.join(".")),
                _ => None,
            },
            message,
        };
        let mut table: Table = text.parse().expect("parsed a moment ago");
        let mut name = original.name;
        for setting in settings {
            put(&mut table, setting.key, setting.value)
                .map_err(|why| wrong(format!("cannot set {}: {why}", setting.key.join("."))))?;
            name.push_str(&format!(" {}", setting.in_name()));
        }
        table.insert("name".into(), Value::String(name));
        Self::from_table(&table, text, path, &[])
    }
}

/// Sets `key` in nested tables that exist. In a list of tables (runs, workloads, hops) a name is that of one of them, a
/// number its place from 0, and `*` is each.
fn put(table: &mut Table, key: &[String], value: &Value) -> Result<(), String> {
    let (name, rest) = key.split_first().expect("a key has at least one name");
    if rest.is_empty() {
        table.insert(name.clone(), value.clone());
        return Ok(());
    }
    match table.get_mut(name) {
        Some(Value::Table(inner)) => put(inner, rest, value),
        Some(Value::Array(list)) => put_within(list, name, rest, value),
        _ => Err(format!("there is no table \"{name}\"")),
    }
}

/// The same in the tables of the list under `whose`.
fn put_within(
    list: &mut [Value],
    whose: &str,
    key: &[String],
    value: &Value,
) -> Result<(), String> {
    let (which, rest) = key.split_first().expect("a key has at least one name");
    let name_of = |entry: &Value| Some(entry.get("name")?.as_str()?.to_owned());
    let names: Vec<_> = list.iter().filter_map(name_of).collect();
    let named = names.contains(which);
    let mut found = false;
    for (nth, entry) in list.iter_mut().enumerate() {
        let meant = match named {
            true => name_of(entry).as_ref() == Some(which),
            false => which == "*" || which.parse() == Ok(nth),
        };
        if !meant {
            continue;
        }
        found = true;
        match (&mut *entry, rest) {
            (entry, []) => *entry = value.clone(),
            (Value::Table(table), rest) => put(table, rest, value)?,
            _ => return Err(format!("{whose}.{which} is no table")),
        }
    }
    match found {
        true => Ok(()),
        false => Err(format!(
            "there is no {whose} \"{which}\", expected one of {}, a number from 0, or * for each",
            names.join(", ")
        )),
    }
}

/// A value as part of a name: of a file only its last part.
fn short(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let parts = table
                .iter()
                .map(|(key, value)| format!("{key}={}", short(value)));
            parts.collect::<Vec<_>>().join(" ")
        }
        Value::String(text) => text.rsplit('/').next().unwrap_or(text).to_owned(),
        other => other.to_string(),
    }
}
