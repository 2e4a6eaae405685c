//! The command line of Tidegate: the agent's commands, and those of the laboratory, the simulator, the prober, mPath and
//! the benchmarks.

// All output for people goes through `tidegate_terminal`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod args;
mod bench;
mod consent;
#[cfg(test)]
mod documents;
mod generate;
mod lab;
mod link;
mod mpath;
mod privilege;
mod probe;
mod provenance;
mod reproduce;
mod scenarios;
mod secret;
mod shipped;
mod sim;
mod steer;
mod trace;
mod trial;
mod validate;
mod values;

use anyhow::Result;
use args::{Command, CommandLine};
use clap::{CommandFactory, Parser};
use std::error::Error;
use std::process::ExitCode;
use tidegate_command::exit;

fn main() -> ExitCode {
    let args = match CommandLine::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    run(&args.command).unwrap_or_else(|error| exit::code(&error, is_refusal))
}

fn run(command: &Command) -> Result<ExitCode> {
    let done = |()| ExitCode::SUCCESS;
    match command {
        Command::Agent(command) => command.run(),
        Command::Lab(args) => lab::run(args).map(done),
        Command::Sim(args) => sim::run(args).map(done),
        Command::Reproduce(args) => reproduce::run(args).map(done),
        Command::Validate(args) => validate::run(args),
        Command::Link(args) => link::run(args),
        Command::Probe(args) => probe::run(args).map(done),
        Command::Bench(args) => bench::run(args).map(done),
        Command::Trace(args) => trace::run(args).map(done),
        Command::Try(args) => trial::run(args).map(done),
        Command::Mpath(command) => mpath::run(command).map(done),
        Command::Generate(args) => generate::run(args, CommandLine::command()).map(done),
    }
}

/// Whether the agent cannot be had here, the simulator does not support the scenario, or the output file holds rows of
/// another sweep.
fn is_refusal(cause: &(dyn Error + 'static)) -> bool {
    tidegate_daemon::is_refusal(cause)
        || cause.is::<tidegate_sim::Unsupported>()
        || cause.is::<tidegate_sweep::Refused>()
}
