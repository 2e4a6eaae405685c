use crate::{METRICS, Metric, meanings};
use serde_json::Value;

/// The schema of what `schema` refers to, without the alternative `null`.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(Value::String(at)) = schema.get("$ref") {
        return root.pointer(at.trim_start_matches('#')).expect("a schema");
    }
    let some = schema.get("anyOf").and_then(Value::as_array);
    let some = some.and_then(|kinds| kinds.iter().find(|kind| kind.get("$ref").is_some()));
    some.map_or(schema, |kind| resolved(root, kind))
}

/// Whether a run of the results has that field.
fn exists(root: &Value, field: &str) -> bool {
    let runs = root.pointer("/properties/runs/items").expect("runs");
    let mut here = resolved(root, runs);
    for part in field.split('.') {
        let name = part.trim_end_matches("[]");
        let Some(inner) = here.get("properties").and_then(|all| all.get(name)) else {
            return false;
        };
        here = match part.ends_with("[]") {
            true => resolved(root, &inner["items"]),
            false => resolved(root, inner),
        };
    }
    true
}

#[test]
fn every_field_is_one_of_the_results() {
    let root = tidegate_scenario::results_schema();
    for metric in METRICS.iter().filter(|metric| !metric.field.is_empty()) {
        assert!(exists(&root, metric.field), "{}", metric.field);
    }
    assert!(!exists(&root, "link.queue_ms.p95"));
}

#[test]
fn a_column_is_named_as_its_field() {
    for metric in &METRICS {
        let Some((_, flat)) = metric.of_each() else {
            assert_eq!(metric.field, "", "{}", metric.name);
            continue;
        };
        // What goes before says whose it is: `up_`, `ping_`, `fetch_`.
        assert!(metric.name.ends_with(&flat), "{} of {flat}", metric.name);
    }
}

#[test]
fn what_a_table_shows_is_in_it() {
    let tables = meanings();
    for metric in METRICS.iter().filter(|metric| !metric.shown.is_empty()) {
        let (title, column) = metric.shown.split_once(':').expect("a title and a column");
        let table = tables.iter().find(|table| table.title == title);
        let table = table.unwrap_or_else(|| panic!("{}: no table {title:?}", metric.name));
        let there = table.columns.iter().any(|known| known.name == column);
        assert!(there, "{}: no column {column:?} in {title:?}", metric.name);
    }
}

#[test]
fn curves_have_the_names_of_fields() {
    let named = |name| {
        METRICS
            .iter()
            .find(|m| m.name == name)
            .and_then(Metric::curve)
    };
    assert_eq!(
        named("queue_delay_p95_ms").as_deref(),
        Some("queue_delay_ms")
    );
    assert_eq!(
        named("up_queue_delay_p50_ms").as_deref(),
        Some("up_queue_delay_ms")
    );
    assert_eq!(named("goodput_bps").as_deref(), Some("goodput_bps"));
    assert_eq!(named("drops"), None);
}
