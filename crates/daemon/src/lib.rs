//! The agent's commands: `run`, which steers, and those that watch over it: `check`, `top`, `pause`, `resume` and
//! `stop`. `tidegate-agent` loads the kernel's programs; here is what decides where, on whose behalf and for how long
//! they steer, and tells users about it.
//!
//! The crate's own program has these commands alone, for routers and containers. `tidegate` has them beside its
//! laboratory, which runs the same agent, and so does `tidegate try`.

// All output for people goes through `tidegate_terminal`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod about;
mod account;
mod check;
mod client;
mod clock;
mod compare;
mod config;
mod devices;
#[cfg(test)]
mod fixtures;
mod hidden;
pub mod icmp;
mod interfaces;
mod lock;
mod log;
mod meeting;
mod operate;
mod pause;
mod paused;
mod run;
mod service;
mod snapshot;
mod spread;
mod stop;
mod time_of_day;
mod top;
mod udp;

use anyhow::Result;
use clap::Subcommand;
pub use clock::now_us;
pub use config::{File, RunArgs, Settings, settings};
pub use operate::Operation;
pub use snapshot::Snapshot;
use std::error::Error;
use std::process::ExitCode;
use tidegate_agent::AgentError;
pub use top::COLUMNS;
pub use udp::{Idle, Terms, Windowless};

/// The agent's commands.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Steer this machine's downloads and uploads until interrupted
    Run(config::RunArgs),
    /// Show what this kernel supports, what would be used, and what to change
    Check(check::CheckArgs),
    /// End the agent that runs here, and remove what any agent has left in the kernel
    Stop(stop::StopArgs),
    /// Have the running agent steer nothing for a time, after which it goes on by itself
    Pause(pause::PauseArgs),
    /// End a pause before its time
    Resume(pause::ResumeArgs),
    /// Watch the agent's flows: queueing delay, round trips, windows, rates, and what limits each
    Top(top::TopArgs),
    /// Delay packets on behalf of the agent that starts this process
    #[command(hide = true)]
    Gate,
}

impl AgentCommand {
    /// Does what the command says.
    ///
    /// # Errors
    /// If it cannot be done; [`is_refusal`] says whether it could not be done as it was asked for.
    pub fn run(&self) -> Result<ExitCode> {
        let done = |()| ExitCode::SUCCESS;
        match self {
            Self::Run(args) => run::run(args).map(done),
            Self::Check(args) => check::run(args),
            Self::Stop(args) => stop::run(args).map(done),
            Self::Pause(args) => pause::pause(args).map(done),
            Self::Resume(args) => pause::resume(args).map(done),
            Self::Top(args) => top::run(args).map(done),
            Self::Gate => udp::run_gate().map(done),
        }
    }
}

/// Whether an error's cause is that the agent cannot be had here as it was asked for.
pub fn is_refusal(cause: &(dyn Error + 'static)) -> bool {
    use AgentError::*;
    cause.downcast_ref::<AgentError>().is_some_and(|error| {
        matches!(
            error,
            NotPrivileged(_)
                | BpfRefused
                | TooOld(_)
                | NoInterface(_)
                | LinkLayer { .. }
                | NoBpfFileSystem
        )
    })
}
