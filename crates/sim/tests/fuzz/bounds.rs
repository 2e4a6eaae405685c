//! Bounds of a mutant: memory, counted by the allocator, and time, which another thread watches.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Largest memory of a mutant, in bytes.
const MOST_BYTES: usize = 3 << 30;

/// Size of a single allocation that would kill the process.
const DEADLY_BYTES: usize = 12 << 30;

/// Longest time of a mutant.
const MOST_TIME: Duration = Duration::from_secs(60);

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
pub struct Counting;

// SAFETY: every call is passed on to `System` as it is; refusing by a null pointer is allowed.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > DEADLY_BYTES {
            return std::ptr::null_mut();
        }
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `at` came from `System`, with that layout.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The mutant in progress, and since when.
type Now = Arc<Mutex<Option<(Instant, u64, String)>>>;

/// The watching thread's view of the mutants.
pub struct Bounds {
    now: Now,
}

impl Bounds {
    /// Ends the program and prints the mutant if one takes too long.
    pub fn watch() -> Self {
        let now = Now::default();
        let watched = Arc::downgrade(&now);
        thread::spawn(move || {
            while let Some(now) = watched.upgrade() {
                let held = now.lock().expect("no panic while it is held");
                if let Some((since, seed, text)) = &*held
                    && since.elapsed() > MOST_TIME
                {
                    eprintln!("--- seed {seed}: no end after {MOST_TIME:?}\n{text}\n---");
                    std::process::exit(101);
                }
                drop(held);
                drop(now);
                thread::sleep(Duration::from_millis(100));
            }
        });
        Self { now }
    }

    /// A mutant begins.
    pub fn begin(&self, seed: u64, text: &str) {
        PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
        let mut now = self.now.lock().expect("no panic while it is held");
        *now = Some((Instant::now(), seed, text.to_owned()));
    }

    /// The mutant has ended.
    ///
    /// # Errors
    /// The bytes that it took, if they exceed the bound.
    pub fn end(&self) -> Result<(), usize> {
        *self.now.lock().expect("no panic while it is held") = None;
        match PEAK.load(Ordering::Relaxed) {
            peak if peak > MOST_BYTES => Err(peak),
            _ => Ok(()),
        }
    }
}
