//! Values that a scenario's schema allows, or nearly.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64Mcg;
use serde_json::Value as Json;
use std::sync::LazyLock;
use tidegate_sim::cc::Algorithm;
use toml::{Table, Value};

pub static SCHEMA: LazyLock<Json> = LazyLock::new(tidegate_scenario::schema);

/// The names of congestion controls, which the schema does not enumerate, and one that is none.
static CONTROLS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let names = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    names.chain(["none"]).collect()
});

/// The schema that a reference points to, or one of the alternatives.
pub fn settled(schema: &'static Json, rng: &mut Pcg64Mcg) -> &'static Json {
    if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
        return settled(SCHEMA.pointer(&reference[1..]).expect("a definition"), rng);
    }
    for list in ["anyOf", "oneOf"] {
        let all = schema.get(list).and_then(Json::as_array);
        let all = all.map(|all| {
            all.iter()
                .filter(|one| one.get("type").is_none_or(|kind| kind != "null"))
        });
        let all: Vec<&'static Json> = all.into_iter().flatten().collect();
        if let Some(one) = all.choose(rng) {
            return settled(one, rng);
        }
    }
    schema
}

fn is(schema: &Json, name: &str) -> bool {
    let kind = schema.get("type");
    kind.is_some_and(|kind| {
        kind == name
            || kind
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one == name))
    })
}

/// A value for that key.
pub fn value(schema: &'static Json, key: &str, depth: u32, rng: &mut Pcg64Mcg) -> Value {
    let schema = settled(schema, rng);
    if let Some(word) = schema.get("const").and_then(Json::as_str) {
        return Value::String(word.into());
    }
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        let word = words.choose(rng).and_then(Json::as_str);
        return Value::String(word.unwrap_or_default().into());
    }
    if is(schema, "object") {
        return Value::Table(table(schema, depth, rng));
    }
    if is(schema, "array") {
        let length = rng.random_range(0..4);
        let item = |nth: usize, rng: &mut Pcg64Mcg| {
            let prefix = schema.get("prefixItems").and_then(|all| all.get(nth));
            prefix
                .or_else(|| schema.get("items"))
                .map(|item| value(item, key, depth + 1, rng))
        };
        let exact = schema
            .get("minItems")
            .and_then(Json::as_u64)
            .filter(|_| schema.get("prefixItems").is_some());
        let length = exact.map_or(length, |exact| exact as usize);
        return Value::Array((0..length).filter_map(|nth| item(nth, rng)).collect());
    }
    if is(schema, "boolean") {
        return Value::Boolean(rng.random());
    }
    if is(schema, "string") {
        return Value::String(word(key, rng));
    }
    number(schema, rng)
}

/// The required keys, and some of the others.
fn table(schema: &'static Json, depth: u32, rng: &mut Pcg64Mcg) -> Table {
    let required = schema.get("required").and_then(Json::as_array);
    let must = |key: &str| required.is_some_and(|all| all.iter().any(|one| one == key));
    let mut table = Table::new();
    let properties = schema.get("properties").and_then(Json::as_object);
    for (key, inner) in properties.into_iter().flatten() {
        if must(key) || depth < 3 && rng.random::<f64>() < 0.15 {
            table.insert(key.clone(), value(inner, key, depth + 1, rng));
        }
    }
    table
}

fn word(key: &str, rng: &mut Pcg64Mcg) -> String {
    let some = |words: &[&str], rng: &mut Pcg64Mcg| (*words.choose(rng).expect("one")).to_owned();
    match key {
        "trace" => some(
            &[
                "../scenarios/traces/lte.down",
                "traces/lte.down",
                "../traces/lte.down",
            ],
            rng,
        ),
        "cdf" => some(&["traces/hadoop.cdf", "../traces/hadoop.cdf"], rng),
        "series" => some(&["traces/ride.csv", "../traces/ride.csv"], rng),
        "delay_trace" => some(&["traces/wander.ms", "../traces/wander.ms"], rng),
        "congestion_control" => some(&CONTROLS, rng),
        "links" => some(&["down", "up", "core", "hop"], rng),
        _ => format!("{key}{}", rng.random_range(0..1000)),
    }
}

/// A number in its range, at its ends, and sometimes beyond.
pub fn number(schema: &Json, rng: &mut Pcg64Mcg) -> Value {
    let bound = |key| schema.get(key).and_then(Json::as_f64).unwrap_or(0.0);
    let (min, max) = (bound("minimum"), bound("maximum"));
    let within = {
        // As often near either end, whatever the unit.
        let [low, high] = [min, max].map(|end| libm::log(end.max(1e-6)));
        libm::exp(low + (high - low) * rng.random::<f64>()).clamp(min, max)
    };
    let drawn = match rng.random_range(0..20) {
        0..=2 => min,
        3..=5 => max,
        6 => min - (min.abs() * 1e-3).max(1e-9),
        7 => max * 1.001 + 1e-9,
        8 => -1.0,
        9 => 0.0,
        _ => within,
    };
    if is(schema, "integer") {
        return Value::Integer(match rng.random_range(0..40) {
            0 => i64::MAX,
            1 => i64::MIN,
            2 => u32::MAX.into(),
            _ => drawn.round() as i64,
        });
    }
    Value::Float(match rng.random_range(0..40) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => 1e300,
        3 => f64::MIN_POSITIVE,
        _ => drawn,
    })
}
