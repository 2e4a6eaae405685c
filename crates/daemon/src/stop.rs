//! `tidegate stop`: ends the agent of this network namespace, and removes programs that agents have left.

use crate::{lock, meeting, operate};
use anyhow::{Context, Result, bail};
use clap::Args;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};
use tidegate_agent::require;
use tidegate_command::examples::{Example, examples};
use tidegate_terminal as terminal;

/// How long we wait for an agent to end.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How `stop` is used.
const EXAMPLES: &[Example] = &[(
    "sudo tidegate stop",
    "end the agent, and clear up after any",
)];

/// Arguments of `stop`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct StopArgs {
    /// Print what was ended and removed as JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Stopped {
    /// Process id of the agent that was ended.
    agent: Option<i32>,
    /// What was removed, in words.
    removed: Vec<String>,
}

/// Ends the agent, and prints what was done.
pub fn run(args: &StopArgs) -> Result<()> {
    require()?;
    let agent = end_agent()?;
    let left = operate::clear()?;
    let sockets = meeting::clear()?;
    let sockets = sockets
        .iter()
        .map(|path| format!("{}, a socket that nobody serves", path.display()));
    let removed = left
        .iter()
        .map(ToString::to_string)
        .chain(sockets)
        .collect();
    let stopped = Stopped { agent, removed };
    if args.json {
        let mut out = terminal::data();
        serde_json::to_writer(&mut out, &stopped)?;
        writeln!(out)?;
        return Ok(());
    }
    let mut out = terminal::out();
    if let Some(pid) = stopped.agent {
        writeln!(out, "ended the agent with process id {pid}")?;
    }
    for removed in &stopped.removed {
        writeln!(out, "removed {removed}")?;
    }
    if stopped.agent.is_none() && stopped.removed.is_empty() {
        writeln!(
            out,
            "nothing to stop: no agent runs here, and none has left anything"
        )?;
    }
    Ok(())
}

fn end_agent() -> Result<Option<i32>> {
    let Some(pid) = lock::holder()? else {
        return Ok(None);
    };
    // 0: it runs in another PID namespace, and its number there means nothing here.
    if pid <= 0 {
        bail!("the agent runs in another process namespace; end it there");
    }
    kill(Pid::from_raw(pid), Signal::SIGTERM)
        .with_context(|| format!("cannot end process {pid}"))?;
    let began = Instant::now();
    while lock::holder()? == Some(pid) {
        if began.elapsed() > TIMEOUT {
            bail!("the agent with process id {pid} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(Some(pid))
}
