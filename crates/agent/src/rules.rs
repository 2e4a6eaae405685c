//! Which flows are steered, and by what weight: the administrator's rules as the programs know them.

use crate::skeleton::types::{tg_rule, tg_rules};
use crate::{AgentError, Cgroup, Interface};
use std::net::IpAddr;
use std::ops::RangeInclusive;

/// `TG_DENIED` (`bpf/shared.h`).
const DENIED: u32 = u32::MAX;

/// What becomes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is steered; of its group's window it gets its share by this weight, under the law `tide`.
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
    /// One of them.
    pub address: IpAddr,
    /// Bits that count: at most 32 or 128.
    pub bits: u8,
}

/// What a flow is like; what is absent is not asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Ports of this machine, or of those that it forwards for.
    pub local_ports: Option<RangeInclusive<u16>>,
    /// Ports of the far end.
    pub remote_ports: Option<RangeInclusive<u16>>,
    /// Addresses of the far end.
    pub remote: Option<Prefix>,
    /// One of those that the agent runs on.
    pub interface: Option<Interface>,
    /// User whose socket it is.
    pub uid: Option<u32>,
    /// Control group whose socket it is.
    pub cgroup: Option<Cgroup>,
    /// What becomes of such a flow.
    pub verdict: Verdict,
}

/// The first rule that is about a flow decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// In their order; at most [`Rules::MOST`].
    pub rules: Vec<Rule>,
    /// Of flows that no rule is about.
    pub otherwise: Verdict,
}

impl Rules {
    /// How many there may be: `TG_RULES` (`bpf/shared.h`).
    pub const MOST: usize = 64;

    /// Whether a rule asks for a control group.
    pub(crate) fn ask_cgroups(&self) -> bool {
        self.rules.iter().any(|rule| rule.cgroup.is_some())
    }

    /// Follows an interface that has another number now. Whether a rule is about it.
    pub(crate) fn renumber(&mut self, interface: &Interface) -> bool {
        let asked = self.rules.iter_mut().flat_map(|rule| &mut rule.interface);
        let mut moved = false;
        for known in asked.filter(|i| i.name == interface.name && i.index != interface.index) {
            known.clone_from(interface);
            moved = true;
        }
        moved
    }

    pub(crate) fn to_sys(&self) -> Result<tg_rules, AgentError> {
        if self.rules.len() > Self::MOST {
            return Err(AgentError::TooManyRules(self.rules.len()));
        }
        let mut all = tg_rules {
            count: self.rules.len() as u32,
            otherwise: self.otherwise.to_sys(),
            ..tg_rules::default()
        };
        for (to, rule) in all.rule.iter_mut().zip(&self.rules) {
            *to = rule.to_sys();
        }
        Ok(all)
    }
}

impl Rule {
    fn to_sys(&self) -> tg_rule {
        let ports = |range: &Option<RangeInclusive<u16>>| {
            range.as_ref().map_or([0; 2], |r| [*r.start(), *r.end()])
        };
        let mut rule = tg_rule {
            local_port: ports(&self.local_ports),
            remote_port: ports(&self.remote_ports),
            ifindex: self.interface.as_ref().map_or(0, |i| i.index),
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
    /// Family, and address and mask as they lie in a packet.
    fn to_sys(self) -> (u32, [u32; 4], [u32; 4]) {
        let words = |bits: u128, used: usize| {
            let bytes = bits.to_be_bytes();
            let mut words = [0; 4];
            for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)).take(used) {
                *word = u32::from_ne_bytes(chunk.try_into().expect("four bytes"));
            }
            words
        };
        let mask = |bits: u8| u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
        match self.address {
            IpAddr::V4(a) => {
                let address = u128::from(a.to_bits()) << 96;
                (4, words(address, 1), words(mask(self.bits), 1))
            }
            IpAddr::V6(a) => (6, words(a.to_bits(), 4), words(mask(self.bits), 4)),
        }
    }
}
