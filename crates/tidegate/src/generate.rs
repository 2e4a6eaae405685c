//! `tidegate generate`: writes manual pages and completions for the package, and the reference for the documents, from
//! the command's own definitions.

mod keys;
mod reference;

use anyhow::{Context, Result};
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// What to write
    #[arg(value_enum)]
    pub what: Generated,
    /// The folder to write it into
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// What can be generated from the command's own definitions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Generated {
    /// A manual page for each command
    Man,
    /// Completions for bash, zsh and fish
    Completions,
    /// The reference of scenarios, results, and columns
    Reference,
}

/// Writes the files about these commands.
pub fn run(args: &GenerateArgs, commands: Command) -> Result<()> {
    // Without `help`, whose pages would repeat the others.
    let commands = commands.disable_help_subcommand(true);
    let folder = &args.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| match args.what {
            Generated::Man => manual(commands, folder),
            Generated::Completions => completions(commands, folder),
            Generated::Reference => reference::write(folder),
        })
        .with_context(|| format!("cannot write to {}", folder.display()))
}

/// Manual pages whose examples have their own heading, and a line each.
fn manual(commands: Command, folder: &Path) -> std::io::Result<()> {
    clap_mangen::generate_to(commands, folder)?;
    for page in std::fs::read_dir(folder)? {
        let path = page?.path();
        let page = std::fs::read_to_string(&path)?;
        let Some((before, after)) = page.split_once(".SH EXTRA\nExamples:\n") else {
            continue;
        };
        std::fs::write(&path, format!("{before}.SH EXAMPLES\n.nf\n{after}"))?;
    }
    Ok(())
}

fn completions(mut commands: Command, folder: &Path) -> std::io::Result<()> {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut commands, "tidegate", folder)?;
    }
    Ok(())
}
