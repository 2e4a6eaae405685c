//! Turns a JSON Schema, which comes from the types that files are read into, into tables of keys.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// An explanation with more characters is too long for a table.
const LONG: usize = 160;
/// A key with more words gets its own table of them.
const FEW_WORDS: usize = 3;

/// A table of the reference: keys of a table in a file, its alternative kinds, or the words of a key.
pub struct Section {
    /// Where it occurs in a file: `down`, `up`, `hop.link`.
    pub places: Vec<String>,
    /// Its description.
    pub about: String,
    /// What the rows are.
    pub kind: Kind,
    /// Required keys come first.
    pub rows: Vec<Row>,
}

/// What the rows of a section are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keys that may occur together.
    Keys,
    /// Keys of which exactly one occurs.
    OneOf,
    /// Values of a key.
    Words,
}

/// A key or a word.
pub struct Row {
    /// Its name, as in the file.
    pub name: String,
    /// The form of its value.
    pub form: String,
    /// The unit of numbers.
    pub unit: Option<String>,
    /// The smallest and largest number, if there are limits.
    pub range: Option<String>,
    /// Whether it is required.
    pub required: bool,
    /// Its default value.
    pub default: Option<Value>,
    /// A value from an example.
    pub example: Option<Value>,
    /// Its description in sentences.
    pub about: String,
    /// The section that describes its value, by the first of its places.
    pub section: Option<String>,
}

/// All sections of a schema, with example values from whole files.
pub fn sections(schema: &Value, files: &[Value]) -> Vec<Section> {
    let mut reader = Reader {
        schema,
        examples: BTreeMap::new(),
        places: BTreeMap::new(),
        order: Vec::new(),
        sections: BTreeMap::new(),
    };
    for file in files {
        reader.exemplify(schema, ROOT, file);
    }
    reader.visit(schema, ROOT, "");
    reader.finish()
}

const ROOT: &str = "";

struct Reader<'a> {
    schema: &'a Value,
    /// The first value in the examples, by section and key.
    examples: BTreeMap<(String, String), Value>,
    /// The places where each section occurs.
    places: BTreeMap<String, BTreeSet<String>>,
    order: Vec<String>,
    sections: BTreeMap<String, Section>,
}

impl<'a> Reader<'a> {
    /// The definition that a schema refers to, and its name.
    fn resolve(&self, schema: &'a Value) -> (&'a Value, Option<&'a str>) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or(reference);
            let (inner, deeper) = self.resolve(&self.schema["$defs"][name]);
            return (inner, deeper.or(Some(name)));
        }
        let choices = schema.get("anyOf").and_then(Value::as_array);
        let present = choices.and_then(|all| all.iter().find(|one| !is_null(one)));
        match present {
            Some(inner) => self.resolve(inner),
            None => (schema, None),
        }
    }

    /// Remembers the values of a file.
    fn exemplify(&mut self, schema: &'a Value, id: &str, value: &Value) {
        let (schema, _) = self.resolve(schema);
        if let Some(variants) = variants(schema) {
            for (word, inner, _) in variants {
                let Some(own) = value.get(word) else { continue };
                self.note(id, word, own);
                self.exemplify_value(inner, id, word, own);
            }
            return;
        }
        for (key, inner) in properties(schema) {
            if let Some(own) = value.get(key) {
                self.note(id, key, own);
                self.exemplify_value(inner, id, key, own);
            }
        }
    }

    fn exemplify_value(&mut self, schema: &'a Value, id: &str, key: &str, value: &Value) {
        let (inner, name) = self.resolve(schema);
        let (item, item_name) = match inner.get("items") {
            Some(items) => self.resolve(items),
            None => (inner, name),
        };
        if !has_keys(item) {
            return;
        }
        let own = section_id(item_name, id, key);
        match value {
            Value::Array(all) => all.iter().for_each(|one| self.exemplify(item, &own, one)),
            one => self.exemplify(item, &own, one),
        }
    }

    fn note(&mut self, id: &str, key: &str, value: &Value) {
        let at = (id.to_owned(), key.to_owned());
        self.examples.entry(at).or_insert_with(|| value.clone());
    }

    /// Makes the section of a table, and those of tables within it.
    fn visit(&mut self, schema: &'a Value, id: &str, place: &str) {
        let places = self.places.entry(id.to_owned()).or_default();
        places.insert(place.to_owned());
        if self.order.iter().any(|known| known == id) {
            return;
        }
        self.order.push(id.to_owned());
        let (kind, rows) = if let Some(variants) = variants(schema) {
            let rows = variants.map(|(word, inner, one)| {
                let row = self.row(inner, id, word, false, place);
                Row {
                    about: about(one),
                    unit: row.unit.or_else(|| unit(word, one)),
                    ..row
                }
            });
            (Kind::OneOf, rows.collect())
        } else if let Some(words) = words(schema) {
            (Kind::Words, words)
        } else {
            let required = schema.get("required").and_then(Value::as_array);
            let must = |key: &str| required.is_some_and(|all| all.iter().any(|one| one == key));
            // Tables within a section are identified by their key alone, those within a kind by kind and key.
            let rows = properties(schema);
            let rows = rows.map(|(key, inner)| self.row(inner, id, key, must(key), ""));
            let mut rows: Vec<_> = rows.collect();
            rows.sort_by_key(|row| !row.required);
            (Kind::Keys, rows)
        };
        let section = Section {
            places: Vec::new(),
            about: about(schema),
            kind,
            rows,
        };
        self.sections.insert(id.to_owned(), section);
    }

    fn row(&mut self, schema: &'a Value, id: &str, key: &str, required: bool, of: &str) -> Row {
        let (inner, name) = self.resolve(schema);
        let items = inner.get("items");
        let (item, item_name) = match items {
            Some(items) => self.resolve(items),
            None => (inner, name),
        };
        let place = match of {
            "" => key.to_owned(),
            of => format!("{of}.{key}"),
        };
        let few = words(item).map(|all| all.len() <= FEW_WORDS);
        let section = (has_keys(item) || few == Some(false)).then(|| {
            let own = section_id(item_name, id, key);
            self.visit(item, &own, &place);
            own
        });
        let mut text = about(schema);
        if text.is_empty() {
            text = about(inner);
        }
        if few == Some(true) && items.is_none() {
            for word in words(item).into_iter().flatten() {
                text.push_str(&format!(
                    " `\"{}\"`: {}",
                    word.name,
                    lower(&brief(&word.about))
                ));
            }
        }
        Row {
            name: key.to_owned(),
            form: form(item, items.is_some()),
            unit: unit(key, schema).or_else(|| unit(key, inner)),
            range: range(item),
            required,
            default: schema.get("default").cloned(),
            example: self.examples.get(&(id.to_owned(), key.to_owned())).cloned(),
            about: text,
            section,
        }
    }

    fn finish(mut self) -> Vec<Section> {
        let firsts: BTreeMap<String, String> = self
            .places
            .iter()
            .map(|(id, places)| (id.clone(), heading(places)))
            .collect();
        let ids = std::mem::take(&mut self.order);
        ids.into_iter()
            .filter_map(|id| {
                let mut section = self.sections.remove(&id)?;
                section.places = self.places.remove(&id)?.into_iter().collect();
                for row in &mut section.rows {
                    row.section = row.section.take().and_then(|own| firsts.get(&own).cloned());
                }
                Some(section)
            })
            .collect()
    }
}

/// A section's places on one line.
pub fn heading(places: &BTreeSet<String>) -> String {
    places
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

fn section_id(name: Option<&str>, id: &str, key: &str) -> String {
    name.map_or_else(|| format!("{id}/{key}"), str::to_owned)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}

/// Kinds that are written as tables with a single key: the key, the value's schema, and the whole schema.
fn variants(schema: &Value) -> Option<impl Iterator<Item = (&str, &Value, &Value)>> {
    let all = schema.get("oneOf")?.as_array()?;
    let is_table = |one: &Value| one.get("properties").is_some();
    let variant = |one| properties(one).map(move |(key, inner)| (key, inner, one));
    all.iter()
        .all(is_table)
        .then(|| all.iter().flat_map(variant))
}

fn has_keys(schema: &Value) -> bool {
    schema
        .get("properties")
        .is_some_and(|p| p.as_object().is_some_and(|p| !p.is_empty()))
        || variants(schema).is_some()
}

/// The words that a value may be.
fn words(schema: &Value) -> Option<Vec<Row>> {
    let word = |name: &str, about: String| Row {
        name: name.to_owned(),
        form: String::new(),
        unit: None,
        range: None,
        required: false,
        default: None,
        example: None,
        about,
        section: None,
    };
    if let Some(all) = schema.get("enum").and_then(Value::as_array) {
        return all
            .iter()
            .map(|one| Some(word(one.as_str()?, String::new())))
            .collect();
    }
    let all = schema.get("oneOf")?.as_array()?;
    all.iter()
        .map(|one| Some(word(one.get("const")?.as_str()?, about(one))))
        .collect()
}

/// The first paragraph of its description, on one line.
fn about(schema: &Value) -> String {
    let text = schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A long explanation is cut before its first bracket.
fn brief(text: &str) -> String {
    let first = text.split_once(" (").filter(|_| text.len() > LONG);
    first.map_or_else(|| text.to_owned(), |(first, _)| format!("{first}."))
}

fn lower(text: &str) -> String {
    let mut rest = text.chars();
    let second_is_small = text.chars().nth(1).is_none_or(|c| !c.is_uppercase());
    match rest.next() {
        Some(first) if second_is_small => first.to_lowercase().chain(rest).collect(),
        _ => text.to_owned(),
    }
}

/// The form of a value in words; for a list, of its items.
fn form(item: &Value, is_list: bool) -> String {
    let one = if has_keys(item) {
        "table"
    } else if words(item).is_some() {
        "word"
    } else if item.get("prefixItems").is_some() {
        "pair of numbers"
    } else {
        match kind(item) {
            "string" => "text",
            "integer" => "whole number",
            "number" => "number",
            "boolean" => "`true` or `false`",
            "object" => "table",
            other => {
                panic!("a value of the kind {other}, which nobody knows how to describe: {item}")
            }
        }
    };
    match is_list {
        false => one.to_owned(),
        true => format!(
            "list of {}",
            one.replace("pair", "pairs") + if one.contains("pair") { "" } else { "s" }
        ),
    }
}

/// Its type other than null.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ => "?",
    }
}

/// The limits of a number, or of both numbers of a pair.
fn range(item: &Value) -> Option<String> {
    if let Some(pair) = item.get("prefixItems").and_then(Value::as_array) {
        let both: Option<Vec<_>> = pair.iter().map(range).collect();
        return both.map(|both| both.join(", "));
    }
    let (min, max) = (item.get("minimum")?, item.get("maximum")?);
    Some(format!("{} … {}", toml(min), toml(max)))
}

/// The unit from the schema, or else from the suffix of the key's name.
fn unit(key: &str, schema: &Value) -> Option<String> {
    if let Some(unit) = schema.get("unit").and_then(Value::as_str) {
        return Some(unit.to_owned());
    }
    let of_numbers = |schema: &Value| ["integer", "number"].contains(&kind(schema));
    let numbers = of_numbers(schema) || schema.get("items").is_some_and(of_numbers);
    let known = tidegate_scenario::unit_in(key)?;
    numbers.then(|| known.to_owned())
}

/// A JSON value in TOML syntax.
pub fn toml(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Array(all) => {
            let all: Vec<_> = all.iter().map(toml).collect();
            format!("[{}]", all.join(", "))
        }
        Value::Number(number)
            if number.is_f64() && number.as_f64().is_some_and(|n| n.fract() == 0.0) =>
        {
            format!("{:.0}", number.as_f64().unwrap_or_default())
        }
        Value::Object(table) if table.is_empty() => "{}".into(),
        Value::Object(table) => format!("{{ {} }}", pairs(table).join(", ")),
        other => other.to_string(),
    }
}

fn pairs(table: &Map<String, Value>) -> Vec<String> {
    table
        .iter()
        .map(|(key, value)| format!("{key} = {}", toml(value)))
        .collect()
}
