use super::*;
use std::path::PathBuf;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

#[test]
fn the_documents_are_what_the_code_says() {
    for page in pages() {
        let path = folder().join(page.file);
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == page.text,
            "docs/reference/{} is not what the code says: ./dev reference writes it",
            page.file
        );
    }
}

fn written() -> Vec<Section> {
    let examples =
        EXAMPLES.map(|text| serde_json::to_value(text.parse::<::toml::Table>().unwrap()).unwrap());
    sections(&tidegate_scenario::schema(), &examples)
}

#[test]
fn every_key_is_said_to_be_something_and_has_an_example_and_its_unit() {
    let sections = written();
    let rows = sections
        .iter()
        .flat_map(|section| section.rows.iter().map(move |row| (section, row)));
    for (section, row) in rows.clone() {
        let key = format!("{:?}.{}", section.places, row.name);
        assert!(!row.about.is_empty(), "{key}: no comment in the code");
        let is_table = row.section.is_some();
        assert!(
            section.kind == Kind::Words || is_table || row.example.is_some(),
            "{key}: in no example of scenarios/reference"
        );
        let is_number = row.form.contains("number");
        let has_none =
            ["seed", "lambda", "red_weight", "bursty.probability"].contains(&row.name.as_str());
        assert!(
            !is_number || row.unit.is_some() || has_none,
            "{key}: a number without a unit"
        );
    }
    let count = rows
        .filter(|(section, _)| section.kind != Kind::Words)
        .count();
    assert!(count > 120, "{count} keys");
}

/// Every key of a complete scenario that we write out again is in the reference: the tables cover all types that files
/// are read into.
#[test]
fn no_key_of_a_scenario_is_missing() {
    let text = scenarios(&tidegate_scenario::schema());
    for example in EXAMPLES {
        let scenario: tidegate_scenario::Scenario = ::toml::from_str(example).unwrap();
        let value = serde_json::to_value(scenario).unwrap();
        let mut missing = Vec::new();
        collect(&value, &mut |key| {
            if !text.contains(&format!("| `{key}` |")) {
                missing.push(key.to_owned());
            }
        });
        assert!(missing.is_empty(), "{missing:?}");
    }
}

fn collect(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::Object(table) => {
            for (key, inner) in table {
                each(key);
                collect(inner, each);
            }
        }
        Value::Array(all) => all.iter().for_each(|one| collect(one, each)),
        _ => {}
    }
}

#[test]
fn anchors_are_those_of_the_headings() {
    assert_eq!(anchor("down, link, up"), "down-link-up");
    assert_eq!(anchor("rate.generate"), "rategenerate");
}
