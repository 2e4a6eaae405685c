//! What sending and receiving files have in common.

use crate::exit::BadInput;
use anyhow::{Context, Error, Result, anyhow};
use std::time::Duration;
use tidegate_transfer::Endpoint;
use tokio::signal::unix::{SignalKind, signal};

/// Does it, with a runtime around it.
pub fn run(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("start the runtime")?;
    let result = runtime.block_on(work);
    // Threads that hash a file or ask a registry are not waited for: whoever interrupts means it.
    runtime.shutdown_background();
    result
}

/// Waits for an interrupt. Whoever is interrupted drops what is under way, for what has arrived stays
/// where it can be gone on with, and says farewell.
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

/// How long the other end may take to understand that this one goes.
const FAREWELL: Duration = Duration::from_secs(2);

/// Lets the endpoint say farewell.
pub async fn part(endpoint: &Endpoint) {
    // Whether or not it is understood: the other end also notices silence.
    let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
}

/// What makes the command fail as bad input does.
pub fn bad_input(error: impl std::fmt::Display) -> BadInput {
    BadInput(error.to_string())
}
