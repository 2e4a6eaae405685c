//! Checks metrics against OpenMetrics and good practice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The only labels that may distinguish series; none identifies a single flow.
const LABELS: [&str; 12] = [
    "version",
    "law",
    "interface",
    "direction",
    "reason",
    "kind",
    "ecn",
    "state",
    "place",
    "steering",
    "quantile",
    "le",
];

/// A line with a value.
struct Sample<'a> {
    name: &'a str,
    labels: BTreeMap<&'a str, &'a str>,
    value: f64,
}

/// Names of all samples.
pub fn samples(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| sample(line).name.to_owned()).collect()
}

fn sample(line: &str) -> Sample<'_> {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
    let (name, labels) = match series.split_once('{') {
        Some((name, rest)) => (
            name,
            rest.strip_suffix('}').unwrap_or_else(|| panic!("{line}")),
        ),
        None => (series, ""),
    };
    let label = |pair: &'_ str| -> Option<(usize, usize)> {
        let at = pair.find("=\"")?;
        pair.ends_with('"').then_some((at, at + 2))
    };
    let labels = labels
        .split(',')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (end, start) = label(pair).unwrap_or_else(|| panic!("label {pair} of {line}"));
            (&pair[..end], &pair[start..pair.len() - 1])
        });
    Sample {
        name,
        labels: labels.collect(),
        value: value.parse().unwrap_or_else(|_| panic!("value of {line}")),
    }
}

/// Panics if anything is wrong.
pub fn check(text: &str) {
    assert!(text.ends_with("# EOF\n"), "no end");
    let (mut types, mut helps, mut units) = (HashMap::new(), BTreeSet::new(), HashMap::new());
    let mut seen = BTreeSet::new();
    let mut histograms: BTreeMap<_, Vec<Sample>> = BTreeMap::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let mut word = || words.next().unwrap_or_else(|| panic!("{line}"));
            match (word(), word(), word()) {
                ("TYPE", family, kind) => assert_eq!(types.insert(family, kind), None, "{line}"),
                ("HELP", family, _) => assert!(helps.insert(family), "{line}"),
                ("UNIT", family, unit) => assert_eq!(units.insert(family, unit), None, "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let sample = sample(line);
        let (family, kind) = family(sample.name, &types);
        assert!(
            family.starts_with("tidegate_") && helps.contains(family),
            "{line}"
        );
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(family.chars().all(plain), "{line}");
        for small in ["_ms", "_us", "_bits", "_mbps", "_kb", "_percent"] {
            assert!(!family.ends_with(small), "{line}: no base unit");
        }
        if let Some(unit) = units.get(family) {
            assert!(family.ends_with(unit), "{line}: unit {unit}");
        }
        assert!(
            sample.labels.keys().all(|label| LABELS.contains(label)),
            "{line}"
        );
        assert!(
            seen.insert(line.rsplit_once(' ').unwrap().0),
            "twice: {line}"
        );
        if kind == "counter" || kind == "histogram" {
            assert!(sample.value >= 0.0, "{line}");
        }
        if kind == "histogram" {
            let direction = sample.labels["direction"];
            histograms
                .entry((family, direction))
                .or_default()
                .push(sample);
        }
    }
    assert!(!histograms.is_empty());
    histograms
        .values()
        .for_each(|samples| check_histogram(samples));
}

/// The family that a sample belongs to, and its type.
fn family<'a>(name: &'a str, types: &HashMap<&str, &'a str>) -> (&'a str, &'a str) {
    for (kind, suffixes) in [
        ("counter", &["_total"][..]),
        ("info", &["_info"]),
        ("histogram", &["_bucket", "_sum", "_count"]),
        ("gauge", &[""]),
    ] {
        for suffix in suffixes {
            let family = name.strip_suffix(suffix);
            if let Some(family) = family.filter(|f| types.get(f) == Some(&kind)) {
                return (family, kind);
            }
        }
    }
    panic!("{name} is of no family that has a type");
}

/// Buckets must be cumulative and end at the count.
fn check_histogram(samples: &[Sample]) {
    let of = |part: &'static str| samples.iter().filter(move |s| s.name.ends_with(part));
    let count = of("_count").next().expect("a count").value;
    let bound = |s: &Sample| match s.labels["le"] {
        "+Inf" => f64::INFINITY,
        le => le.parse().unwrap(),
    };
    let buckets: Vec<_> = of("_bucket").map(|s| (bound(s), s.value)).collect();
    assert!(buckets.len() > 10);
    assert!(
        buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1),
        "{buckets:?}"
    );
    assert_eq!(buckets.last(), Some(&(f64::INFINITY, count)));
    assert_eq!(of("_sum").count(), 1);
}
