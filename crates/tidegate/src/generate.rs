//! `tidegate generate`: manual pages and completions, for the package, from the command's own
//! definitions.

use crate::args::{Args, GenerateArgs, Generated};
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::path::Path;

/// Writes them.
pub fn run(args: &GenerateArgs) -> Result<()> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| match args.what {
            Generated::Man => clap_mangen::generate_to(commands(), folder),
            Generated::Completions => completions(commands(), folder),
        })
        .with_context(|| format!("cannot write to {}", folder.display()))
}

/// What users are told of: without the hidden commands, and without `help`, whose pages would say
/// the same as the commands' own.
fn commands() -> Command {
    Args::command().disable_help_subcommand(true)
}

fn completions(mut commands: Command, folder: &Path) -> std::io::Result<()> {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut commands, "tidegate", folder)?;
    }
    Ok(())
}
