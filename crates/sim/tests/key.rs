//! Which runs have the same key, and which have not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tidegate_scenario::Scenario;
use tidegate_sim::{BEHAVIOUR_VERSION, Keys};

const SCENARIO: &str = r#"
name = "keys"
duration_s = 5
down = { rate = { trace = "one.trace" }, delay_ms = 10 }
up = { rate = { scheduled = { series = "rates.csv", burst_ms = 4 } }, delay_ms = 10, delay_trace = "delays.txt" }
hop = [{ name = "core", link = { rate = { series = "rates.csv" }, delay_ms = 1 } }]
hosts = { congestion_control = "reno" }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }, { name = "tide", law = "tide" }]
"#;

const FILES: [(&str, &str); 3] = [
    ("one.trace", "1\n5\n9\n"),
    ("rates.csv", "0,5000000\n1,7000000\n"),
    ("delays.txt", "20\n25\n"),
];

/// A folder with the scenario's files.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in FILES {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// The keys of the scenario's runs, read in that folder.
fn keys_in(folder: &Path, text: &str) -> Vec<String> {
    let path = folder.join("scenario.toml");
    let scenario = Scenario::parse(text, &path).unwrap_or_else(|e| panic!("{e}"));
    scenario.link_inputs(&path).unwrap();
    let keys = Keys::new(&scenario, &path).unwrap();
    let key = |run| keys.of(run).to_string();
    scenario.runs.iter().map(key).collect()
}

/// The scenario with `from` replaced, which is in it.
fn with(from: &str, to: &str) -> String {
    assert!(SCENARIO.contains(from), "{from}");
    SCENARIO.replace(from, to)
}

#[test]
fn each_run_has_its_own_under_the_behaviours_version() {
    let keys = keys_in(folder().path(), SCENARIO);
    assert_eq!(keys.len(), 2);
    assert_ne!(keys[0], keys[1]);
    for key in keys {
        let (version, hash) = key.split_once('-').unwrap();
        assert_eq!(version, BEHAVIOUR_VERSION.to_string());
        assert!(
            hash.len() == 32 && hash.chars().all(|c| c.is_ascii_hexdigit()),
            "{key}"
        );
    }
}

/// Builds of other days must find the same keys. If you change how keys are made, write the new one here; nobody can
/// then go on with an older sweep. A new scenario key that is not serialised at its default leaves these keys as they
/// are.
#[test]
fn keys_stay_the_same() {
    let keys = keys_in(folder().path(), SCENARIO);
    let hash = keys[1].split_once('-').unwrap().1;
    assert_eq!(hash, "1ab173da40a6e2bb73aeed8593bf8a00");
}

#[test]
fn the_same_written_otherwise_has_the_same_key() {
    let folder = folder();
    let before = keys_in(folder.path(), SCENARIO);
    for (from, to) in [
        ("duration_s = 5\n", "# A comment.\nduration_s = 5.0\n"),
        (
            "duration_s = 5\n",
            "duration_s = 5\nseed = 1\nwarmup_s = 0\n",
        ),
        (
            "name = \"keys\"",
            "name = \"others\"\ndescription = \"the same\"",
        ),
        (
            "rate = { trace = \"one.trace\" }, delay_ms = 10",
            "delay_ms = 10, rate = { trace = \"one.trace\" }",
        ),
        ("trace = \"one.trace\"", "trace = \"./../%/one.trace\""),
        (
            "delay_ms = 1 }",
            "delay_ms = 1, queue = { packets = 1000, policy = \"drop-tail\" } }",
        ),
        ("name = \"linux\"", "name = \"kernel\""),
        (
            "name = \"linux\"",
            "name = \"linux\", law = \"none\", congestion_control = \"reno\"",
        ),
        ("law = \"tide\"", "law = \"tide\", uploads = true"),
        (
            "congestion_control = \"reno\"",
            "congestion_control = \"reno\", own_tcp = [\"server\"]",
        ),
    ] {
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let to = to.replace('%', name);
        assert_eq!(keys_in(folder.path(), &with(from, &to)), before, "{to}");
    }
}

#[test]
fn whatever_changes_a_result_changes_the_key() {
    let folder = folder();
    let mut seen: BTreeSet<_> = keys_in(folder.path(), SCENARIO).into_iter().collect();
    for (from, to) in [
        ("duration_s = 5\n", "duration_s = 6\n"),
        ("duration_s = 5\n", "duration_s = 5\nwarmup_s = 1\n"),
        ("duration_s = 5\n", "duration_s = 5\nseed = 2\n"),
        ("trace = \"one.trace\"", "constant_mbps = 5"),
        ("burst_ms = 4", "burst_ms = 4.000000000000001"),
        (", delay_trace = \"delays.txt\"", ""),
        (
            "delay_ms = 1 }",
            "delay_ms = 1, queue = { packets = 999 } }",
        ),
        ("hop = [{", "hop = [{ direction = \"up\","),
        ("hosts = {", "hosts = { timestamps = false,"),
        ("\"reno\"", "\"cubic\""),
        ("\"download\"", "\"bulk\""),
        ("bulk = {}", "bulk = { flows = 2 }"),
        ("does =", "weight = 4, does ="),
    ] {
        for key in keys_in(folder.path(), &with(from, to)) {
            assert!(seen.insert(key), "{to}");
        }
    }
}

#[test]
fn a_change_of_one_run_leaves_the_others_keys() {
    let folder = folder();
    let before = keys_in(folder.path(), SCENARIO);
    for to in [
        "law = \"drwa\"",
        "law = \"tide\", uploads = false",
        "law = \"tide\", rmem_max = 300000",
        "law = \"tide\", congestion_control = \"bbr\"",
        "law = \"tide\", server_law = \"rsfc\"",
    ] {
        let after = keys_in(folder.path(), &with("law = \"tide\"", to));
        assert_eq!(after[0], before[0], "{to}");
        assert_ne!(after[1], before[1], "{to}");
    }
}

/// A setting of the hosts does not affect a run that has its own.
#[test]
fn what_a_run_overrides_is_not_in_its_key() {
    let folder = folder();
    let own = with(
        "name = \"linux\"",
        "name = \"linux\", congestion_control = \"bbr\"",
    );
    let before = keys_in(folder.path(), &own);
    let after = keys_in(folder.path(), &own.replace("\"reno\"", "\"cubic\""));
    assert_eq!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
}

#[test]
fn files_count_by_their_content() {
    let before = keys_in(folder().path(), SCENARIO);
    // In another folder, and under another name.
    let other = folder();
    fs::rename(
        other.path().join("one.trace"),
        other.path().join("two.trace"),
    )
    .unwrap();
    assert_eq!(
        keys_in(other.path(), &with("one.trace", "two.trace")),
        before
    );
    for (name, content) in FILES {
        let changed = folder();
        fs::write(changed.path().join(name), content.replace('5', "6")).unwrap();
        for (key, old) in keys_in(changed.path(), SCENARIO).iter().zip(&before) {
            assert_ne!(key, old, "{name}");
        }
    }
}

#[test]
fn a_missing_file_is_named() {
    let folder = folder();
    let path = folder.path().join("scenario.toml");
    let scenario = Scenario::parse(SCENARIO, &path).unwrap();
    fs::remove_file(folder.path().join("delays.txt")).unwrap();
    let error = Keys::new(&scenario, &path).unwrap_err().to_string();
    assert!(error.contains("delays.txt"), "{error}");
}
