//! `tidegate trace import`: turns other people's recordings into traces that a scenario plays.

mod output;

use crate::values::word;
use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use output::{Output, outputs};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_recordings::{Direction, Filter, Form, Import, Kind, Options, Written};
use tidegate_terminal::warn;

/// Longest recording that we read, in bytes: the same as for scenarios.
const LONGEST: u64 = 4_000_000_000;

/// How many bytes of a file we look at to recognise its kind.
const HEAD: usize = 1 << 16;

/// Longest gap that may be asked for, in seconds: a day.
const LONGEST_GAP_S: f64 = 86_400.0;

/// Bins of a series of packets, in ms.
const BINS_MS: std::ops::RangeInclusive<f64> = 1.0..=60_000.0;

/// How `trace import` is used.
const EXAMPLES: &[Example] = &[
    (
        "tidegate trace import drive.csv -o drive-series.csv",
        "its kind is found out where that is unmistakable, and told",
    ),
    (
        "tidegate trace import --from lumos5g Lumos5G-v1.0.csv --session walking/CW/3 -o walk.csv",
        "one of the sessions of a file; without --session it lists them",
    ),
    (
        "tidegate trace import download.pcap --filter src=192.0.2.7:443 -o download.down",
        "what a server sent, by the times of packets",
    ),
    (
        "tidegate trace import one.json two.json -o traces",
        "several, into a folder",
    ),
];

/// The long help.
pub const ABOUT: &str = "Turn other people's recordings of links into what a scenario plays.

A recording of goodput is no capacity: it has what an application received, which may not have filled the link, and it has no round trip, no queue and no loss. The command says of each file what its numbers are. Time without a sample is no rate (0), up to --longest-gap, and is told. A file that is not as it should be is refused with its line or packet, and nothing is written.";

/// Arguments of `trace import`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct ImportArgs {
    /// Recordings; several are one file each, of one kind
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What they are; found out if it is unmistakable
    #[arg(long, value_name = "KIND", value_parser = kind())]
    pub from: Option<Kind>,
    /// What is written: a file, or a folder that is there
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Form: series (seconds,bits_per_second) or mahimahi; what loses least if absent
    #[arg(long = "as", value_name = "FORM", value_parser = word::<Form>)]
    pub form: Option<Form>,
    /// Direction, of a kind that has both: down or up
    #[arg(long, value_parser = word::<Direction>)]
    pub direction: Option<Direction>,
    /// Session, of a file with several; without it they are listed
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Packets of a capture: src=ADDRESS:PORT,dst=ADDRESS:PORT, any part of it; else the busiest flow's
    #[arg(long)]
    pub filter: Option<Filter>,
    /// Longest time without a sample, which gets rate 0
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub longest_gap: f64,
    /// Bins in which packets become a series
    #[arg(long, value_name = "MS", default_value_t = 100.0)]
    pub bin_ms: f64,
}

/// Parses a kind by its name.
fn kind() -> impl TypedValueParser<Value = Kind> {
    let named = |kind: Kind| PossibleValue::new(kind.name()).help(kind.about());
    let words = PossibleValuesParser::new(Kind::all().map(named));
    words.map(|name| name.parse().expect("the parser admits no other"))
}

/// Reads all files before it writes any, so that a failure leaves nothing behind.
pub fn run(args: &ImportArgs) -> Result<()> {
    let options = options(args)?;
    let imports = args.files.iter().map(|file| read(file, &options));
    let imports = imports.collect::<Result<Vec<_>>>()?;
    let forms = imports
        .iter()
        .map(|import| args.form.unwrap_or(import.form));
    let up = args.direction == Some(Direction::Up);
    let outputs = outputs(&args.files, forms.collect(), up, &args.output)?;
    let bin = Duration::from_secs_f64(args.bin_ms / 1e3);
    let mut ready = Vec::new();
    for (import, output) in imports.iter().zip(outputs) {
        ready.push(output.fill(&import.recorded, bin)?);
    }
    for ((file, import), filled) in args.files.iter().zip(&imports).zip(ready) {
        let (output, written) = filled.keep()?;
        tell(file, import, &output, written);
    }
    Ok(())
}

fn options(args: &ImportArgs) -> Result<Options> {
    if !(0.0..=LONGEST_GAP_S).contains(&args.longest_gap) {
        let found = args.longest_gap;
        let message = format!("--longest-gap {found}, expected 0 to {LONGEST_GAP_S} seconds");
        return Err(BadInput(message).into());
    }
    if !BINS_MS.contains(&args.bin_ms) {
        let (found, least, most) = (args.bin_ms, BINS_MS.start(), BINS_MS.end());
        let message = format!("--bin-ms {found}, expected {least} to {most}");
        return Err(BadInput(message).into());
    }
    Ok(Options {
        kind: args.from,
        direction: args.direction,
        session: args.session.clone(),
        filter: args.filter,
        longest_gap: Duration::from_secs_f64(args.longest_gap),
    })
}

fn read(file: &Path, options: &Options) -> Result<Import> {
    let name = file.display();
    let unreadable = |error: std::io::Error| BadInput(format!("{name}: cannot be read: {error}"));
    let opened = File::open(file).map_err(unreadable)?;
    let about = opened.metadata().map_err(unreadable)?;
    if about.is_dir() {
        return Err(BadInput(format!("{name}: is a folder, expected a file")).into());
    }
    if about.len() > LONGEST {
        let length = about.len();
        let message = format!("{name}: {length} bytes, expected {LONGEST} at most; cut it");
        return Err(BadInput(message).into());
    }
    let from = BufReader::with_capacity(HEAD, opened);
    let import = tidegate_recordings::import(from, options);
    Ok(import.map_err(|refused| BadInput(format!("{name}{refused}")))?)
}

/// Reports what was read, what was found, and what was written.
fn tell(file: &Path, import: &Import, output: &Output, written: Written) {
    let name = file.display();
    warn(format_args!(
        "{name}: of kind {}: {}",
        import.kind, import.is
    ));
    for note in &import.notes {
        warn(format_args!("{name}: {note}"));
    }
    let seconds = written.period.as_secs_f64();
    let mbps = written.bytes as f64 * 8e-6 / seconds;
    let key = match output.form {
        Form::Series => "series",
        Form::Mahimahi => "trace",
    };
    warn(format_args!(
        "{}: {} lines, {seconds} s, {} bytes, {mbps:.3} Mbit/s in the mean; in a scenario: rate = {{ {key} = \"{}\" }}",
        output.path.display(),
        written.lines,
        written.bytes,
        output.path.file_name().unwrap_or_default().display(),
    ));
}

/// Adds the output file's name to an error.
fn of_output<T>(outcome: std::io::Result<T>, path: &Path) -> Result<T> {
    match outcome {
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(BadInput(format!("{}: the recording {error}", path.display())).into())
        }
        outcome => outcome.with_context(|| format!("{} cannot be written", path.display())),
    }
}
