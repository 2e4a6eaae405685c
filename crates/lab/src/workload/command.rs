//! Runs any command, inside one of the network namespaces, with given [`Rights`], and in its own PID namespace.

use super::{Applications, TaskContext};
use crate::child::terminate;
use crate::confine::{Place, Rights, confine};
use crate::run::Commands;
use crate::term::Term;
use anyhow::{Context, Result, bail};
use nix::sys::signal::SigSet;
use std::fs::File;
use std::io;
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
        let Commands::Allowed(rights) = context.commands else {
            bail!("commands are not allowed");
        };
        if let Some(failure) = run(&argv, rights, context.output, term)? {
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

/// Runs the command until it and all processes that it has started have exited, or ends them when the term is over.
/// Returns how it failed, if it did. Has to be called on a thread that starts no others from then on ([`confine`]).
fn run(
    argv: &[String],
    rights: &Rights,
    output: &CommandOutput,
    term: &Term,
) -> Result<Option<String>> {
    const POLL_INTERVAL: Duration = Duration::from_millis(10);
    let (program, arguments) = argv.split_first().context("the command is empty")?;
    let [stdout, stderr] = [output.open()?, output.open()?];
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr);
    let report = confine(&mut command, Place::Background, None)?;
    // SAFETY: the closure runs between fork and exec and makes a system call, without allocating.
    unsafe { command.pre_exec(unblock_signals) };
    // Last, since the other hooks need root.
    rights.take(&mut command);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run {program:?}"))?;
    drop(command);
    let mut status = None;
    while term.sleep_until(term.clock.now() + POLL_INTERVAL) {
        let ended = child.try_wait()?;
        status = status.or_else(|| report.read()).or(ended);
        if ended.is_some() {
            break;
        }
    }
    terminate(&mut child)?;
    let failed = status.filter(|status| !status.success());
    Ok(failed.map(|status| format!("{argv:?} failed: {status}")))
}

/// Unblocks all signals, which the first process of the namespace has blocked before it forked the command.
fn unblock_signals() -> io::Result<()> {
    SigSet::empty().thread_set_mask().map_err(io::Error::from)
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
