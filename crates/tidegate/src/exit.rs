//! Turns an error into one sentence and an exit status.

use crate::say;
use std::process::ExitCode;
use tidegate_agent::AgentError;
use tidegate_scenario::LoadError;

/// Bad input: the command cannot be done as it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// An error unless the user is root; `what` needs it.
#[cfg(feature = "full")]
pub fn require_root(what: &str) -> Result<(), BadInput> {
    // SAFETY: no arguments, cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        return Ok(());
    }
    Err(BadInput(format!(
        "{what} needs root, to make network namespaces and TUN devices"
    )))
}

/// Prints an error of the command line, or the requested help, and returns the exit status.
pub fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // The error quotes the arguments, and one may be a file name that somebody else has chosen.
        say::err(error.render());
    } else {
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints the error and returns the exit status.
pub fn code(error: &anyhow::Error) -> ExitCode {
    if closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    say(&format!("{error:#}"), error);
    if is_bad_input(error) {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}

/// Prints one line, or a line for each of several faults of the input.
fn say(text: &str, error: &anyhow::Error) {
    let several = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(LoadError::Several(_)))
    };
    match error.chain().any(several) {
        true => text
            .lines()
            .for_each(|line| say::err(format_args!("tidegate: {line}"))),
        false => say::err(format_args!("tidegate: {text}")),
    }
}

/// `tidegate … | head` is no error.
fn closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>();
        io.or(json.and_then(serde_json::Error::io_error_kind))
    };
    error
        .chain()
        .any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}

fn is_bad_input(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<BadInput>()
            || cause.is::<LoadError>()
            || is_refused_simulation(cause)
            || cause.downcast_ref::<AgentError>().is_some_and(|e| {
                use AgentError::*;
                matches!(
                    e,
                    NotPrivileged(_)
                        | BpfRefused
                        | TooOld(_)
                        | NoInterface(_)
                        | LinkLayer { .. }
                        | NoBpfFileSystem
                )
            })
    })
}

/// Whether the simulator does not support the scenario, or the output file holds rows of another sweep.
#[cfg(feature = "full")]
fn is_refused_simulation(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<tidegate_sim::Unsupported>() || cause.is::<tidegate_sweep::Refused>()
}

#[cfg(not(feature = "full"))]
fn is_refused_simulation(_: &(dyn std::error::Error + 'static)) -> bool {
    false
}
