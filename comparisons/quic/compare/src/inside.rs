//! Measurements inside the tunnel, by ping and iperf3.

use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The interval of ping(8), as in `end.sh`.
const PING_S: f64 = 0.02;

/// Mean and p95 of ping's round trips after the warm-up, in ms.
pub fn pings(file: &Path, warmup_s: f64) -> Result<(f64, f64)> {
    let text = fs::read_to_string(file).context("ping's output")?;
    let number = |line: &str, name: &str| -> Option<f64> {
        let (_, rest) = line.split_once(name)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let mut all: Vec<f64> = text
        .lines()
        .filter(|line| number(line, "icmp_seq=").is_some_and(|n| n * PING_S >= warmup_s))
        .filter_map(|line| number(line, "time="))
        .collect();
    all.sort_by(f64::total_cmp);
    let p95 = all.get(all.len() * 95 / 100).context("no ping came back")?;
    Ok((all.iter().sum::<f64>() / all.len() as f64, *p95))
}

/// Bytes of each second, from iperf3.
pub fn tcp(file: &Path) -> Result<Vec<u64>> {
    let text = fs::read_to_string(file).context("iperf3's output")?;
    let report: Value = serde_json::from_str(&text).context("iperf3's output")?;
    let intervals = report["intervals"].as_array().context("no intervals")?;
    let bytes = intervals.iter().map(|i| i["sum"]["bytes"].as_u64());
    bytes.map(|b| b.context("no bytes")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_of_the_warm_up_do_not_count() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = |n: u32, ms: f64| {
            format!("64 bytes from 10.251.0.1: icmp_seq={n} ttl=64 time={ms} ms\n")
        };
        let text = line(1, 900.0) + &line(50, 20.0) + "no answer\n" + &line(51, 40.0);
        fs::write(file.path(), text).unwrap();
        assert_eq!(pings(file.path(), 1.0).unwrap(), (30.0, 40.0));
        assert!(pings(file.path(), 2.0).is_err());
    }

    #[test]
    fn iperf3_tells_the_bytes_of_each_second() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = r#"{"intervals": [{"sum": {"bytes": 7}}, {"sum": {"bytes": 9}}]}"#;
        fs::write(file.path(), text).unwrap();
        assert_eq!(tcp(file.path()).unwrap(), [7, 9]);
    }
}
