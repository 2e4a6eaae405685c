//! Words of the laws as JSON Schema has them: these come from C, and know nothing of schemas.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use tidegate_laws::{Direction, Law};

/// The laws.
pub(crate) fn law(_: &mut SchemaGenerator) -> Schema {
    one_of(Law::ALL.map(|law| (law.name(), law.about())))
}

/// The laws, and none.
pub(crate) fn law_or_not(generator: &mut SchemaGenerator) -> Schema {
    let law = law(generator);
    json_schema!({ "anyOf": [law, { "type": "null" }] })
}

/// Down and up.
pub(crate) fn direction(_: &mut SchemaGenerator) -> Schema {
    one_of(Direction::ALL.map(|direction| (direction.name(), direction.about())))
}

fn one_of<const N: usize>(words: [(&str, &str); N]) -> Schema {
    let words: Vec<Value> = words
        .into_iter()
        .map(|(word, about)| json!({ "type": "string", "const": word, "description": about }))
        .collect();
    json_schema!({ "oneOf": words })
}
