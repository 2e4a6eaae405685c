//! Many jobs on many threads, with results in the jobs' order.

use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two calls of `idle`.
const TICK: Duration = Duration::from_millis(100);

/// Does jobs 0 to `jobs` − 1 on `threads` threads and hands their results to `take` on the calling thread, in order:
/// each as soon as it and all earlier ones are done. Calls `idle` a few times a second. Returns how many were taken:
/// all of them, unless a job was stopped and had no result.
///
/// # Errors
/// The first error of a job, in order, or of `take`. Jobs in progress are finished first.
pub fn in_order<T: Send>(
    jobs: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<Option<T>> + Sync,
    mut take: impl FnMut(usize, T) -> Result<()>,
    idle: impl Fn(),
) -> Result<usize> {
    let next = AtomicUsize::new(0);
    let halt = AtomicBool::new(false);
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.min(jobs) {
            let sender = sender.clone();
            let (next, halt, work) = (&next, &halt, &work);
            scope.spawn(move || {
                while !halt.load(Ordering::Relaxed) {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= jobs || sender.send((job, work(job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // On every way out of here, no thread begins another job.
        let _halting = HaltOnDrop(&halt);
        let mut early = BTreeMap::new();
        let mut taken = 0;
        while taken < jobs {
            match receiver.recv_timeout(TICK) {
                Ok((job, result)) => early.insert(job, result),
                Err(RecvTimeoutError::Timeout) => {
                    idle();
                    continue;
                }
                // A thread panicked: the scope reports it.
                Err(RecvTimeoutError::Disconnected) => break,
            };
            while let Some(result) = early.remove(&taken) {
                match result? {
                    Some(result) => take(taken, result)?,
                    None => return Ok(taken),
                }
                taken += 1;
            }
            idle();
        }
        Ok(taken)
    })
}

struct HaltOnDrop<'a>(&'a AtomicBool);

impl Drop for HaltOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
