//! A host whose TCP is `tidegate-tcp`, in this process and in real time.
//!
//! One thread, [`UserHost::run`], receives packets and watches the timers; the workloads' threads call in as they would
//! call the kernel. The thread that changes something also sends the packets that are due, so that none waits for
//! another thread to be scheduled.

mod stream;

pub use stream::{OwnListener, OwnStream};

use crate::address::{IpVersion, address};
use crate::clock::{Clock, make_punctual};
use crate::port::Port;
use crate::term::Term;
use crate::tun::MTU;
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tidegate_scenario::Side;
use tidegate_tcp::cc::Factory;
use tidegate_tcp::steer::LawFactory;
use tidegate_tcp::wire::Addresses;
use tidegate_tcp::{Config, Instant, Stack};

/// Longest sleep: how late a halt may be noticed.
const NAP: Duration = Duration::from_millis(20);

/// The first dynamic port (RFC 6335 §6).
const FIRST_PORT: u16 = 49152;

/// What sets a workload's connections apart from the others of a host.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The congestion control, if it is not the host's.
    pub congestion_control: Option<Factory>,
    /// The law for the data that arrive, if there is one.
    pub law: Option<LawFactory>,
}

/// The host.
#[derive(Debug)]
pub struct UserHost {
    side: Side,
    config: Config,
    stack: Mutex<Stack>,
    next_port: AtomicU16,
    /// Signals a change that a waiting caller may want to know of.
    changed: Condvar,
    /// Wakes [`Self::run`] up, since a timer may now be due earlier.
    wake: EventFd,
    port: Port,
    /// Packets that the emulator's side had no room for.
    refused: AtomicU64,
}

impl UserHost {
    /// The host on `side`, and the emulator's end of its line.
    ///
    /// # Errors
    /// When the process has too many files open.
    pub fn new(side: Side, config: Config, seed: u64) -> Result<(Arc<Self>, Port)> {
        let (port, far) = Port::pair()?;
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let host = Self {
            side,
            config,
            stack: Mutex::new(Stack::new(MTU as u16, seed)),
            next_port: AtomicU16::new(FIRST_PORT),
            changed: Condvar::new(),
            wake: EventFd::from_value_and_flags(0, flags).context("cannot make an eventfd")?,
            port,
            refused: AtomicU64::new(0),
        };
        Ok((Arc::new(host), far))
    }

    /// Packets that were lost between this host and the emulator.
    pub fn losses(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Receives packets and watches the timers until `halt`, on the calling thread.
    ///
    /// # Errors
    /// When the emulator's end is gone.
    pub fn run(&self, clock: Clock, halt: &AtomicBool) -> Result<()> {
        make_punctual();
        let mut packet = Vec::with_capacity(MTU);
        while !halt.load(Ordering::Relaxed) {
            let mut stack = self.lock();
            // One packet at a time: each is answered before the next one is read.
            while self.port.read(&mut packet).context("cannot read packets")? {
                let now = clock.now();
                // Other protocols than TCP, and malformed packets, are ignored.
                let _ = stack.receive(now, &packet);
                self.send_due(&mut stack, now);
            }
            let now = clock.now();
            stack.expire(now);
            self.send_due(&mut stack, now);
            let sleep = stack.timeout().map_or(NAP, |at| at - clock.now()).min(NAP);
            drop(stack);
            self.changed.notify_all();
            self.sleep(sleep).context("cannot wait for packets")?;
        }
        Ok(())
    }

    fn sleep(&self, at_most: Duration) -> Result<(), Errno> {
        let mut fds = [
            PollFd::new(self.port.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.wake.as_fd(), PollFlags::POLLIN),
        ];
        match ppoll(&mut fds, Some(TimeSpec::from_duration(at_most)), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
        match self.wake.read() {
            Ok(_) | Err(Errno::EAGAIN) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Listens at a port of its own choice.
    pub fn listen(self: &Arc<Self>, own: &Own) -> OwnListener {
        let port = self.next_port();
        self.lock()
            .listen(port, self.config_with(own), own.law.clone());
        OwnListener::new(self.clone(), port)
    }

    /// Connects within `term`; none if it ended first.
    ///
    /// # Errors
    /// When the peer refuses.
    pub fn connect(
        self: &Arc<Self>,
        to: SocketAddr,
        own: &Own,
        term: &Term,
    ) -> Result<Option<OwnStream>> {
        let version = if to.is_ipv4() {
            IpVersion::V4
        } else {
            IpVersion::V6
        };
        let from = SocketAddr::new(address(self.side, version), self.next_port());
        let addresses = Addresses::new(from, to).context("IPv4 and IPv6 do not mix")?;
        self.act(term, |stack, now| {
            stack.connect(now, self.config_with(own), own.law.as_ref(), addresses)
        });
        OwnStream::new(self.clone(), addresses, term.clock).established(term)
    }

    fn config_with(&self, own: &Own) -> Config {
        let mut config = self.config.clone();
        if let Some(control) = &own.congestion_control {
            config.congestion_control = control.clone();
        }
        config
    }

    fn next_port(&self) -> u16 {
        self.next_port.fetch_add(1, Ordering::Relaxed)
    }

    /// Does something to the stack, and sends the packets that are due then.
    fn act<T>(&self, term: &Term, act: impl FnOnce(&mut Stack, Instant) -> T) -> T {
        let mut stack = self.lock();
        let now = term.clock.now();
        let result = act(&mut stack, now);
        self.send_due(&mut stack, now);
        drop(stack);
        // It fails only after 2^64 wake-ups that were not read.
        let _ = self.wake.write(1);
        result
    }

    /// Does something to the stack repeatedly, until it returns a value or `term` is over.
    fn act_until<T>(
        &self,
        term: &Term,
        mut act: impl FnMut(&mut Stack, Instant) -> Option<T>,
    ) -> Option<T> {
        while !term.is_over() {
            if let Some(result) = self.act(term, &mut act) {
                return Some(result);
            }
            let stack = self.lock();
            drop(
                self.changed
                    .wait_timeout(stack, NAP)
                    .unwrap_or_else(PoisonError::into_inner),
            );
        }
        None
    }

    /// Releases a socket. [`Self::run`] sends what it still has to send.
    fn release(&self, now: Instant, addresses: &Addresses) {
        self.lock().release(now, addresses);
        let _ = self.wake.write(1);
    }

    fn send_due(&self, stack: &mut Stack, now: Instant) {
        let mut packet = Vec::with_capacity(MTU);
        while stack.transmit(now, &mut packet) {
            if self.port.write(&packet).is_err() {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stack> {
        self.stack.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
