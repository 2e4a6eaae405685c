//! A task in a thread of its own, again and again until it is not wanted any more.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The pause after a failure, and the longest one: each is twice the last.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(5);

/// How long the end may take before the thread is left to itself.
const END: Duration = Duration::from_secs(2);

/// What is done repeatedly.
pub trait Task: Send + 'static {
    /// Does it; says when to do it again, or nothing if it failed.
    fn perform(&mut self) -> Option<Duration>;
    /// What comes last.
    fn end(&mut self);
}

/// Ends with this value.
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
        // Those that started together should not stay together.
        let pause = pause.mul_f64(1.0 - 0.2 * rand::random::<f64>());
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}
