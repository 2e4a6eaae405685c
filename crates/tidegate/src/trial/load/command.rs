//! Commands that load the link.

use crate::trial::control_group::ControlGroup;
use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tidegate_command::exit::BadInput;
use tidegate_lab::{Caller, die_with_parent};

/// A command that has failed this often in a slot is given up.
const FAILURES: usize = 3;

/// How many lines of a command's standard error are kept.
const LINES: usize = 3;

/// Commands to run, their user and their group.
pub struct Loads<'a> {
    pub commands: &'a [Vec<OsString>],
    pub caller: Option<&'a Caller>,
    pub group: Option<&'a ControlGroup>,
}

/// Commands that run.
pub struct Running<'a> {
    loads: Loads<'a>,
    processes: Vec<Process>,
}

/// A running command.
struct Process {
    /// Its place among the commands.
    command: usize,
    child: Child,
    said: Said,
    failures: usize,
}

/// The last lines of its standard error.
type Said = Arc<Mutex<VecDeque<String>>>;

impl<'a> Loads<'a> {
    /// Starts each command `times` times.
    pub fn start(self, times: usize) -> Result<Running<'a>> {
        let mut running = Running {
            loads: self,
            processes: Vec::new(),
        };
        for command in (0..running.loads.commands.len())
            .cycle()
            .take(running.loads.commands.len() * times)
        {
            let process = running.loads.run(command)?;
            running.processes.push(process);
        }
        Ok(running)
    }

    fn run(&self, number: usize) -> Result<Process> {
        let (program, arguments) = self.commands[number]
            .split_first()
            .context("an empty command")?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(group) = self.group {
            let mut door = group.door()?;
            // SAFETY: the closure runs between fork and exec and makes a system call, without allocating.
            unsafe { command.pre_exec(move || door.write_all(b"0")) };
        }
        if let Some(caller) = self.caller {
            caller.take(&mut command);
        }
        // Set last: the kernel forgets it when the process changes its user.
        die_with_parent(&mut command);
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot run \"{}\"", program.display()))?;
        let said = listen(child.stderr.take());
        Ok(Process {
            command: number,
            child,
            said,
            failures: 0,
        })
    }
}

impl Running<'_> {
    /// Restarts commands that have ended, since their files were short.
    pub fn step(&mut self) -> Result<()> {
        for process in &mut self.processes {
            let Some(status) = process.child.try_wait()? else {
                continue;
            };
            let failures = process.failures + usize::from(!status.success());
            if failures >= FAILURES {
                let words = self.loads.commands[process.command].iter();
                let line = words
                    .map(|w| w.to_string_lossy())
                    .collect::<Vec<_>>()
                    .join(" ");
                let said = process.said.lock().unwrap_or_else(PoisonError::into_inner);
                let said: Vec<_> = said.iter().map(String::as_str).collect();
                bail!("the load \"{line}\" fails ({status}): {}", said.join("; "));
            }
            let said = Arc::clone(&process.said);
            *process = self.loads.run(process.command)?;
            process.failures = failures;
            if failures > 0 {
                // The reason may be in the lines before the restart.
                let mut now = process.said.lock().unwrap_or_else(PoisonError::into_inner);
                let before = said.lock().unwrap_or_else(PoisonError::into_inner);
                now.extend(before.iter().cloned());
                now.truncate(LINES);
            }
        }
        Ok(())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        for process in &self.processes {
            // The process may have ended already.
            let _ = killpg(Pid::from_raw(process.child.id() as i32), Signal::SIGKILL);
        }
        if let Some(group) = self.loads.group {
            group.empty();
        }
        for process in &mut self.processes {
            let _ = process.child.wait();
        }
    }
}

/// Keeps the last lines. A process that inherited the pipe may keep it open, so we never wait for this thread.
fn listen(errors: Option<ChildStderr>) -> Said {
    let said = Said::default();
    let keep = Arc::clone(&said);
    if let Some(errors) = errors {
        thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let mut said = keep.lock().unwrap_or_else(PoisonError::into_inner);
                said.push_back(line);
                if said.len() > LINES {
                    said.pop_front();
                }
            }
        });
    }
    said
}

/// The command that downloads the URL and discards the data, by curl or wget.
///
/// # Errors
/// If neither is installed.
pub fn fetch(url: &str) -> Result<Vec<OsString>, BadInput> {
    let curl = [
        "curl",
        "--silent",
        "--show-error",
        "--fail",
        "--location",
        "--output",
        "/dev/null",
        "--",
    ];
    let wget = ["wget", "-q", "-O", "/dev/null", "--"];
    let program = [curl.as_slice(), wget.as_slice()]
        .into_iter()
        .find(|words| is_program(OsStr::new(words[0])));
    let words = program.ok_or_else(|| BadInput(format!(
        "--url {url}: neither curl nor wget is installed; expected one of them, or a command of your own behind --"
    )))?;
    Ok(words.iter().chain([&url]).map(OsString::from).collect())
}

/// Refuses a program that there is not, before anything is begun.
///
/// # Errors
/// If it cannot be found, or not be run.
pub fn require_program(command: &[OsString]) -> Result<(), BadInput> {
    let program = command.first().map_or(OsStr::new(""), OsString::as_os_str);
    if is_program(program) {
        return Ok(());
    }
    let program = program.display();
    Err(BadInput(format!(
        "the load \"{program}\": there is no such program, expected one that can be run"
    )))
}

/// Whether a shell would find it.
fn is_program(name: &OsStr) -> bool {
    let runs = |path: &Path| {
        let about = path.metadata();
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    if name.to_string_lossy().contains('/') {
        return runs(Path::new(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !name.is_empty() && std::env::split_paths(&path).any(|folder| runs(&folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert!(is_program(OsStr::new("sh")) && is_program(OsStr::new("/bin/sh")));
        for name in ["", "no-such-program", "/etc/passwd", "/bin"] {
            assert!(!is_program(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn what_fails_again_and_again_is_said_with_its_reason() {
        let words = ["sh", "-c", "echo no way >&2; exit 3"].map(OsString::from);
        let commands = [words.to_vec()];
        let loads = Loads {
            commands: &commands,
            caller: None,
            group: None,
        };
        let mut running = loads.start(1).unwrap();
        let error = loop {
            if let Err(error) = running.step() {
                break error.to_string();
            }
            thread::sleep(std::time::Duration::from_millis(20));
        };
        assert!(
            error.contains("exit status: 3") && error.contains("no way"),
            "{error}"
        );
    }
}
