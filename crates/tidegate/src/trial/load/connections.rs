//! Connections to one's own `tidegate probe serve`.

use anyhow::{Result, anyhow};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use tidegate_probe::net::{Client, Direction, Failure, Key};

/// TCP connections of one load.
const CONNECTIONS: usize = 4;

/// A server, and the direction to load.
#[derive(Clone, Debug)]
pub struct Far {
    /// The server's address.
    pub server: SocketAddr,
    /// Its key.
    pub key: Key,
    /// The direction.
    pub direction: Direction,
}

/// Running connections.
pub struct Running {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Failure>>>,
}

impl Far {
    /// In words.
    pub fn name(&self) -> String {
        let way = match self.direction {
            Direction::Down => "from",
            Direction::Up => "to",
        };
        format!(
            "{CONNECTIONS} connections {way} the prober's server {}",
            self.server
        )
    }
}

impl Running {
    /// Starts the connections, in a session of their own.
    pub fn start(far: &Far, times: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (far, stop) = (far.clone(), Arc::clone(&over));
        let thread = thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                // A session has a data budget: when it is used up, we open another session.
                let mut client = Client::open(far.server, &far.key, Arc::clone(&stop))?;
                let bytes = client.budget();
                client.fill(far.direction, times * CONNECTIONS, bytes)?;
            }
            Ok(())
        });
        Self {
            over,
            thread: Some(thread),
        }
    }

    /// An error if the connections have ended.
    pub fn step(&mut self) -> Result<()> {
        if !self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            return Ok(());
        }
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(Err(failure))) => Err(anyhow!(failure).context("the load ended")),
            _ => Err(anyhow!("the load ended")),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
