//! Turns an error into one sentence and an exit status.

use std::error::Error;
use std::process::ExitCode;
use tidegate_scenario::LoadError;
use tidegate_terminal::warn;

/// Bad input: the command cannot be done as it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// Prints an error of the command line, or the requested help, and returns the exit status.
pub fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // The error quotes the arguments, and one may be a file name that somebody else has chosen.
        warn(error.render());
    } else {
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints the error and returns the exit status. Bad input is [`BadInput`], a [`LoadError`], and whatever
/// `is_refusal` says of an error's cause.
pub fn code(
    error: &anyhow::Error,
    is_refusal: impl Fn(&(dyn Error + 'static)) -> bool,
) -> ExitCode {
    if closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    say(&format!("{error:#}"), error);
    let is_bad_input = |cause: &(dyn Error + 'static)| {
        cause.is::<BadInput>() || cause.is::<LoadError>() || is_refusal(cause)
    };
    match error.chain().any(is_bad_input) {
        true => ExitCode::from(2),
        false => ExitCode::FAILURE,
    }
}

/// Prints one line, or a line for each of several faults of the input.
fn say(text: &str, error: &anyhow::Error) {
    let several =
        |cause: &(dyn Error + 'static)| matches!(cause.downcast_ref(), Some(LoadError::Several(_)));
    match error.chain().any(several) {
        true => text
            .lines()
            .for_each(|line| warn(format_args!("tidegate: {line}"))),
        false => warn(format_args!("tidegate: {text}")),
    }
}

/// `tidegate … | head` is no error.
fn closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn Error + 'static)| {
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
