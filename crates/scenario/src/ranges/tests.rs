use super::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Tells of each number in the schema, whatever stands around it, by its key.
fn each_number(
    schema: &Value,
    key: &str,
    seen: &mut BTreeSet<String>,
    tell: &mut dyn FnMut(&str, &Value),
) {
    let root = &*SCENARIO;
    let kind = schema.get("type");
    let is = |name: &str| {
        kind.is_some_and(|kind| {
            kind == name
                || kind
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| one == name))
        })
    };
    if is("number") || is("integer") {
        tell(key, schema);
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str)
        && seen.insert(format!("{key} {reference}"))
    {
        each_number(root.pointer(&reference[1..]).unwrap(), key, seen, tell);
    }
    for list in ["anyOf", "oneOf", "prefixItems"] {
        let all = schema.get(list).and_then(Value::as_array);
        all.into_iter()
            .flatten()
            .for_each(|one| each_number(one, key, seen, tell));
    }
    if let Some(items) = schema.get("items") {
        each_number(items, &format!("{key}[0]"), seen, tell);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, inner) in properties.into_iter().flatten() {
        let inner_key = if key.is_empty() {
            name.clone()
        } else {
            format!("{key}.{name}")
        };
        each_number(inner, &inner_key, seen, tell);
    }
}

#[test]
fn every_number_has_a_range() {
    let mut without = Vec::new();
    let mut count = 0;
    each_number(&SCENARIO, "", &mut BTreeSet::new(), &mut |key, schema| {
        count += 1;
        if Range::of(schema).is_none() {
            without.push(key.to_owned());
        }
    });
    assert!(without.is_empty(), "no range beside {without:?}");
    assert!(count > 150, "{count} numbers");
}

#[test]
fn a_range_is_found_by_its_key() {
    let said = |key| range(key).unwrap().to_string();
    assert_eq!(
        said("workload[0].does.bulk.flows"),
        "1 to 100000 connections"
    );
    assert_eq!(said("down.rate.constant_mbps"), "0.001 to 100000 Mbit/s");
    assert_eq!(said("hop[3].link.rate.steps[0][1]"), "0 to 100000 Mbit/s");
    assert_eq!(said("up.loss.random"), "0 to 0.999");
    assert_eq!(said("run[0].rmem_max"), "4096 to 2147483647 bytes");
    assert_eq!(
        said("workload[9].does.page.object_bytes[2]"),
        "1 to 1000000000000 bytes"
    );
    assert_eq!(said("run[0].cake.down.min_mbps"), "0.001 to 100000 Mbit/s");
    assert!(range("name").is_none() && range("down.rat").is_none());
}

const SOUND: &str = r#"
name = "sound"
duration_s = 10
[down]
rate = { constant_mbps = 20 }
delay_ms = 20
[up]
rate = { constant_mbps = 20 }
delay_ms = 20
[[workload]]
name = "load"
does = { bulk = { flows = 1 } }
[[run]]
name = "linux"
rmem_max = 4096
"#;

#[test]
fn both_ends_are_in_the_range_and_what_is_beyond_is_refused_with_its_line() {
    let parse = |from: &str, to: &str| {
        assert!(SOUND.contains(from), "{from}");
        let text = SOUND.replacen(from, to, 1);
        Scenario::parse(&text, Path::new("s.toml")).map_err(|error| error.to_string())
    };
    for to in ["flows = 100000", "flows = 1"] {
        parse("flows = 1", to).unwrap();
    }
    for (from, to, said) in [
        (
            "flows = 1",
            "flows = 0",
            "s.toml:12: workload \"load\": does.bulk.flows is 0, expected 1 to 100000 connections",
        ),
        (
            "flows = 1",
            "flows = 100001",
            "s.toml:12: workload \"load\": does.bulk.flows is 100001, expected 1 to 100000 connections",
        ),
        (
            "flows = 1",
            "flows = 9223372036854775808",
            "s.toml:12: workload \"load\": does.bulk.flows is 9223372036854775808, expected 1 to 100000 connections",
        ),
        // More, and less, than the type holds.
        (
            "flows = 1",
            "flows = 99999999999999999999",
            "s.toml:12: workload[0].does.bulk.flows is 99999999999999999999, expected 1 to 100000 connections",
        ),
        (
            "flows = 1",
            "flows = -1",
            "s.toml:12: workload[0].does.bulk.flows is -1, expected 1 to 100000 connections",
        ),
        (
            "rmem_max = 4096",
            "rmem_max = 3",
            "s.toml:15: run \"linux\": rmem_max is 3, expected 4096 to 2147483647 bytes",
        ),
        (
            "bulk = { flows = 1 }",
            "ping = { interval_ms = 1e-9 }",
            "s.toml:12: workload \"load\": does.ping.interval_ms is 1e-9, expected 0.01 to 1000000 ms",
        ),
        (
            "delay_ms = 20",
            "delay_ms = nan",
            "s.toml:6: down: delay_ms is NaN, expected 0 to 60000 ms",
        ),
        (
            "delay_ms = 20",
            "delay_ms = inf",
            "s.toml:6: down: delay_ms is inf, expected 0 to 60000 ms",
        ),
        (
            "duration_s = 10",
            "duration_s = 1e300",
            "s.toml:3: duration_s is 1e300, expected 0.001 to 1000000 s",
        ),
    ] {
        assert_eq!(parse(from, to).expect_err(to), said);
    }
}

/// The numbers that a scenario has by itself need not be written, and are not asked for.
#[test]
fn defaults_are_in_range() {
    for example in ["simulator", "laboratory"] {
        let path = format!(
            "{}/../../scenarios/reference/{example}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let scenario = Scenario::load(Path::new(&path)).unwrap();
        assert_eq!(of_scenario(&scenario), []);
    }
    let table: toml::Table = SOUND.parse().unwrap();
    let scenario: Scenario = table.try_into().unwrap();
    assert_eq!(of_scenario(&scenario), []);
}
