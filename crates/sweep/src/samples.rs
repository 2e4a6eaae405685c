//! Samples for the tests.

/// Names of an identity's parts.
pub fn identifiers() -> Vec<String> {
    ["seed", "run", "key"].map(str::to_owned).into()
}

/// The identity of the run with this seed.
pub fn identity(seed: u64) -> Vec<String> {
    vec![
        seed.to_string(),
        "a, \"quoted\" run".into(),
        format!("1-abc{seed}"),
    ]
}
