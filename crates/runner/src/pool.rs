//! Who runs when.

use crate::outcome::ProgramRun;
use crate::program::{Kind, Program};
use anyhow::{Context, Result};
use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::{available_parallelism, scope};
use std::time::Instant;

/// So many of those that wait run at a time: each takes a part of a processor.
const WAITING: usize = 3;

/// Minutes after which a program is ended, which then has failed: CI's own limit would say nothing of which it was.
const LIMIT: u32 = 30;
/// What timeout(1) ends with after that.
const TIMED_OUT: i32 = 124;

/// How the kernel schedules a program: sched(7).
#[derive(Clone, Copy)]
enum Class {
    /// SCHED_OTHER.
    Ordinary,
    /// SCHED_IDLE: when nobody else wants the processor.
    Idle,
}

/// Runs them all, and hands over what came of each as soon as it has ended.
///
/// # Errors
/// When a program cannot be started, and those of `ended`. The others still run to their end.
pub fn run(
    mut programs: Vec<Program>,
    mut ended: impl FnMut(ProgramRun) -> Result<()>,
) -> Result<()> {
    // From the end: the longest first, or everybody would wait for it.
    programs.sort_by_key(|p| p.minutes);
    let (alone, programs): (Vec<_>, Vec<_>) =
        programs.into_iter().partition(|p| p.kind == Kind::Alone);
    let (waiting, computing): (Vec<_>, Vec<_>) =
        programs.into_iter().partition(|p| p.kind == Kind::RealTime);
    // What computes gives way at once to what waits, whose time is measured.
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

/// Runs one while nothing else runs.
///
/// # Errors
/// When it cannot be started.
pub fn alone(program: Program) -> Result<ProgramRun> {
    execute(program, Class::Ordinary)
}

fn work(queue: &Mutex<Vec<Program>>, class: Class, results: &Sender<Result<ProgramRun>>) {
    loop {
        let next = queue.lock().expect("nobody panics with it").pop();
        let Some(program) = next else { return };
        // Nobody listens any more where the output cannot be written.
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
        printed += &format!("\nended, as it took more than {LIMIT} minutes\n");
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
    // In the foreground an interrupt from the terminal reaches it as it reaches everybody.
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
