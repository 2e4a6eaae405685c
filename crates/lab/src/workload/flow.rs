//! What the tasks of a workload record for the sampler and the result.

use crate::transport::{Info, Stream};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tidegate_link::Instant;
use tidegate_scenario::Direction;

/// One connection, from one direction's point of view.
#[derive(Debug)]
pub struct Flow {
    /// The workload's name, with `#n` for the n-th of several.
    pub name: String,
    /// Which way the data goes.
    pub direction: Direction,
    /// When the client began to connect.
    pub began: OnceLock<Instant>,
    /// When the last byte arrived, if the flow has a last byte.
    pub completed: OnceLock<Instant>,
    /// When the term was over.
    pub over: OnceLock<Instant>,
    /// The client's port, and where the server listens.
    pub ends: OnceLock<(u16, SocketAddr)>,
    received: AtomicU64,
    retransmits: AtomicU64,
    sender: OnceLock<Weak<Stream>>,
    receiver: OnceLock<Weak<Stream>>,
}

impl Flow {
    pub fn new(name: String, direction: Direction) -> Self {
        Self {
            name,
            direction,
            began: OnceLock::new(),
            completed: OnceLock::new(),
            over: OnceLock::new(),
            ends: OnceLock::new(),
            received: AtomicU64::new(0),
            retransmits: AtomicU64::new(0),
            sender: OnceLock::new(),
            receiver: OnceLock::new(),
        }
    }

    /// Makes the sending end known, for as long as its owner keeps it.
    pub fn set_sender(&self, stream: &Arc<Stream>) {
        let _ = self.sender.set(Arc::downgrade(stream));
    }

    /// Makes the receiving end known, for as long as its owner keeps it.
    pub fn set_receiver(&self, stream: &Arc<Stream>) {
        let _ = self.receiver.set(Arc::downgrade(stream));
    }

    /// What is known at the sending end; none before it is connected and after it is closed.
    pub fn sender_info(&self) -> Option<Info> {
        let info = self.sender.get()?.upgrade()?.info()?;
        self.retransmits
            .fetch_max(info.retransmits(), Ordering::Relaxed);
        Some(info)
    }

    /// The same for the receiving end.
    pub fn receiver_info(&self) -> Option<Info> {
        self.receiver.get()?.upgrade()?.info()
    }

    /// The application has received `bytes` more; returns how many in all.
    pub fn add_received(&self, bytes: u64) -> u64 {
        self.received.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    /// Bytes that the application has received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Notes retransmitted segments of a flow whose sender is not TCP.
    pub fn note_retransmits(&self, retransmits: u64) {
        self.retransmits.fetch_max(retransmits, Ordering::Relaxed);
    }

    /// Retransmitted segments, as of the last [`Self::sender_info`].
    pub fn retransmits(&self) -> u64 {
        self.retransmits.load(Ordering::Relaxed)
    }
}

/// An object that arrived whole.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    pub bytes: u64,
    pub began: Instant,
    pub took: Duration,
}

/// The objects that a workload fetched.
#[derive(Debug)]
pub struct FetchLog {
    /// The workload's name.
    pub name: String,
    log: Mutex<Vec<Fetch>>,
}

impl FetchLog {
    pub fn new(name: String) -> Self {
        Self {
            name,
            log: Mutex::default(),
        }
    }

    pub fn push(&self, fetch: Fetch) {
        locked(&self.log).push(fetch);
    }

    /// All objects, in the order of their ends.
    pub fn fetches(&self) -> Vec<Fetch> {
        locked(&self.log).clone()
    }
}

/// The round trips that a workload measured.
#[derive(Debug)]
pub struct EchoLog {
    /// The workload's name.
    pub name: String,
    log: Mutex<Vec<(Instant, Duration)>>,
}

impl EchoLog {
    pub fn new(name: String) -> Self {
        Self {
            name,
            log: Mutex::default(),
        }
    }

    pub fn push(&self, sent: Instant, round_trip: Duration) {
        locked(&self.log).push((sent, round_trip));
    }

    /// When each was sent, and how long it took.
    pub fn echoes(&self) -> Vec<(Instant, Duration)> {
        locked(&self.log).clone()
    }
}

/// A log stays usable even if a thread panicked while it held it.
fn locked<T>(log: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
