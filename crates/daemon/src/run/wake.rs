//! Sleeps until there is something to do: an idle agent costs nothing.

use anyhow::{Context, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// What wakes the main thread: signals, and other threads.
pub struct Wake {
    reader: UnixStream,
    writer: UnixStream,
}

impl Wake {
    /// Signals that end or change the agent wake it from now on.
    pub fn new() -> Result<Self> {
        let (reader, writer) = UnixStream::pair().context("make a pair of sockets")?;
        for stream in [&reader, &writer] {
            stream
                .set_nonblocking(true)
                .context("make a socket not block")?;
        }
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let writer = writer.try_clone().context("copy a descriptor")?;
            signal_hook::low_level::pipe::register(signal, writer).context("catch signals")?;
        }
        Ok(Self { reader, writer })
    }

    /// A bell for a thread that wants to wake the main one.
    pub fn bell(&self) -> Result<Bell> {
        Ok(Bell(self.writer.try_clone().context("copy a descriptor")?))
    }

    /// Sleeps until woken, or for `at_most`.
    pub fn wait(&self, at_most: Option<Duration>) {
        // Rounded up to milliseconds: waking up early would only mean another sleep.
        let timeout = at_most.map(|d| d + Duration::from_micros(999));
        let timeout = timeout.map_or(PollTimeout::NONE, |d| {
            PollTimeout::try_from(d).unwrap_or(PollTimeout::MAX)
        });
        let mut wakes = [PollFd::new(self.reader.as_fd(), PollFlags::POLLIN)];
        // If poll was interrupted, the signal has written to the socket, too: the next call returns at once.
        let _ = poll(&mut wakes, timeout);
        let mut rung = [0; 64];
        while (&self.reader).read(&mut rung).is_ok_and(|n| n > 0) {}
    }
}

/// Wakes the main thread.
pub struct Bell(UnixStream);

impl Bell {
    /// Wakes it.
    pub fn ring(&self) {
        // If the socket is full, the main thread is awake already.
        let _ = (&self.0).write(&[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::Wake;
    use std::time::{Duration, Instant};

    #[test]
    fn a_bell_ends_the_sleep_and_is_heard_once() {
        let wake = Wake::new().unwrap();
        let bell = wake.bell().unwrap();
        bell.ring();
        bell.ring();
        wake.wait(None);
        let began = Instant::now();
        wake.wait(Some(Duration::from_millis(20)));
        assert!(began.elapsed() >= Duration::from_millis(20));
    }
}
