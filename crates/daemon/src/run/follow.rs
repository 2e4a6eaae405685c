//! Follows the machine's interfaces and routes: a modem that appears late or is pulled out, a tunnel that is set up
//! anew, a default route that moves to another interface.

use crate::interfaces::{Found, Wanted};
use crate::log::Log;
use crate::run::wake::Bell;
use crate::service::{AgentService, Shared};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tidegate_agent::{AgentError, Interface};
use tidegate_linux::rtnetlink::Changes;

/// Keeps the agent attached to the interfaces that are wanted.
pub struct Follower {
    wanted: Wanted,
    changed: Arc<AtomicBool>,
    /// Names of interfaces that the agent has been attached to.
    known: BTreeSet<String>,
    /// Names and indices of interfaces that refused the programs; each is logged once.
    refused: BTreeSet<(String, u32)>,
    /// Bridges shared with guests; each is logged once.
    shared: BTreeSet<String>,
    /// Whether "attached to none" was logged.
    waits: bool,
    log: Log,
}

impl Follower {
    /// Listens for changes in the calling thread's network namespace from now on; `bell` rings at each.
    pub fn watch(wanted: Wanted, bell: Bell, log: Log) -> Result<Self> {
        let changes = Changes::listen().context("listen to changes of interfaces and routes")?;
        let changed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&changed);
        thread::Builder::new()
            .name("changes".into())
            .spawn(move || listen(changes, &seen, &bell))
            .context("start a thread")?;
        Ok(Self {
            wanted,
            changed,
            known: BTreeSet::new(),
            refused: BTreeSet::new(),
            shared: BTreeSet::new(),
            waits: false,
            log,
        })
    }

    /// Attaches to the interfaces that exist. Logs those that refuse; the agent's first line names the others.
    ///
    /// # Errors
    /// If interfaces exist and all of them refuse.
    pub fn begin(&mut self, watched: &mut AgentService) -> Result<()> {
        let mut found = self.wanted.find()?;
        let mut failed = Vec::new();
        for interface in &found.interfaces {
            match self.attach(watched, interface) {
                Ok(()) => {
                    self.known.insert(interface.name.clone());
                }
                Err(error) => failed.push((interface.clone(), error)),
            }
        }
        if watched.agent.interfaces().is_empty() {
            if let Some((_, error)) = failed.pop() {
                return Err(error.into());
            }
            if let (Wanted::Named(_), Some((_, error))) = (&self.wanted, found.refused.pop()) {
                return Err(error.into());
            }
        }
        for (interface, error) in failed {
            self.refuse(&interface.name, interface.index, &error);
        }
        self.say_refused(&found);
        for name in &found.missing {
            let message = format!("there is no interface {name} yet; waiting for it");
            self.log
                .warn("waiting", &message, json!({ "interface": name }));
        }
        self.say_tunnels(&found, watched);
        self.say_bridges(&found);
        self.say_waiting(watched);
        Ok(())
    }

    /// Changes which interfaces are wanted; the agent has already attached to those that let it.
    pub fn set(&mut self, wanted: Wanted) {
        self.wanted = wanted;
        self.changed.store(true, Ordering::Relaxed);
    }

    /// Applies the changes since the last call. Whether there were any.
    pub fn follow(&mut self, shared: &Shared) -> bool {
        let changed = self.changed.swap(false, Ordering::Relaxed);
        if changed {
            shared.with(|watched| self.go_where_wanted(watched));
        }
        changed
    }

    fn go_where_wanted(&mut self, watched: &mut AgentService) {
        let found = match self.wanted.find() {
            Ok(found) => found,
            Err(error) => {
                let message = format!("interfaces stay as they are: {error:#}");
                self.log.warn("interface_refused", &message, json!({}));
                return;
            }
        };
        for interface in watched.agent.interfaces().to_vec() {
            if found.interfaces.contains(&interface) {
                continue;
            }
            let same = found.interfaces.iter().find(|i| i.index == interface.index);
            match same.filter(|i| i.name != interface.name) {
                Some(renamed) => self.rename(watched, &interface, renamed),
                None => self.leave(watched, &interface, found.has(interface.index)),
            }
        }
        let on = watched.agent.interfaces().to_vec();
        let new: Vec<_> = found
            .interfaces
            .iter()
            .filter(|i| !on.contains(i))
            .cloned()
            .collect();
        for interface in &new {
            self.come(watched, interface);
        }
        self.say_refused(&found);
        // An interface that comes back and refuses again is logged again.
        self.refused.retain(|(_, index)| found.has(*index));
        if !new.is_empty() {
            self.say_tunnels(&found, watched);
        }
        self.say_bridges(&found);
        self.say_waiting(watched);
    }

    /// Attaches anew to an interface that was renamed: rules may name it by its new name.
    fn rename(&mut self, watched: &mut AgentService, old: &Interface, new: &Interface) {
        self.release(watched, old);
        if let Err(error) = self.attach(watched, new) {
            self.refuse(&new.name, new.index, &error);
            return;
        }
        self.known.insert(new.name.clone());
        let message = format!(
            "interface {} is called {} now; attached",
            old.name, new.name
        );
        let fields = json!({ "interface": new.name, "was": old.name, "ifindex": new.index });
        self.log.info("interface_renamed", &message, fields);
    }

    fn release(&self, watched: &mut AgentService, interface: &Interface) {
        let Interface { name, index, .. } = interface;
        if let Err(error) = watched.release(*index) {
            let message = format!("flows without a window are not let go on {name}: {error:#}");
            let fields = json!({ "interface": name, "ifindex": index });
            self.log.warn("hold_refused", &message, fields);
        }
    }

    fn leave(&self, watched: &mut AgentService, interface: &Interface, is_there: bool) {
        self.release(watched, interface);
        let Interface { name, index, .. } = interface;
        let fields = json!({ "interface": name, "ifindex": index });
        match (&self.wanted, is_there) {
            (Wanted::DefaultRoutes, true) => {
                let message = format!("no default route leads to {name} any more; left");
                self.log.info("interface_left", &message, fields);
            }
            // It is gone, or was renamed.
            (Wanted::Named(_), _) => {
                let message = format!("interface {name} is gone; waiting for it to return");
                self.log.warn("interface_gone", &message, fields);
            }
            (Wanted::DefaultRoutes, false) => {
                let message = format!("interface {name} is gone");
                self.log.warn("interface_gone", &message, fields);
            }
        }
    }

    fn come(&mut self, watched: &mut AgentService, interface: &Interface) {
        let Interface { name, index, .. } = interface;
        if let Err(error) = self.attach(watched, interface) {
            self.refuse(name, *index, &error);
            return;
        }
        let what = if self.known.insert(name.clone()) {
            "come"
        } else {
            "returned"
        };
        let message = format!("interface {name} has {what}; attached");
        let fields = json!({ "interface": name, "ifindex": index });
        self.log.info("interface_came", &message, fields);
        self.waits = false;
    }

    fn attach(&self, watched: &mut AgentService, interface: &Interface) -> Result<(), AgentError> {
        watched.attach(interface)?;
        if let Err(error) = watched.windowless.attach(interface) {
            let Interface { name, index, .. } = interface;
            let message = format!("on {name} flows without a window are left alone: {error:#}");
            let fields = json!({ "interface": name, "ifindex": index });
            self.log.warn("hold_refused", &message, fields);
        }
        Ok(())
    }

    fn say_refused(&mut self, found: &Found) {
        for (link, error) in &found.refused {
            self.refuse(&link.name, link.index, error);
        }
    }

    /// Logs once that an interface refuses the programs.
    fn refuse(&mut self, name: &str, index: u32, error: &AgentError) {
        if self.refused.insert((name.to_owned(), index)) {
            let message = format!("interface {name} is left alone: {}", chain(error));
            let fields = json!({ "interface": name, "ifindex": index });
            self.log.warn("interface_refused", &message, fields);
        }
    }

    /// Logs which layer is steered where a tunnel runs over another of the interfaces.
    fn say_tunnels(&self, found: &Found, watched: &AgentService) {
        let tunnels = found.tunnels();
        let on = watched.agent.interfaces().iter();
        let (inner, outer): (Vec<_>, Vec<_>) = on.partition(|i| tunnels.contains(&i.index));
        if inner.is_empty() || outer.is_empty() {
            return;
        }
        let names = |of: &[&Interface]| of.iter().map(|i| i.name.clone()).collect::<Vec<_>>();
        let (inner, outer) = (names(&inner), names(&outer));
        let message = format!(
            "what goes through {} is steered there, where its connections can be seen; on {} what goes beside it is steered, and so is the tunnel's own connection if it is TCP; its own packets over UDP are like any other UDP",
            inner.join(" and "),
            outer.join(" and ")
        );
        let fields = json!({ "tunnels": inner, "interfaces": outer });
        self.log.info("tunnel", &message, fields);
    }

    /// Logs once that guests' packets pass a bridge's ports and miss the programs.
    fn say_bridges(&mut self, found: &Found) {
        for bridge in found.shared_bridges() {
            if !self.shared.insert(bridge.name.clone()) {
                continue;
            }
            let message = format!("{}; {}", bridge.message(), bridge.advice());
            let fields = json!({ "interface": bridge.name, "out": bridge.out });
            self.log.warn("bridge", &message, fields);
        }
    }

    fn say_waiting(&mut self, watched: &AgentService) {
        let is_on_none = watched.agent.interfaces().is_empty();
        if is_on_none && !self.waits {
            let what = self.wanted.waits_for();
            let message = format!("nothing is steered; waiting for {what}");
            self.log.warn("waiting", &message, json!({ "for": what }));
        }
        self.waits = is_on_none;
    }
}

/// An error and its causes on one line.
fn chain(error: &AgentError) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

fn listen(mut changes: Changes, changed: &AtomicBool, bell: &Bell) {
    // The socket is open, so this thread needs no capability any more. An error means that it had none to give up.
    let _ = tidegate_agent::drop_capabilities();
    while changes.wait().is_ok() {
        changed.store(true, Ordering::Relaxed);
        bell.ring();
    }
}
