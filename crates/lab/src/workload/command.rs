//! Any command, inside one of the namespaces.

use super::{Applications, TaskContext};
use crate::child::{die_with_parent, terminate};
use crate::term::Term;
use anyhow::{Context, Result};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::time::Duration;
use tidegate_scenario::{Side, Workload};

/// Where the standard output and standard error of commands go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CommandOutput {
    /// To the standard error of this process.
    #[default]
    Stderr,
    /// To the end of this file.
    File(PathBuf),
}

/// Adds a command to run on `side`.
pub fn add(
    applications: &mut Applications,
    workload: &Workload,
    context: &TaskContext,
    argv: &[String],
    side: Side,
) {
    let argv: Vec<String> = argv.iter().map(|a| substitute(a, context)).collect();
    let name = workload.name.clone();
    applications.add_task(workload, context, side, move |context, term| {
        if let Some(failure) = run(&argv, context.output, term)? {
            let mut warnings = context
                .warnings
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            warnings.push(format!("workload \"{name}\": {failure}"));
        }
        Ok(())
    });
}

/// Puts the hosts' addresses into an argument.
fn substitute(argument: &str, context: &TaskContext) -> String {
    argument
        .replace("{server}", &context.server_address.to_string())
        .replace("{client}", &context.client_address.to_string())
}

/// Runs the command until it exits, and ends it and its process group when the term is over. Returns
/// how it failed, if it did.
fn run(argv: &[String], output: &CommandOutput, term: &Term) -> Result<Option<String>> {
    const POLL_INTERVAL: Duration = Duration::from_millis(10);
    let (program, arguments) = argv.split_first().context("the command is empty")?;
    let [stdout, stderr] = [output.open()?, output.open()?];
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0);
    die_with_parent(&mut command);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run \"{program}\""))?;
    while term.sleep_until(term.clock.now() + POLL_INTERVAL) {
        match child.try_wait()? {
            None => {}
            Some(status) if status.success() => return Ok(None),
            Some(status) => return Ok(Some(format!("\"{}\" failed: {status}", argv.join(" ")))),
        }
    }
    terminate(&mut child)?;
    Ok(None)
}

impl CommandOutput {
    fn open(&self) -> Result<Stdio> {
        Ok(match self {
            Self::Stderr => std::io::stderr().as_fd().try_clone_to_owned()?.into(),
            Self::File(path) => File::options()
                .append(true)
                .create(true)
                .open(path)
                .with_context(|| format!("cannot write {}", path.display()))?
                .into(),
        })
    }
}
