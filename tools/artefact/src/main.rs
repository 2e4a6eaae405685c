//! Checks whether the papers' numbers come out here as the artefact says (`./dev artefact`): runs the claims of
//! `packaging/artefact/claims.toml` and compares every number with `packaging/artefact/expected.json`.
//!
//! The simulator gives the same bytes on every machine, so the tolerance only covers rounding. A number that differs
//! by more comes from other code, from another compiler's mathematics or from a mistake. Please report each of these.

mod claims;
mod compare;
mod expected;
mod measure;
mod readme;
mod show;

use anyhow::{Context, Result, bail, ensure};
use claims::{Claim, Claims};
use clap::{Args as Arguments, Parser, Subcommand};
use compare::{Outcome, compare};
use expected::Expected;
use measure::measure;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use tidegate_sim::BEHAVIOUR_VERSION;

/// Run an artefact's claims, and compare their numbers with those expected.
#[derive(Debug, Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run claims and compare; the exit status is 1 if a number is not within its tolerance
    Check(Wanted),
    /// Run claims and write their numbers as those expected
    Expect(Wanted),
    /// Say which claims there are, and how long they take
    List(Files),
    /// Print the committee's page: the template with its table of claims
    Readme(Template),
}

/// The files of the artefact.
#[derive(Debug, Arguments)]
struct Files {
    /// The claims
    #[arg(
        long,
        value_name = "FILE",
        default_value = "packaging/artefact/claims.toml"
    )]
    claims: PathBuf,
    /// The numbers that are expected
    #[arg(
        long,
        value_name = "FILE",
        default_value = "packaging/artefact/expected.json"
    )]
    expected: PathBuf,
}

#[derive(Debug, Arguments)]
struct Wanted {
    /// Which claims; all if none is named
    names: Vec<String>,
    /// The one that takes least
    #[arg(long, conflicts_with = "names")]
    quickest: bool,
    /// The program whose commands make the numbers
    #[arg(long, value_name = "FILE", default_value = "target/release/tidegate")]
    program: PathBuf,
    #[command(flatten)]
    files: Files,
}

impl Wanted {
    /// Whether it asks for all claims.
    fn is_all(&self) -> bool {
        self.names.is_empty() && !self.quickest
    }
}

#[derive(Debug, Arguments)]
struct Template {
    /// The page without its table
    #[arg(
        long,
        value_name = "FILE",
        default_value = "packaging/artefact/README.md"
    )]
    template: PathBuf,
    #[command(flatten)]
    files: Files,
}

fn main() -> ExitCode {
    match run(&CommandLine::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            tidegate_terminal::warn(format_args!("artefact: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Whether all claims hold.
fn run(command: &Command) -> Result<bool> {
    match command {
        Command::Check(wanted) => check(wanted),
        Command::Expect(wanted) => expect(wanted).map(|()| true),
        Command::List(files) => show::list(&Claims::read(&files.claims)?).map(|()| true),
        Command::Readme(page) => {
            let claims = Claims::read(&page.files.claims)?;
            let expected = Expected::read(&page.files.expected)?;
            is_of_this_simulator(&expected, &page.files.expected)?;
            readme::print(&page.template, &claims, &expected).map(|()| true)
        }
    }
}

fn check(wanted: &Wanted) -> Result<bool> {
    let claims = Claims::read(&wanted.files.claims)?;
    let expected = Expected::read(&wanted.files.expected)?;
    is_of_this_simulator(&expected, &wanted.files.expected)?;
    let chosen = chosen(&claims, wanted)?;
    for claim in &chosen {
        ensure!(
            expected.of(&claim.id).is_some(),
            "{}: no numbers of claim \"{}\"; ./dev artefact expect writes them",
            wanted.files.expected.display(),
            claim.id
        );
    }
    let mut outcomes: Vec<Outcome> = Vec::new();
    for claim in chosen {
        let numbers = timed(claim, || measure(claim, &wanted.program))?;
        let known = expected.of(&claim.id).unwrap_or_default();
        let outcome = compare(claim, known, &numbers, claims.tolerance);
        show::outcome(&outcome)?;
        outcomes.push(outcome);
    }
    show::sum(&outcomes)?;
    Ok(outcomes.iter().all(Outcome::holds))
}

/// Writes nothing before every claim has been measured: a file with some of the numbers would look whole.
fn expect(wanted: &Wanted) -> Result<()> {
    let claims = Claims::read(&wanted.files.claims)?;
    let path = &wanted.files.expected;
    let mut expected = if wanted.is_all() {
        Expected::default()
    } else {
        // One artefact must not mix numbers of two simulator versions.
        let known = Expected::read(path)?;
        is_of_this_simulator(&known, path)?;
        known
    };
    expected.behaviour = BEHAVIOUR_VERSION;
    for claim in chosen(&claims, wanted)? {
        let numbers = timed(claim, || measure(claim, &wanted.program))?;
        ensure!(
            !numbers.is_empty(),
            "{}: its command printed no number",
            claim.id
        );
        claim.shown(&numbers)?;
        expected.claims.insert(claim.id.clone(), numbers);
    }
    expected.write(path)
}

/// The claims that were asked for, in the order of the file.
fn chosen<'a>(claims: &'a Claims, wanted: &Wanted) -> Result<Vec<&'a Claim>> {
    let all = &claims.claim;
    if wanted.quickest {
        let quickest = all.iter().min_by(|a, b| a.minutes.total_cmp(&b.minutes));
        return Ok(vec![quickest.context("no claim")?]);
    }
    for name in &wanted.names {
        let known = all.iter().any(|claim| claim.id == *name);
        if !known {
            let ids: Vec<_> = all.iter().map(|claim| claim.id.as_str()).collect();
            bail!("no claim \"{name}\", expected one of {}", ids.join(", "));
        }
    }
    let named = |claim: &&Claim| wanted.names.is_empty() || wanted.names.contains(&claim.id);
    Ok(all.iter().filter(named).collect())
}

fn is_of_this_simulator(expected: &Expected, path: &Path) -> Result<()> {
    ensure!(
        expected.behaviour == BEHAVIOUR_VERSION,
        "{}: numbers of behaviour version {}, and this simulator is of version {BEHAVIOUR_VERSION}; \
         ./dev artefact expect writes them anew",
        path.display(),
        expected.behaviour
    );
    Ok(())
}

/// Prints what is being done, and how long it took.
fn timed<T>(claim: &Claim, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let (id, minutes) = (&claim.id, claim.minutes);
    tidegate_terminal::warn(format_args!("{id}: {}, about {minutes} min", claim.command));
    let begin = Instant::now();
    let done = work().with_context(|| format!("claim \"{id}\""))?;
    let seconds = begin.elapsed().as_secs();
    tidegate_terminal::warn(format_args!("{id}: {seconds} s"));
    Ok(done)
}
