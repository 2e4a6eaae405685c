//! The devices that this machine forwards for, so that shares of the link are theirs and not their flows': whose
//! addresses are, and which connections have an address of theirs inside.
//!
//! A device is known by its address on its link (MAC), whatever IP addresses it has; one that is behind another router, by
//! its IP address. This machine's own connections are one device's.

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
use tidegate_netfilter::{Begun, tracked};
use tidegate_rtnetlink::Neighbourhood;

/// After the kernel has failed to say whether there is something.
const PAUSE: Duration = Duration::from_millis(100);

/// Keeps the programs told whose connections are, until the process ends.
pub struct Devices(Arc<Mutex<Directory>>);

/// What it listens to.
struct Heard {
    neighbours: Neighbourhood,
    /// None where the kernel has no connection tracking.
    connections: Option<Begun>,
}

impl Devices {
    /// Learns what there is, and whatever comes. Also why connections behind translated addresses cannot be told apart,
    /// if they cannot.
    ///
    /// # Errors
    /// If there is nothing to be heard of neighbours.
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

    /// Other weights.
    ///
    /// # Errors
    /// If the programs cannot be told.
    pub fn set(&self, terms: Terms) -> Result<()> {
        Ok(self.with(|directory| directory.set(terms))?)
    }

    /// Those that have these numbers, by number.
    pub fn view(&self, numbers: &HashSet<u32>) -> Vec<DeviceView> {
        self.with(|directory| directory.view(numbers))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Directory) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Heard {
    /// Everything anew: at the start, and where something was lost for want of room. Returns why connections cannot be
    /// listed.
    fn look_at_all(&self, devices: &Devices) -> io::Result<Option<io::Error>> {
        devices.with(|directory| {
            Neighbourhood::all(|known| directory.learn(known))?;
            let connections = tracked(|connection| directory.follow(&connection));
            directory.tell().map_err(io::Error::other)?;
            Ok(connections.err())
        })
    }

    fn listen(&self, devices: &Devices) {
        // What it needs it has: what cannot be given up is what nobody had.
        let _ = tidegate_agent::drop_capabilities();
        loop {
            if self.wait().is_err() {
                // For want of memory; what comes meanwhile waits.
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
                // Lost for want of room, or a table that is full for a moment.
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
