//! The command line of Tidegate.
//!
//! Exit status: 0 done, 1 failed on the way, 2 what was asked for cannot be done as asked (bad
//! input, no such interface, no privilege).

mod account;
mod args;
mod bench;
mod check;
mod compare;
mod config;
mod devices;
mod dry_run;
mod exit;
mod generate;
mod interfaces;
mod lab;
mod link;
mod lock;
mod mpath;
mod operate;
mod probe;
mod reproduce;
mod rows;
mod run;
mod scenarios;
mod signals;
mod sim;
mod snapshot;
mod steer;
mod stop;
mod sweep;
mod top;
mod trace;
mod udp;
mod validate;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = |()| ExitCode::SUCCESS;
    let outcome = match args::Args::parse().command {
        args::Command::Run(args) => run::run(&args).map(done),
        args::Command::Check(args) => check::run(&args),
        args::Command::Stop(args) => stop::run(&args).map(done),
        args::Command::Top(args) => top::run(&args).map(done),
        args::Command::Lab(args) => lab::run(&args).map(done),
        args::Command::Sim(args) => sim::run(&args).map(done),
        args::Command::Reproduce(args) => reproduce::run(&args).map(done),
        args::Command::Validate(args) => validate::run(&args),
        args::Command::Link(args) => link::run(&args),
        args::Command::Probe(args) => probe::run(&args).map(done),
        args::Command::Bench(args) => bench::run(&args).map(done),
        args::Command::Trace(args) => trace::run(&args).map(done),
        args::Command::Mpath(command) => mpath::run(&command).map(done),
        args::Command::Gate => udp::run_gate().map(done),
        args::Command::Generate(args) => generate::run(&args).map(done),
    };
    outcome.unwrap_or_else(|error| exit::code(&error))
}
