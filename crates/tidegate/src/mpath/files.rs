//! What sending and receiving files have in common.

use crate::exit::BadInput;
use anyhow::{Context, Result, bail};
use std::time::Duration;
use tidegate_transfer::Endpoint;
use tokio::signal::unix::{SignalKind, signal};

/// Does it unless it is interrupted.
pub fn run(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("start the runtime")?;
    runtime.block_on(async {
        tokio::select! {
            result = work => result,
            interrupted = interrupt() => interrupted,
        }
    })
}

/// Waits for an interrupt. What was under way is dropped: what has arrived stays where it can be gone
/// on with.
async fn interrupt() -> Result<()> {
    let mut interrupt = signal(SignalKind::interrupt()).context("catch signals")?;
    let mut terminate = signal(SignalKind::terminate()).context("catch signals")?;
    let mut hang_up = signal(SignalKind::hangup()).context("catch signals")?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
    bail!("interrupted; the same command again goes on where this one ended")
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
