//! Which flows are steered, and by what weight: the administrator's rules as the programs know them.

use crate::skeleton::types::{tg_rule, tg_rules};
use crate::units::{self, Units};
use crate::{AgentError, Cgroup, Interface};
use std::net::IpAddr;
use std::ops::RangeInclusive;

/// `TG_DENIED` (`bpf/shared.h`).
const DENIED: u32 = u32::MAX;

/// The index of no interface: the kernel's are positive and signed.
const NOWHERE: u32 = u32::MAX;

/// What becomes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is steered; under the law `tide`, its share of its group's window has this weight.
    Steered {
        /// At least 1.
        weight: u32,
    },
    /// Its packets pass as they are, and are not measured.
    LeftAlone,
}

impl Default for Verdict {
    fn default() -> Self {
        Self::Steered { weight: 1 }
    }
}

impl Verdict {
    fn to_sys(self) -> u32 {
        match self {
            Self::Steered { weight } => weight,
            Self::LeftAlone => DENIED,
        }
    }
}

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// One of these addresses.
    pub address: IpAddr,
    /// Bits that count: at most 32 or 128.
    pub bits: u8,
}

/// The conditions of a rule; an absent one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Ports of this machine, or of those that it forwards for.
    pub local_ports: Option<RangeInclusive<u16>>,
    /// Ports of the far end.
    pub remote_ports: Option<RangeInclusive<u16>>,
    /// Addresses of the far end.
    pub remote: Option<Prefix>,
    /// Name of an interface. While the agent is on none of that name, the rule matches no flow.
    pub interface: Option<String>,
    /// User that owns the socket.
    pub uid: Option<u32>,
    /// Control group of the socket.
    pub cgroup: Option<Cgroup>,
    /// Units, one of which has the socket. While none of them runs, the rule matches no flow.
    pub units: Option<Units>,
    /// What becomes of such a flow.
    pub verdict: Verdict,
}

/// The first rule that matches a flow decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// In their order; at most [`Rules::MOST`].
    pub rules: Vec<Rule>,
    /// For flows that no rule matches.
    pub otherwise: Verdict,
}

impl Rules {
    /// How many there may be: `TG_RULES` (`bpf/shared.h`).
    pub const MOST: usize = 64;

    /// Whether a rule asks for a control group.
    pub(crate) fn ask_cgroups(&self) -> bool {
        let asks = |rule: &Rule| rule.cgroup.is_some() || rule.units.is_some();
        self.rules.iter().any(asks)
    }

    /// Whether a rule asks for units, which come and go.
    pub fn ask_units(&self) -> bool {
        self.rules.iter().any(|rule| rule.units.is_some())
    }

    /// These rules with the control groups of the units that run now: one rule for each unit.
    pub(crate) fn with_units(&self) -> Self {
        let there = match self.ask_units() {
            true => units::running(),
            false => Vec::new(),
        };
        let rules = self.rules.iter().flat_map(|rule| match &rule.units {
            None => vec![rule.clone()],
            Some(units) => {
                let of = |cgroup| Rule {
                    cgroup: Some(cgroup),
                    units: None,
                    ..rule.clone()
                };
                units.among(&there).into_iter().map(of).collect()
            }
        });
        Self {
            rules: rules.collect(),
            otherwise: self.otherwise,
        }
    }

    /// Whether a rule asks for an interface.
    pub(crate) fn ask_interfaces(&self) -> bool {
        self.rules.iter().any(|rule| rule.interface.is_some())
    }

    /// In the programs' format, while the agent is on these interfaces. The rules must not ask for units
    /// ([`Self::with_units`]).
    pub(crate) fn to_sys(&self, attached: &[Interface]) -> Result<tg_rules, AgentError> {
        if self.rules.len() > Self::MOST {
            return Err(AgentError::TooManyRules(self.rules.len()));
        }
        let mut all = tg_rules {
            count: self.rules.len() as u32,
            otherwise: self.otherwise.to_sys(),
            ..tg_rules::default()
        };
        for (to, rule) in all.rule.iter_mut().zip(&self.rules) {
            *to = rule.to_sys(attached);
        }
        Ok(all)
    }
}

impl Rule {
    fn to_sys(&self, attached: &[Interface]) -> tg_rule {
        let ports = |range: &Option<RangeInclusive<u16>>| {
            range.as_ref().map_or([0; 2], |r| [*r.start(), *r.end()])
        };
        let index = |name: &String| {
            let known = attached.iter().find(|i| i.name == *name);
            known.map_or(NOWHERE, |i| i.index)
        };
        let mut rule = tg_rule {
            local_port: ports(&self.local_ports),
            remote_port: ports(&self.remote_ports),
            ifindex: self.interface.as_ref().map_or(0, index),
            uid: self.uid.unwrap_or(0),
            asks_uid: self.uid.is_some().into(),
            weight: self.verdict.to_sys(),
            ..tg_rule::default()
        };
        if let Some(cgroup) = self.cgroup {
            (rule.cgroup, rule.cgroup_level) = (cgroup.id, cgroup.level);
        }
        if let Some(prefix) = self.remote {
            (rule.family, rule.prefix, rule.mask) = prefix.to_sys();
        }
        rule
    }
}

impl Prefix {
    /// Whether the address begins with these bits.
    pub fn contains(self, address: IpAddr) -> bool {
        let (family, prefix, mask) = self.to_sys();
        let (other, words) = words(address);
        family == other && (0..4).all(|i| (words[i] ^ prefix[i]) & mask[i] == 0)
    }

    /// Family, and address and mask as they lie in a packet.
    fn to_sys(self) -> (u32, [u32; 4], [u32; 4]) {
        let (family, address) = words(self.address);
        let mask = u128::MAX.checked_shl(128 - u32::from(self.bits));
        (family, address, in_words(mask.unwrap_or(0)))
    }
}

/// Its family, and the address as it lies in a packet.
pub(crate) fn words(address: IpAddr) -> (u32, [u32; 4]) {
    match address {
        IpAddr::V4(a) => (4, in_words(u128::from(a.to_bits()) << 96)),
        IpAddr::V6(a) => (6, in_words(a.to_bits())),
    }
}

/// In network byte order, word by word.
fn in_words(bits: u128) -> [u32; 4] {
    let bytes = bits.to_be_bytes();
    let (words, _) = bytes.as_chunks::<4>();
    std::array::from_fn(|i| u32::from_ne_bytes(words[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_of_its_own_version_of_ip() {
        let prefix = |address: &str, bits| Prefix {
            address: address.parse().unwrap(),
            bits,
        };
        let is_in = |address: &str, prefix: Prefix| prefix.contains(address.parse().unwrap());
        let some = prefix("192.0.2.128", 25);
        assert!(is_in("192.0.2.255", some) && !is_in("192.0.2.127", some));
        assert!(!is_in("::192.0.2.255", some) && !is_in("c000:2ff::", some));
        assert!(is_in("203.0.113.1", prefix("0.0.0.0", 0)));
        assert!(!is_in("2001:db8::1", prefix("0.0.0.0", 0)));
        let whole = prefix("192.0.2.1", 32);
        assert!(is_in("192.0.2.1", whole) && !is_in("192.0.2.0", whole));
        let long = prefix("2001:db8::", 33);
        assert!(is_in("2001:db8:7fff::1", long) && !is_in("2001:db8:8000::", long));
    }
}
