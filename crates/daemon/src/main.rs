//! The agent alone, without laboratory and simulator: what `./dev static` builds and installs as `tidegate`.

use clap::Parser;
use std::process::ExitCode;
use tidegate_command::exit;
use tidegate_daemon::{AgentCommand, is_refusal};

/// The version, and the commit that it was built from.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("TIDEGATE_COMMIT"),
    ")"
);

/// Keeps the queue in front of an over-buffered access link short from the receiving end, by
/// steering the TCP receive window.
#[derive(Debug, Parser)]
#[command(name = "tidegate", version = VERSION, arg_required_else_help = true)]
struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    command: AgentCommand,
}

fn main() -> ExitCode {
    let args = match CommandLine::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    let outcome = args.command.run();
    outcome.unwrap_or_else(|error| exit::code(&error, is_refusal))
}
