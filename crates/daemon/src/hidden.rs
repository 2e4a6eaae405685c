//! Traffic that nf_tables flowtables forward past the agent's programs.
//!
//! A packet that arrives passes tc's hook before netfilter's, where a software flowtable takes it; the device that it
//! leaves by passes it to tc's hook again. So on a device that the flowtable names, nothing is hidden. But such packets
//! skip the devices above: VLANs, bridges, PPPoE. Packets that hardware forwards pass no program at all.

use crate::devices::Forwarding;
use serde::Serialize;
use std::collections::BTreeSet;
use tidegate_agent::Interface;
use tidegate_linux::netfilter::{Flowtable, flowtables, tracked};
use tidegate_linux::rtnetlink::{Link, links};

/// Traffic that may be hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hidden {
    /// Whether the hardware forwards it.
    pub hardware: bool,
    /// The flowtables that hide it, with their devices.
    flowtables: Vec<String>,
    /// Interfaces where the agent misses it.
    interfaces: Vec<String>,
    /// Interfaces where the agent would see what software forwards.
    seen_on: Vec<String>,
}

impl Hidden {
    /// Traffic hidden from an agent on these interfaces, in the calling thread's namespace.
    pub fn find(interfaces: &[Interface]) -> Option<Self> {
        // Listing flowtables makes the kernel load nf_tables, which a machine that forwards nothing may not need.
        if Forwarding::find() == Forwarding::Nobody {
            return None;
        }
        let tables = flowtables().unwrap_or_default();
        if tables.is_empty() {
            return None;
        }
        let names: Vec<_> = interfaces.iter().map(|i| i.name.clone()).collect();
        Self::by(&tables, &names, &Stack::read())
    }

    fn by(tables: &[Flowtable], interfaces: &[String], stack: &Stack) -> Option<Self> {
        let mut all = Self {
            hardware: tables.iter().any(|table| table.hardware),
            flowtables: Vec::new(),
            interfaces: Vec::new(),
            seen_on: Vec::new(),
        };
        for table in tables.iter().filter(|table| table.hardware == all.hardware) {
            let named = BTreeSet::from_iter(&table.devices);
            let mut hides = all.hardware;
            for interface in interfaces {
                let below = stack.below(interface);
                let mut below: Vec<_> = below.iter().filter(|name| named.contains(name)).collect();
                if all.hardware || !below.is_empty() {
                    hides = true;
                    all.interfaces.push(interface.clone());
                    below.retain(|_| !stack.is_ppp(interface));
                    all.seen_on.extend(below.into_iter().cloned());
                }
            }
            if hides {
                let words = format!("{} ({})", table.name, table.devices.join(", "));
                all.flowtables.push(words);
            }
        }
        (!all.flowtables.is_empty()).then_some(all)
    }

    /// What is hidden, in words.
    pub fn message(&self) -> String {
        let names = self.flowtables.join(", ");
        if self.hardware {
            return format!(
                "hardware forwards by flowtable {names}: what it forwards is hidden, and not steered"
            );
        }
        format!(
            "flowtable {names} forwards below {}: what it forwards is hidden there, and not steered",
            self.interfaces.join(" and ")
        )
    }

    /// What to do. The agent does not understand frames below PPPoE.
    pub fn advice(&self) -> String {
        if self.hardware {
            return "switch hardware offload off (docs/router.md)".into();
        }
        if self.seen_on.is_empty() {
            return "switch flow offload off (docs/router.md)".into();
        }
        let names = self.seen_on.join(" --iface ");
        format!("--iface {names}, or switch flow offload off (docs/router.md)")
    }
}

/// How many connections the hardware forwards now; none if connection tracking cannot be read.
pub fn in_hardware() -> Option<usize> {
    let mut sum = 0;
    let counted = tracked(|connection| sum += usize::from(connection.offloaded[1]));
    counted.ok().map(|()| sum)
}

/// Which devices are stacked on which.
#[derive(Debug, Default)]
struct Stack {
    links: Vec<Link>,
    /// Devices that carry PPPoE frames.
    pppoe: Vec<String>,
}

impl Stack {
    fn read() -> Self {
        let list = std::fs::read_to_string("/proc/thread-self/net/pppoe").unwrap_or_default();
        Self {
            links: links().unwrap_or_default(),
            pppoe: pppoe(&list),
        }
    }

    fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    fn is_ppp(&self, name: &str) -> bool {
        self.link(name).is_some_and(|link| link.is_ppp)
    }

    /// All devices below it, directly or indirectly.
    fn below(&self, name: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut next = vec![name.to_owned()];
        while let Some(upper) = next.pop() {
            let lower = self.lower(&upper).into_iter();
            next.extend(lower.filter(|name| all.insert(name.clone())));
        }
        all
    }

    fn lower(&self, name: &str) -> Vec<String> {
        let Some(upper) = self.link(name) else {
            return Vec::new();
        };
        // The kernel does not say which PPPoE device carries a session.
        if upper.is_ppp {
            return self.pppoe.clone();
        }
        let is_lower =
            |link: &&Link| link.bridge == Some(upper.index) || upper.lower == Some(link.index);
        let lower = self.links.iter().filter(is_lower);
        lower.map(|link| link.name.clone()).collect()
    }
}

/// The third column, below the headings.
fn pppoe(list: &str) -> Vec<String> {
    let lines = list.lines().skip(1);
    let devices = lines.filter_map(|line| line.split_whitespace().nth(2));
    devices.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
