//! Schedules the test programs.

use crate::outcome::ProgramRun;
use crate::program::{Kind, Program};
use anyhow::{Context, Result};
use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::{available_parallelism, scope};
use std::time::Instant;

/// How many programs that wait run at a time: each takes a part of a processor.
const WAITING: usize = 3;

/// Minutes after which a program is ended and has failed. CI has a limit of its own, but would not say which program it
/// was.
const LIMIT: u32 = 30;
/// The exit status of timeout(1) in that case.
const TIMED_OUT: i32 = 124;

/// How the kernel schedules a program: sched(7).
#[derive(Clone, Copy)]
enum Class {
    /// SCHED_OTHER.
    Ordinary,
    /// SCHED_IDLE: only when no other process wants the processor.
    Idle,
}

/// Runs all programs, and hands over each one's outcome as soon as it has ended.
///
/// # Errors
/// If a program cannot be started, and those of `ended`. The others still run to their end.
pub fn run(
    mut programs: Vec<Program>,
    mut ended: impl FnMut(ProgramRun) -> Result<()>,
) -> Result<()> {
    // They are taken from the end: the longest first, or all would wait for it at the end.
    programs.sort_by_key(|p| p.minutes);
    let (alone, programs): (Vec<_>, Vec<_>) =
        programs.into_iter().partition(|p| p.kind == Kind::Alone);
    let (waiting, computing): (Vec<_>, Vec<_>) =
        programs.into_iter().partition(|p| p.kind == Kind::RealTime);
    // Programs that compute give way at once to those that wait, whose time is measured.
    let class = if waiting.is_empty() {
        Class::Ordinary
    } else {
        Class::Idle
    };
    let processors = available_parallelism().map_or(1, usize::from);
    let queues = [
        (Mutex::new(waiting), WAITING, Class::Ordinary),
        (Mutex::new(computing), processors, class),
    ];
    scope(|scope| {
        let (results, outcomes) = channel();
        for (queue, workers, class) in &queues {
            for _ in 0..*workers {
                let results = results.clone();
                scope.spawn(move || work(queue, *class, &results));
            }
        }
        drop(results);
        outcomes
            .into_iter()
            .try_for_each(|o| o.and_then(&mut ended))
    })?;
    alone
        .into_iter()
        .try_for_each(|program| ended(self::alone(program)?))
}

/// Runs a program while nothing else runs.
///
/// # Errors
/// If it cannot be started.
pub fn alone(program: Program) -> Result<ProgramRun> {
    execute(program, Class::Ordinary)
}

fn work(queue: &Mutex<Vec<Program>>, class: Class, results: &Sender<Result<ProgramRun>>) {
    loop {
        let next = queue.lock().expect("nobody panics with it").pop();
        let Some(program) = next else { return };
        // Nobody listens any more if the output could not be written.
        let _ = results.send(execute(program, class));
    }
}

fn execute(program: Program, class: Class) -> Result<ProgramRun> {
    let began = Instant::now();
    let mut output = tempfile::tempfile().context("cannot make a file for a test's output")?;
    let to = || output.try_clone().map(Stdio::from);
    let status = command(&program, class)
        .args(program.arguments)
        .current_dir(&program.folder)
        .stdin(Stdio::null())
        .stdout(to()?)
        .stderr(to()?)
        .status()
        .with_context(|| format!("cannot run {}", program.executable.display()))?;
    let mut printed = contents(&mut output).context("cannot read a test's output")?;
    if status.code() == Some(TIMED_OUT) {
        printed += &format!("\nended after {LIMIT} minutes, expected it to take less\n");
    }
    Ok(ProgramRun::new(
        program.name,
        status,
        began.elapsed(),
        printed,
    ))
}

fn command(program: &Program, class: Class) -> Command {
    let mut command = Command::new("timeout");
    // In the foreground, an interrupt from the terminal reaches the program, too.
    command.args(["--foreground", "--kill-after=10", &format!("{LIMIT}m")]);
    if let Class::Idle = class {
        command.args(["chrt", "--idle", "0"]);
    }
    command.arg(&program.executable);
    command
}

fn contents(file: &mut File) -> std::io::Result<String> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
