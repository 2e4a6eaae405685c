//! Every scenario that the project ships can be run as it stands.

use std::path::Path;
use tidegate_scenario::Scenario;

#[test]
fn every_shipped_scenario_loads_with_its_traces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let scenario = Scenario::load(&path).unwrap_or_else(|e| panic!("{e}"));
            scenario
                .link_inputs(&path)
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(
                Some(scenario.name.as_str()),
                path.file_stem().and_then(|s| s.to_str())
            );
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen} scenarios");
}
