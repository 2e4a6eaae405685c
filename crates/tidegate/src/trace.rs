//! `tidegate trace`: a shipped cell model as a file.

use crate::args::TraceArgs;
use crate::exit::BadInput;
use anyhow::Result;
use std::io::Write;
use std::time::Duration;
use tidegate_scenario::GenerateSpec;

/// The longest trace that is written, in seconds: a day.
const LONGEST_S: u64 = 86_400;

/// Writes it to standard output.
pub fn run(args: &TraceArgs) -> Result<()> {
    if !(1..=LONGEST_S).contains(&args.seconds) {
        return Err(BadInput(format!(
            "--seconds {}, expected 1 to {LONGEST_S}",
            args.seconds
        ))
        .into());
    }
    if args.mean_mbps.is_some_and(|m| !(m.is_finite() && m > 0.0)) {
        return Err(BadInput("--mean-mbps, expected more than 0".into()).into());
    }
    let spec = GenerateSpec {
        kind: args.kind,
        mean_mbps: args.mean_mbps,
        seed: Some(args.seed),
    };
    let trace = spec
        .model(args.seed)
        .trace(Duration::from_secs(args.seconds));
    write!(std::io::stdout().lock(), "{trace}")?;
    Ok(())
}
