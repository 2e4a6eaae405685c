//! Code shared by sending and receiving files.

use anyhow::{Context, Error, Result, anyhow};
use std::time::Duration;
use tidegate_command::exit::BadInput;
use tidegate_transfer::Endpoint;
use tokio::signal::unix::{SignalKind, signal};

/// Runs the work in a new runtime.
pub fn run(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("start the runtime")?;
    let result = runtime.block_on(work);
    // We do not wait for threads that hash a file or ask a registry: an interrupt ends the command at once.
    runtime.shutdown_background();
    result
}

/// Waits for an interrupt. The caller then drops its transfers, since a later run resumes from what has arrived, and
/// says farewell.
pub async fn interrupt() -> Error {
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hang_up)] = kinds.map(signal) else {
        return anyhow!("cannot catch signals");
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
    anyhow!("interrupted; the same command again goes on where this one ended")
}

/// How long we wait for the other end to acknowledge our farewell.
const FAREWELL: Duration = Duration::from_secs(2);

/// Waits until the endpoint has said farewell.
pub async fn part(endpoint: &Endpoint) {
    // The time limit is no error: the other end also notices silence.
    let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
}

/// Makes an error count as bad input.
pub fn bad_input(error: impl std::fmt::Display) -> BadInput {
    BadInput(error.to_string())
}
