//! What flowtables of nf_tables forward past the agent's programs.
//!
//! A packet that arrives passes tc's hook before netfilter's, where software takes it out for a flowtable; and the device
//! that it is given to passes it to tc's hook again. So nothing is hidden on a device that the flowtable names. But what
//! is taken out there does not come to the devices above it, and comes back below them: VLANs, bridges, PPPoE. What
//! hardware forwards passes no program at all.

use crate::devices::Forwarding;
use serde::Serialize;
use std::collections::BTreeSet;
use tidegate_agent::Interface;
use tidegate_netfilter::{Flowtable, flowtables, tracked};
use tidegate_rtnetlink::{Link, links};

/// That some of it may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hidden {
    /// Whether hardware forwards it.
    pub hardware: bool,
    /// The flowtables that hide it, and what devices they name.
    flowtables: Vec<String>,
    /// Where the agent is, and does not see it.
    interfaces: Vec<String>,
    /// Where it would see what software forwards.
    seen_on: Vec<String>,
}

impl Hidden {
    /// What is hidden from an agent on these, in the calling thread's namespace.
    pub fn find(interfaces: &[Interface]) -> Option<Self> {
        // Who asks for flowtables has the kernel load nf_tables, which a machine that forwards nothing may do without.
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

    /// In words.
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

    /// What to do. The frames below PPPoE are not understood.
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

/// How many connections hardware forwards now; none where connection tracking cannot be asked.
pub fn in_hardware() -> Option<usize> {
    let mut sum = 0;
    let counted = tracked(|connection| sum += usize::from(connection.offloaded[1]));
    counted.ok().map(|()| sum)
}

/// Which devices are above which.
#[derive(Debug, Default)]
struct Stack {
    links: Vec<Link>,
    /// Devices that PPPoE's frames come by.
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

    /// All below it, whatever is between.
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
        // The kernel does not say which of PPPoE's devices a session is on.
        if upper.is_ppp {
            return self.pppoe.clone();
        }
        let is_lower =
            |link: &&Link| link.bridge == Some(upper.index) || upper.lower == Some(link.index);
        let lower = self.links.iter().filter(is_lower);
        lower.map(|link| link.name.clone()).collect()
    }
}

/// The third column, below a line of titles.
fn pppoe(list: &str) -> Vec<String> {
    let lines = list.lines().skip(1);
    let devices = lines.filter_map(|line| line.split_whitespace().nth(2));
    devices.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
