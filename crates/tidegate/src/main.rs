//! The command line of Tidegate.
//!
//! Exit status: 0 done, 1 failed on the way, 2 what was asked for cannot be done as asked (bad
//! input, no such interface, no privilege).
//!
//! Without the feature `full` this is only the agent: the commands that steer, and those that watch over it.

// All output for people goes through `tidegate_terminal`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod account;
mod args;
#[cfg(feature = "full")]
mod bench;
mod check;
mod compare;
mod config;
#[cfg(feature = "full")]
mod consent;
mod devices;
#[cfg(all(test, feature = "full"))]
mod documents;
mod dry_run;
mod exit;
#[cfg(feature = "full")]
mod generate;
mod hidden;
mod icmp;
mod interfaces;
mod json;
#[cfg(feature = "full")]
mod lab;
#[cfg(feature = "full")]
mod link;
mod lock;
mod meeting;
#[cfg(feature = "full")]
mod mpath;
mod operate;
mod pause;
#[cfg(feature = "full")]
mod probe;
#[cfg(feature = "full")]
mod provenance;
#[cfg(feature = "full")]
mod reproduce;
mod run;
mod say;
#[cfg(feature = "full")]
mod scenarios;
#[cfg(feature = "full")]
mod secret;
#[cfg(feature = "full")]
mod shipped;
mod signals;
#[cfg(feature = "full")]
mod sim;
mod snapshot;
#[cfg(feature = "full")]
mod steer;
mod stop;
mod time_of_day;
mod top;
#[cfg(feature = "full")]
mod trace;
#[cfg(feature = "full")]
mod trial;
mod udp;
#[cfg(feature = "full")]
mod validate;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = |()| ExitCode::SUCCESS;
    let args = match args::CommandLine::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    let outcome = match args.command {
        args::Command::Run(args) => run::run(&args).map(done),
        args::Command::Check(args) => check::run(&args),
        args::Command::Stop(args) => stop::run(&args).map(done),
        args::Command::Pause(args) => pause::pause(&args).map(done),
        args::Command::Resume(args) => pause::resume(&args).map(done),
        args::Command::Top(args) => top::run(&args).map(done),
        #[cfg(feature = "full")]
        args::Command::Full(command) => full(&command),
        args::Command::Gate => udp::run_gate().map(done),
    };
    outcome.unwrap_or_else(|error| exit::code(&error))
}

/// Runs one of the commands that the agent alone does not have.
#[cfg(feature = "full")]
fn full(command: &args::FullCommand) -> anyhow::Result<ExitCode> {
    use args::FullCommand::*;
    let done = |()| ExitCode::SUCCESS;
    match command {
        Lab(args) => lab::run(args).map(done),
        Sim(args) => sim::run(args).map(done),
        Reproduce(args) => reproduce::run(args).map(done),
        Validate(args) => validate::run(args),
        Link(args) => link::run(args),
        Probe(args) => probe::run(args).map(done),
        Bench(args) => bench::run(args).map(done),
        Trace(args) => trace::run(args).map(done),
        Try(args) => trial::run(args).map(done),
        Mpath(command) => mpath::run(command).map(done),
        Generate(args) => generate::run(args).map(done),
    }
}
