//! A task in a thread of its own, repeated until it is dropped.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The pause after a failure, and the longest one: each is twice as long as the one before.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(5);

/// How long the end may take before the thread is left to itself.
const END: Duration = Duration::from_secs(2);

/// A task that is repeated.
pub trait Task: Send + 'static {
    /// Does the task once; returns when to do it again, or nothing if it failed.
    fn perform(&mut self) -> Option<Duration>;
    /// Called once at the end.
    fn end(&mut self);
}

/// Ends the task when dropped.
#[derive(Debug)]
pub struct Repeating {
    stop: Option<Sender<()>>,
    ended: Receiver<()>,
}

impl Repeating {
    pub fn start(name: &str, mut task: impl Task) -> Self {
        let (stop, stopped) = channel();
        let (end, ended) = channel::<()>();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                repeat(&mut task, &stopped);
                task.end();
                drop(end);
            })
            .expect("a thread can be started");
        let stop = Some(stop);
        Self { stop, ended }
    }
}

impl Drop for Repeating {
    fn drop(&mut self) {
        self.stop = None;
        let _ = self.ended.recv_timeout(END);
    }
}

fn repeat(task: &mut impl Task, stopped: &Receiver<()>) {
    let mut after_failure = FIRST;
    loop {
        let pause = match task.perform() {
            Some(pause) => {
                after_failure = FIRST;
                pause
            }
            None => {
                let pause = after_failure;
                after_failure = (pause * 2).min(LONGEST);
                pause
            }
        };
        // Tasks that started together should not stay together.
        let pause = pause.mul_f64(1.0 - 0.2 * rand::random::<f64>());
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}
