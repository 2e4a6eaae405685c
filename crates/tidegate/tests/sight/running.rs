//! A running agent as a process, and its output.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

/// A running agent in the calling thread's namespace; killed if the test fails.
pub struct Running {
    pub child: Child,
    events: Receiver<Value>,
    /// Events that were skipped.
    pub passed: RefCell<Vec<Value>>,
    pub socket: PathBuf,
    _folder: TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// `program` is ours, or another one that runs it; `more` holds further arguments.
    pub fn start_by(mut program: Command, more: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let socket = folder.path().join("agent.sock");
        let mut child = program
            .args(["run", "--log-format", "json"])
            .arg("--socket")
            .arg(&socket)
            .args(more)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let (sender, events) = channel();
        thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
                let _ = sender.send(line);
            }
        });
        let running = Self {
            child,
            events,
            passed: RefCell::default(),
            socket,
            _folder: folder,
        };
        running.event("start");
        running
    }

    /// The next event of this name.
    pub fn event(&self, name: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(rest);
            let event = event.unwrap_or_else(|_| panic!("no event {name}"));
            if event["event"] == name {
                return event;
            }
            self.passed.borrow_mut().push(event);
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    pub fn interrupt(&mut self) -> Value {
        self.signal(Signal::SIGINT);
        let event = self.event("stop");
        assert!(self.child.wait().unwrap().success());
        event
    }

    pub fn top(&self, more: &[&str]) -> Output {
        let mut command = Command::new(TIDEGATE);
        command.arg("top").arg("--socket").arg(&self.socket);
        let output = command
            .args(["--once", "--interval", "0.2"])
            .args(more)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        output
    }
}

pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}
