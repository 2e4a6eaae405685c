//! Devices that this machine forwards for, so that the link can be shared by device and not by flow: which addresses
//! belong to each, and which connections have one of these addresses inside.
//!
//! We identify a device by its address on the local link (MAC), whatever IP addresses it has. A device behind another
//! router is identified by its IP address. This machine's own connections count as one device.

mod forwarding;
mod known;
mod leases;
mod view;

pub use forwarding::Forwarding;
pub use known::{Mac, Term, Terms};
pub use view::DeviceView;

use anyhow::{Context, Result};
use known::Directory;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tidegate_agent::Agent;
use tidegate_linux::netfilter::{Begun, tracked};
use tidegate_linux::rtnetlink::Neighbourhood;

/// Pause after the kernel has failed to deliver events.
const PAUSE: Duration = Duration::from_millis(100);

/// Tells the programs which device each connection belongs to, until the process ends.
pub struct Devices(Arc<Mutex<Directory>>);

/// The kernel's events that we listen to.
struct Heard {
    neighbours: Neighbourhood,
    /// None if the kernel has no connection tracking.
    connections: Option<Begun>,
}

impl Devices {
    /// Learns the present neighbours and connections, and follows changes. Also returns the reason if connections
    /// behind translated addresses cannot be told apart.
    ///
    /// # Errors
    /// If the kernel sends no events about neighbours.
    pub fn watch(agent: &Agent, terms: Terms) -> Result<(Self, Option<io::Error>)> {
        let directory = Directory::new(agent.owners()?, terms);
        let devices = Self(Arc::new(Mutex::new(directory)));
        let neighbours = Neighbourhood::listen().context("listen to neighbours")?;
        let (connections, deaf) = match Begun::listen() {
            Ok(begun) => (Some(begun), None),
            Err(error) => (None, Some(error)),
        };
        let heard = Heard {
            neighbours,
            connections,
        };
        let deaf = deaf.or(heard.look_at_all(&devices).context("list the neighbours")?);
        let shared = Self(Arc::clone(&devices.0));
        thread::Builder::new()
            .name("devices".into())
            .spawn(move || heard.listen(&shared))
            .context("start a thread")?;
        Ok((devices, deaf))
    }

    /// Sets other weights.
    ///
    /// # Errors
    /// If the programs' tables cannot be written.
    pub fn set(&self, terms: Terms) -> Result<()> {
        Ok(self.with(|directory| directory.set(terms))?)
    }

    /// The devices with these numbers, in order.
    pub fn view(&self, numbers: &HashSet<u32>) -> Vec<DeviceView> {
        self.with(|directory| directory.view(numbers))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Directory) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Heard {
    /// Reads everything anew: at the start, and when events were lost because a buffer was full. Returns why
    /// connections cannot be listed, if they cannot.
    fn look_at_all(&self, devices: &Devices) -> io::Result<Option<io::Error>> {
        devices.with(|directory| {
            Neighbourhood::all(|known| directory.learn(known))?;
            let connections = tracked(|connection| directory.follow(&connection));
            directory.tell().map_err(io::Error::other)?;
            Ok(connections.err())
        })
    }

    fn listen(&self, devices: &Devices) {
        // The sockets are open, so this thread needs no capability any more. An error means that it had none to give
        // up.
        let _ = tidegate_agent::drop_capabilities();
        loop {
            if self.wait().is_err() {
                // Out of memory; events wait in the sockets meanwhile.
                thread::sleep(PAUSE);
                continue;
            }
            let heard = devices.with(|directory| {
                self.neighbours.receive(|known| directory.learn(known))?;
                if let Some(begun) = &self.connections {
                    begun.receive(|connection| directory.follow(&connection))?;
                }
                directory.tell().map_err(io::Error::other)
            });
            if heard.is_err() {
                // Events were lost because a buffer was full, or a table is full for the moment.
                let _ = self.look_at_all(devices);
            }
        }
    }

    fn wait(&self) -> nix::Result<()> {
        let connections = self.connections.iter().map(AsFd::as_fd);
        let all = [self.neighbours.as_fd()].into_iter().chain(connections);
        let mut all: Vec<_> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut all, PollTimeout::NONE) {
            Err(nix::errno::Errno::EINTR) => Ok(()),
            other => other.map(drop),
        }
    }
}
