//! `tidegate mpath`: files over many paths.

mod bar;
mod identity;
mod recv;
mod send;

use crate::exit::BadInput;
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use std::time::Duration;
use tidegate_transfer::Endpoint;
use tokio::signal::unix::{SignalKind, signal};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum MpathCommand {
    /// Receive files from whoever has the token that this prints
    Recv(recv::RecvArgs),
    /// Send files to the receiver that printed the token
    Send(send::SendArgs),
}

/// Does what was asked.
pub fn run(command: &MpathCommand) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("start the runtime")?;
    runtime.block_on(async {
        tokio::select! {
            result = async {
                match command {
                    MpathCommand::Recv(args) => recv::run(args).await,
                    MpathCommand::Send(args) => send::run(args).await,
                }
            } => result,
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
async fn part(endpoint: &Endpoint) {
    // Whether or not it is understood: the other end also notices silence.
    let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
}

fn bad_input(error: impl std::fmt::Display) -> BadInput {
    BadInput(error.to_string())
}
