//! Which interfaces the agent is to attach to, and which of them exist.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use tidegate_agent::{AgentError, Interface};
use tidegate_command::exit::BadInput;
use tidegate_linux::rtnetlink::{Link, default_routes, links};

/// The interfaces to attach to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Those of the default routes, whichever they are.
    #[default]
    DefaultRoutes,
    /// Those with these names, whatever their indices.
    Named(Vec<String>),
}

/// The wanted interfaces that exist.
#[derive(Debug, Default)]
pub struct Found {
    /// Those that we can steer on.
    pub interfaces: Vec<Interface>,
    /// Those whose frames are not understood, and why.
    pub refused: Vec<(Link, AgentError)>,
    /// Names that no interface has.
    pub missing: Vec<String>,
    /// All interfaces of the namespace, wanted or not.
    pub all: Vec<Link>,
}

/// A bridge that connects guests with the outside. The guests' packets go from port to port and pass no program on the
/// bridge itself, which sees only this machine's own.
#[derive(Debug)]
pub struct SharedBridge {
    /// Its name.
    pub name: String,
    /// Ports that lead to guests.
    pub guests: Vec<String>,
    /// Ports that lead out of this machine.
    pub out: Vec<String>,
}

impl SharedBridge {
    /// What is not steered.
    pub fn message(&self) -> String {
        let Self { name, guests, .. } = self;
        let guests = guests.join(", ");
        format!(
            "{name} is a bridge with guests' ports ({guests}): what they send and receive does not pass {name} itself, and is not steered there"
        )
    }

    /// Where it would be steered.
    pub fn advice(&self) -> String {
        format!(
            "name the port that leads out, --iface {}",
            self.out.join(" or ")
        )
    }
}

impl Wanted {
    /// The interfaces with these names, or, without names, those of the default routes.
    pub fn new(names: Vec<String>) -> Self {
        if names.is_empty() {
            Self::DefaultRoutes
        } else {
            Self::Named(names)
        }
    }

    /// The wanted interfaces in the calling thread's network namespace.
    ///
    /// # Errors
    /// If the kernel cannot list its interfaces.
    pub fn find(&self) -> Result<Found> {
        let all = links().context("list the interfaces")?;
        let mut found = Found::default();
        match self {
            Self::DefaultRoutes => {
                let routes = default_routes().context("list the default routes")?;
                let those = all.iter().filter(|link| routes.contains(&link.index));
                those.for_each(|link| found.look_at(link));
            }
            Self::Named(names) => {
                for name in names {
                    match all.iter().find(|link| link.name == *name) {
                        Some(link) => found.look_at(link),
                        None => found.missing.push(name.clone()),
                    }
                }
            }
        }
        found.all = all;
        Ok(found)
    }

    /// What the agent waits for while there is no interface, in words.
    pub fn waits_for(&self) -> String {
        match self {
            Self::DefaultRoutes => "a default route".into(),
            Self::Named(names) => names.join(" or "),
        }
    }
}

impl Found {
    fn look_at(&mut self, link: &Link) {
        match Interface::find(&link.name) {
            Ok(interface) => self.interfaces.push(interface),
            // It has disappeared since it was listed.
            Err(AgentError::NoInterface(name)) => self.missing.push(name),
            Err(error) => self.refused.push((link.clone(), error)),
        }
    }

    /// The interfaces to steer on; an error without any.
    ///
    /// # Errors
    /// If there is none, with the reason.
    pub fn at_least_one(mut self, wanted: &Wanted) -> Result<Vec<Interface>> {
        if !self.interfaces.is_empty() {
            return Ok(self.interfaces);
        }
        if let Some((_, error)) = self.refused.pop() {
            return Err(error.into());
        }
        let names: Vec<_> = self.all.iter().map(|link| link.name.as_str()).collect();
        let message = match wanted {
            Wanted::DefaultRoutes => {
                "there is no default route to find an interface by; name one with --iface".into()
            }
            Wanted::Named(missing) => format!(
                "there is no network interface \"{}\", expected {}",
                missing.join("\" or \""),
                names.join(" or ")
            ),
        };
        Err(BadInput(message).into())
    }

    /// Indices of those that are this machine's tunnels.
    pub fn tunnels(&self) -> BTreeSet<u32> {
        let tunnels = self.all.iter().filter(|link| link.is_tunnel);
        tunnels.map(|link| link.index).collect()
    }

    /// Among the interfaces to steer on, bridges of default routes that are shared with guests: containers and virtual
    /// machines.
    pub fn shared_bridges(&self) -> Vec<SharedBridge> {
        let out = default_routes().unwrap_or_default();
        let bridges = self.all.iter().filter(|link| link.is_bridge);
        let bridges = bridges.filter(|link| out.contains(&link.index) && self.is_on(link));
        bridges.filter_map(|link| self.shared(link)).collect()
    }

    /// None also if the outer port is steered as well.
    fn shared(&self, bridge: &Link) -> Option<SharedBridge> {
        let ports = self.all.iter().filter(|p| p.bridge == Some(bridge.index));
        let (out, guests): (Vec<_>, Vec<_>) = ports.partition(|port| port.leads_out);
        let steers_all = out.iter().all(|port| self.is_on(port));
        if steers_all || guests.is_empty() {
            return None;
        }
        let names = |ports: Vec<&Link>| ports.into_iter().map(|port| port.name.clone()).collect();
        Some(SharedBridge {
            name: bridge.name.clone(),
            guests: names(guests),
            out: names(out),
        })
    }

    fn is_on(&self, link: &Link) -> bool {
        self.interfaces.iter().any(|i| i.index == link.index)
    }

    /// Whether an interface of this index still exists.
    pub fn has(&self, index: u32) -> bool {
        self.all.iter().any(|link| link.index == index)
    }
}

/// Whether the kernel allows the name for an interface.
pub fn is_name(name: &str) -> bool {
    let allowed = |c: char| !c.is_whitespace() && c != '/' && c != ':';
    !name.is_empty()
        && name.len() < nix::libc::IFNAMSIZ
        && name != "."
        && name != ".."
        && name.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_would_not_take_is_no_name() {
        for name in ["eth0", "enp0s31f6", "wg-home", "eth0.7", "a23456789012345"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a234567890123456", "eth 0", "a/b", "eth0:1", ".", ".."] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_missed() {
        let wanted = Wanted::Named(vec!["lo".into(), "nosuch0".into()]);
        let found = wanted.find().unwrap();
        assert_eq!(found.missing, ["nosuch0"]);
        assert_eq!(found.interfaces, [Interface::find("lo").unwrap()]);
        let none = Wanted::Named(vec!["nosuch0".into()]);
        let error = none.find().unwrap().at_least_one(&none).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("\"nosuch0\", expected") && said.contains("lo"),
            "{said}"
        );
    }
}
