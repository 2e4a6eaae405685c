//! The clock of a run, and how a thread wakes up on time.

use std::fs::File;
use std::io::Write;
use std::time::Duration;
use tidegate_link::Instant;

/// `CLOCK_MONOTONIC` since the start of a run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: std::time::Instant,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self {
            start: std::time::Instant::now(),
        }
    }

    /// Time since the start.
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }

    /// Sleeps until `time`, or not at all if it is past.
    pub fn sleep_until(&self, time: Instant) {
        std::thread::sleep(time - self.now());
    }
}

/// Lets the calling thread wake up on time: no timer slack and, if the process has the privilege, real-time priority.
pub fn make_punctual() {
    // By default Linux delays a wake-up by up to 50 µs to merge it with others: prctl(2).
    const SLACK_NS: libc::c_ulong = 1;
    // It only has to be above ordinary threads, and should stay below the kernel's own (50).
    let priority = libc::sched_param { sched_priority: 10 };
    // SAFETY: PR_SET_TIMERSLACK takes a number; sched_setscheduler reads one sched_param. Both act on
    // the calling thread only.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, SLACK_NS);
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority);
    }
}

/// While it lives, keeps idle processors out of deep sleep states, which take long to wake up from: the kernel's PM
/// QoS, as cyclictest uses it. Without the privilege it does nothing.
#[derive(Debug)]
pub struct Awake(
    #[expect(dead_code, reason = "the request holds while the file is open")] Option<File>,
);

impl Awake {
    /// Begins to keep them awake.
    pub fn keep() -> Self {
        const LATENCY_US: i32 = 0;
        let ask = || {
            let mut file = File::options().write(true).open("/dev/cpu_dma_latency")?;
            file.write_all(&LATENCY_US.to_ne_bytes()).map(|()| file)
        };
        Self(ask().ok())
    }
}

/// CPU time that the calling thread has used.
pub fn thread_cpu_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map(Duration::from)
        .unwrap_or_default()
}
