use super::*;

fn spec(text: &str) -> String {
    format!("{:?}", rate_spec(text).expect(text))
}

#[test]
fn a_rate_is_a_number_a_word_a_file_or_what_a_scenario_has() {
    for (text, expected) in [
        ("20", "ConstantMbps(20.0)"),
        ("ride.csv", "Series(\"ride.csv\")"),
        ("ride.down", "Trace(\"ride.down\")"),
        ("upper.CSV", "Series(\"upper.CSV\")"),
        ("rides/.csv", "Trace(\"rides/.csv\")"),
        ("constant_mbps = 2", "ConstantMbps(2.0)"),
        (
            "steps = [[0, 20], [30, 2]]",
            "Steps([[0.0, 20.0], [30.0, 2.0]])",
        ),
        (
            "hspa",
            "Generate(GenerateSpec { kind: Hspa, mean_mbps: None, seed: None })",
        ),
        (
            "generate = { kind = 'lte', mean_mbps = 5 }",
            "Generate(GenerateSpec { kind: Lte, mean_mbps: Some(5.0), seed: None })",
        ),
    ] {
        assert_eq!(spec(text), expected);
    }
}

#[test]
fn what_is_no_rate_is_refused_with_what_was_expected() {
    for (text, words) in [
        (
            "speed = 3",
            "unknown variant `speed`, expected one of `constant_mbps`",
        ),
        ("walk = { peak_mbps = 5 }", "missing field `points`"),
        ("steps = [[0, 20], [30]]", "expected an array of length 2"),
        (
            "generate = { kind = 'lté' }",
            "expected one of `lte`, `hspa`, `evdo`",
        ),
        ("steps = ", "value"),
        ("4g", "Mbit/s (20), a cell model (lte, hspa, evdo)"),
    ] {
        let refusal = rate_spec(text).expect_err(text);
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
}

#[test]
fn a_file_that_is_there_is_one_whatever_its_name_looks_like() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["bw=12mbps.trace", "a,b.csv", "steps = [[0, 20]]"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "1\n").unwrap();
        let path = path.to_str().unwrap();
        let kind = if name.ends_with("csv") {
            "Series"
        } else {
            "Trace"
        };
        assert_eq!(spec(path), format!("{kind}({path:?})"));
    }
    let missing = folder.path().join("bw=13mbps.trace");
    assert!(rate_spec(missing.to_str().unwrap()).is_err());
}
