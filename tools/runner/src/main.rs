//! Runs the workspace's test programs side by side: `./dev test`.
//!
//! Cargo runs one test program after another, and the processors idle while a test waits for a link of 20 Mbit/s. Here
//! a few programs that wait run at a time, and programs that compute use the rest of the processors. The packages'
//! manifests say which is which:
//!
//! ```text
//! [package.metadata.tests]
//! real-time = { lab = 3, unit = 0 }    # they wait, or are measured: minutes that each takes, about
//! kernel = { promises = 1 }            # they compute, with programs in the kernel, which takes root
//! ```
//!
//! A name is that of a test's target, or `unit` for the unit tests. A program that is not listed computes.
//!
//! Programs that wait depend on real time, and may fail on a busy machine. If only a few of their tests fail, these are
//! run once more after all others, and the report names those that pass then.

mod outcome;
mod pool;
mod program;

use anyhow::{Context, Result};
use clap::Parser;
use outcome::{ProgramRun, Sum};
use program::{Kind, Program};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

/// Up to this many tests may have failed because the processors were busy; more failures have another reason.
const ONCE_MORE: usize = 6;

/// Runs test programs side by side. Their list, cargo's messages in JSON, comes on standard input:
/// cargo test --no-run --message-format json-render-diagnostics | tidegate-runner
#[derive(Parser)]
struct Args {
    /// Only programs that neither wait in real time nor need root
    #[arg(long)]
    quick: bool,
    /// Also the examples in documentation, which cargo compiles and runs itself
    #[arg(long)]
    doc: bool,
    /// Only these: PACKAGE/TARGET, or PACKAGE/unit for unit tests, without "tidegate-"
    programs: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tidegate-runner: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs the programs. Returns whether all passed.
fn run(args: &Args) -> Result<bool> {
    let mut programs = program::read(io::stdin().lock())?;
    programs.extend(args.doc.then(Program::documentation));
    let programs = program::choose(programs, &args.programs)?;
    let programs = programs.into_iter();
    let programs = programs.filter(|p| !args.quick || p.kind == Kind::Computes);
    let programs: Vec<_> = programs.collect();
    let began = Instant::now();
    let mut outcomes = Vec::new();
    pool::run(programs.clone(), |outcome| {
        show(&outcome)?;
        outcomes.push(outcome);
        Ok(())
    })?;
    let late = once_more(&programs, &mut outcomes)?;
    conclude(&outcomes, &late, began)
}

/// Runs failed tests that depend on real time once more, alone, unless there are many. Returns the names of those that
/// pass then.
fn once_more(programs: &[Program], outcomes: &mut [ProgramRun]) -> Result<Vec<String>> {
    let real_time = |o: &&mut ProgramRun| {
        let named = programs.iter().find(|p| p.name == o.name);
        named.is_some_and(|p| matches!(p.kind, Kind::RealTime | Kind::Alone))
    };
    let failed = outcomes.iter_mut().filter(|o| !o.passed());
    let failed: Vec<_> = failed.filter(real_time).collect();
    let tests: usize = failed.iter().map(|o| o.failed_tests().len()).sum();
    if tests > ONCE_MORE {
        return Ok(Vec::new());
    }
    let mut late = Vec::new();
    for outcome in failed {
        let tests = outcome.failed_tests();
        let program = programs.iter().find(|p| p.name == outcome.name);
        let (Some(program), false) = (program, tests.is_empty()) else {
            continue;
        };
        let again = pool::alone(program.only(&tests))?;
        show(&again)?;
        if again.passed() {
            late.extend(tests.iter().map(|test| format!("{} {test}", outcome.name)));
            outcome.make_good();
        }
    }
    Ok(late)
}

/// Prints the whole output of a program.
fn show(outcome: &ProgramRun) -> Result<()> {
    let mut out = io::stdout().lock();
    let passed = if outcome.passed() { "" } else { ", FAILED" };
    let seconds = outcome.took.as_secs_f64();
    writeln!(out, "\n     Ran {} ({seconds:.1} s{passed})", outcome.name)?;
    out.write_all(outcome.printed.as_bytes())?;
    Ok(())
}

/// Prints the failures again, the tests that passed only alone, the skipped ones, and the sum.
fn conclude(outcomes: &[ProgramRun], late: &[String], began: Instant) -> Result<bool> {
    let mut out = io::stdout().lock();
    let failed: Vec<_> = outcomes.iter().filter(|o| !o.passed()).collect();
    for outcome in &failed {
        writeln!(out, "\n     FAILED {}: {}", outcome.name, outcome.status)?;
        writeln!(out, "{}", outcome.failures())?;
    }
    if !late.is_empty() {
        writeln!(out, "\n     Passed only alone:\n{}", late.join("\n"))?;
    }
    let skipped: Vec<_> = outcomes.iter().flat_map(ProgramRun::skipped).collect();
    if !skipped.is_empty() {
        writeln!(out, "\n     Left out:\n{}", skipped.join("\n"))?;
    }
    let sum: Sum = outcomes.iter().map(|o| o.sum).sum();
    let seconds = began.elapsed().as_secs();
    let programs = outcomes.len();
    writeln!(out, "\n{programs} test programs in {seconds} s")?;
    writeln!(out, "{sum}").context("cannot print the sum")?;
    Ok(failed.is_empty())
}
