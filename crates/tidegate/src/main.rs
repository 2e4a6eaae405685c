//! The command line of Tidegate.
//!
//! Exit status: 0 done, 1 failed on the way, 2 what was asked for cannot be done as asked (bad
//! input, no such interface, no privilege).

mod args;
mod exit;
mod lab;
mod run;
mod signals;
mod steer;
mod trace;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = match args::Args::parse().command {
        args::Command::Run(args) => run::run(&args),
        args::Command::Lab(args) => lab::run(&args),
        args::Command::Trace(args) => trace::run(&args),
    };
    exit::code(outcome)
}
