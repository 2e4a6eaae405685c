//! JSON Schemas of scenarios and results, from the types that they are read into and written from.

use crate::{ResultSet, Scenario};
use schemars::generate::SchemaSettings;
use schemars::schema_for;
use serde_json::Value;

/// Of a scenario, as its file has it; `unit` is the unit of a number whose key does not say it.
pub fn schema() -> Value {
    schema_for!(Scenario).to_value()
}

/// Of results, as they are written.
pub fn results_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<ResultSet>()
        .to_value()
}
