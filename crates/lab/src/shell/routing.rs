//! The kernel's switches of IP forwarding.

use crate::sysctl;
use anyhow::Result;
use tidegate_linux::netfilter::Family;

/// A version of IP, with its forwarding switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V4,
    V6,
}

impl Version {
    /// The versions whose packets a link's command can send. IPv6 needs forwarding on already, or switches for single
    /// interfaces (Linux 6.17): the switch for all interfaces makes the machine a router, which drops the routes that
    /// other routers have advertised to it.
    pub fn forwardable() -> Vec<Self> {
        let all = [Self::V4, Self::V6].into_iter();
        all.filter(|version| {
            version.is_router() || sysctl::path(&version.switch_of("all")).exists()
        })
        .collect()
    }

    pub fn family(self) -> Family {
        match self {
            Self::V4 => Family::V4,
            Self::V6 => Family::V6,
        }
    }

    /// Whether tables of that family see packets of this version.
    pub fn is_seen_by(self, family: Family) -> bool {
        family == self.family() || family == Family::Inet
    }

    /// Whether forwarding is on for all interfaces: the machine is a router.
    pub fn is_router(self) -> bool {
        self.is_on("all") || is_on(&format!("{}/all/forwarding", self.settings()))
    }

    /// Whether packets that arrive at the device, or at `all` devices, are forwarded.
    pub fn is_on(self, device: &str) -> bool {
        is_on(&self.switch_of(device))
    }

    /// Whether the device has such a switch: not without this version of IP.
    pub fn has(self, device: &str) -> bool {
        sysctl::path(&self.switch_of(device)).exists()
    }

    /// # Errors
    /// When the setting cannot be written.
    pub fn set(self, device: &str, on: bool) -> Result<()> {
        sysctl::write(&self.switch_of(device), if on { "1" } else { "0" })
    }

    fn switch_of(self, device: &str) -> String {
        let switch = match self {
            Self::V4 => "forwarding",
            Self::V6 => "force_forwarding",
        };
        format!("{}/{device}/{switch}", self.settings())
    }

    fn settings(self) -> &'static str {
        match self {
            Self::V4 => "ipv4/conf",
            Self::V6 => "ipv6/conf",
        }
    }
}

fn is_on(switch: &str) -> bool {
    sysctl::read(switch).is_ok_and(|value| value != "0")
}
