//! Threads that do a round of work together, again and again.
//!
//! A round is a step of every episode, some microseconds each: too little to put threads to sleep and wake them in
//! between. An idle thread looks for more work for a while, and only then sleeps. The calling thread works, too, and
//! waits only for pieces that other threads have begun: if threads are late, or missing after a fork, only their help
//! is lost.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long an idle thread looks for more work.
const AWAKE: Duration = Duration::from_micros(50);

/// How long the caller sleeps at most while another thread has a piece in hand.
const NAP: Duration = Duration::from_micros(200);

/// Threads, and the one task that they have. The threads end with it.
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    work: Box<dyn Fn(usize) + Send + Sync>,
    /// How many pieces a round has.
    count: usize,
    /// The next piece, unless it is past the last.
    next: AtomicUsize,
    /// Pieces that are done.
    done: AtomicUsize,
    helpers: Vec<Helper>,
    closing: AtomicBool,
    /// The panic of a piece of work.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

#[derive(Default)]
struct Helper {
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Pool {
    /// `threads` threads, including the caller's; each round calls `work` with every number below `count`.
    pub fn new(threads: usize, count: usize, work: impl Fn(usize) + Send + Sync + 'static) -> Self {
        let helpers = threads.min(count).saturating_sub(1);
        let shared = Arc::new(Shared {
            work: Box::new(work),
            count,
            next: AtomicUsize::new(count),
            done: AtomicUsize::new(count),
            helpers: (0..helpers).map(|_| Helper::default()).collect(),
            closing: AtomicBool::new(false),
            panic: Mutex::default(),
        });
        for number in 0..helpers {
            let own = Arc::clone(&shared);
            let helper = thread::Builder::new().name("tidegate".to_owned());
            // If no more threads can be started, the existing ones do the work.
            let _ = helper.spawn(move || own.help(number));
        }
        Self { shared }
    }

    /// Does a round, and returns when it is done.
    ///
    /// # Panics
    /// If a piece of work has panicked; the others are done.
    pub fn round(&mut self) {
        let shared = &*self.shared;
        shared.done.store(0, SeqCst);
        shared.next.store(0, SeqCst);
        shared.wake_one();
        shared.work();
        let began = Instant::now();
        while shared.done.load(SeqCst) < shared.count {
            if began.elapsed() < AWAKE {
                spin_loop();
            } else {
                thread::park_timeout(NAP);
            }
        }
        let panic = &mut *shared.panic.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(panic) = panic.take() {
            resume_unwind(panic);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.closing.store(true, SeqCst);
        while self.shared.wake_one() {}
    }
}

impl Shared {
    /// Does pieces that no other thread has taken, until none is left.
    fn work(&self) {
        while self.next.load(SeqCst) < self.count {
            let piece = self.next.fetch_add(1, SeqCst);
            if piece >= self.count {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.work)(piece))) {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
            self.done.fetch_add(1, SeqCst);
        }
    }

    /// The loop of a helper thread.
    fn help(&self, number: usize) {
        let helper = &self.helpers[number];
        let _ = helper.thread.set(thread::current());
        let mut idle_since = Instant::now();
        while !self.closing.load(SeqCst) {
            if self.next.load(SeqCst) < self.count {
                // One wakes the next, so that no thread has to wake them all.
                self.wake_one();
                self.work();
                idle_since = Instant::now();
            } else if idle_since.elapsed() < AWAKE {
                spin_loop();
            } else {
                helper.asleep.store(true, SeqCst);
                // The caller looks for sleepers after it has published the work: so at least one of the two sees the
                // other.
                let needed = self.next.load(SeqCst) < self.count || self.closing.load(SeqCst);
                while !needed && helper.asleep.load(SeqCst) {
                    thread::park();
                }
                helper.asleep.store(false, SeqCst);
                idle_since = Instant::now();
            }
        }
    }

    /// Wakes a sleeping thread, if there is one.
    fn wake_one(&self) -> bool {
        let woken = self
            .helpers
            .iter()
            .find(|helper| helper.asleep.load(SeqCst) && helper.asleep.swap(false, SeqCst));
        if let Some(thread) = woken.and_then(|helper| helper.thread.get()) {
            thread.unpark();
        }
        woken.is_some()
    }
}

#[cfg(test)]
mod tests;
