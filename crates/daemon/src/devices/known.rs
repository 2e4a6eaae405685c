//! What is known of devices, and their weights.

use super::{DeviceView, leases};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use tidegate_agent::{AgentError, Device, Owners, Prefix};
use tidegate_linux::netfilter::{Tracked, Way};
use tidegate_linux::rtnetlink::Known;

/// How many addresses and devices we remember: a phone has another MAC on each link, and an address may pass from
/// device to device. When it is full we begin anew; the programs' own tables evict the idle.
const MOST: usize = 16_384;

/// A device's address on its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mac([u8; 6]);

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes: Result<Vec<_>, _> = text
            .split([':', '-'])
            .map(|byte| u8::from_str_radix(byte, 16))
            .collect();
        let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| {
            format!(
                "\"{text}\" is no address of a link layer, expected one like \"02:00:5e:10:00:01\""
            )
        })
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: Vec<_> = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        f.write_str(&bytes.join(":"))
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Selects devices and gives them a weight. A condition that is absent matches every device.
#[derive(Clone, Debug, Default)]
pub struct Term {
    /// Address on the link.
    pub mac: Option<Mac>,
    /// Name that the device told the DHCP server.
    pub name: Option<String>,
    /// IP address.
    pub address: Option<Prefix>,
    /// Weight.
    pub weight: u32,
}

/// The devices' weights: the first term that matches a device decides; others weigh 1.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// In order: the first that matches decides.
    pub terms: Vec<Term>,
    /// The file of DHCP leases, instead of the usual ones.
    pub leases: Option<PathBuf>,
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Terms {
    fn weight(&self, who: Who, address: IpAddr, names: &HashMap<Mac, String>) -> u32 {
        let about = |term: &&Term| {
            let mac = match who {
                Who::Mac(mac) => Some(mac),
                _ => None,
            };
            let name = mac.and_then(|mac| names.get(&mac));
            term.mac.is_none_or(|asked| Some(asked) == mac)
                && term.name.as_ref().is_none_or(|asked| Some(asked) == name)
                && term.address.is_none_or(|prefix| prefix.contains(address))
        };
        self.terms.iter().find(about).map_or(1, |term| term.weight)
    }

    /// Names by address on the link, if any term asks for a name.
    fn names(&self) -> HashMap<Mac, String> {
        match self.terms.iter().all(|term| term.name.is_none()) {
            true => HashMap::new(),
            false => leases::names(self.leases.as_deref()),
        }
    }
}

/// The owner of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Who {
    Mac(Mac),
    /// A device behind another router.
    Address(IpAddr),
    /// This machine.
    Own,
}

/// A device's number, as the programs know it, and one of its addresses.
#[derive(Clone, Copy)]
struct Numbered {
    device: Device,
    address: IpAddr,
}

/// What we know, and what the programs have been told.
pub struct Directory {
    owners: Owners,
    terms: Terms,
    names: HashMap<Mac, String>,
    addresses: HashMap<IpAddr, Who>,
    numbered: HashMap<Who, Numbered>,
    /// How many numbers were given. No number is used twice, as the programs remember devices longer than we do.
    numbers: u32,
    /// Whether we know more than the programs have been told.
    changed: bool,
    failed: Option<AgentError>,
}

impl Directory {
    pub fn new(owners: Owners, terms: Terms) -> Self {
        Self {
            owners,
            names: terms.names(),
            terms,
            addresses: HashMap::new(),
            numbered: HashMap::new(),
            numbers: 0,
            changed: false,
            failed: None,
        }
    }

    /// Sets other weights.
    pub fn set(&mut self, terms: Terms) -> Result<(), AgentError> {
        self.names = terms.names();
        self.terms = terms;
        for (address, who) in self.addresses.clone() {
            self.set_owner(address, who);
        }
        self.tell()
    }

    /// Makes the programs ask again, if we know more than they do.
    pub fn tell(&mut self) -> Result<(), AgentError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        self.owners.tell()
    }

    /// Learns who owns an address. This machine's own addresses stay its own, whatever a neighbour table says.
    pub fn learn(&mut self, known: Known) {
        let (address, who) = match known {
            Known::Own(address) => (address, Who::Own),
            Known::Neighbour(address, mac) => (address, Who::Mac(Mac(mac))),
        };
        let before = self.addresses.get(&address);
        if before == Some(&who) || before == Some(&Who::Own) {
            return;
        }
        if let Who::Mac(mac) = who
            && !self.names.contains_key(&mac)
        {
            self.names = self.terms.names();
        }
        self.remember(address, who);
    }

    /// Learns which device a translated connection belongs to: the one that sent the first packet, or the one that was
    /// called. Without translation, the addresses themselves show the device.
    pub fn follow(&mut self, connection: &Tracked) {
        let Tracked {
            original, reply, ..
        } = connection;
        if original.source != reply.destination {
            self.set_inside(reply, original.source.ip());
        }
        if reply.source != original.destination {
            self.set_inside(original, reply.source.ip());
        }
    }

    /// Tells the programs that packets arriving on that way are for `inside`.
    fn set_inside(&mut self, arrives: &Way, inside: IpAddr) {
        if !self.addresses.contains_key(&inside) {
            self.remember(inside, Who::Address(inside));
        }
        let Way {
            source,
            destination,
        } = *arrives;
        let told = self.owners.set_connection(destination, source, inside);
        self.note(told);
    }

    fn remember(&mut self, address: IpAddr, who: Who) {
        if self.addresses.len() >= MOST || self.numbered.len() >= MOST {
            self.addresses.clear();
            self.numbered.clear();
        }
        self.addresses.insert(address, who);
        self.set_owner(address, who);
    }

    fn set_owner(&mut self, address: IpAddr, who: Who) {
        let known = self.numbered.get(&who).copied();
        let number = known.map_or_else(
            || {
                self.numbers += 1;
                self.numbers
            },
            |known| known.device.number,
        );
        let device = Device {
            number,
            weight: self.terms.weight(who, address, &self.names),
        };
        let shown = known.map(|known| known.address);
        let shown = shown.filter(|shown| shown.is_ipv4() || address.is_ipv6());
        let numbered = Numbered {
            device,
            address: shown.unwrap_or(address),
        };
        self.numbered.insert(who, numbered);
        let told = self.owners.set_address(address, device);
        self.note(told);
    }

    /// The devices with these numbers, in order.
    pub fn view(&self, numbers: &HashSet<u32>) -> Vec<DeviceView> {
        let names = leases::names(self.terms.leases.as_deref());
        let wanted = |(_, known): &(&Who, &Numbered)| numbers.contains(&known.device.number);
        let view = |(who, known): (&Who, &Numbered)| {
            let mac = match who {
                Who::Mac(mac) => Some(*mac),
                Who::Address(_) | Who::Own => None,
            };
            DeviceView {
                number: known.device.number,
                name: mac.and_then(|mac| names.get(&mac).cloned()),
                mac,
                address: known.address,
                own: *who == Who::Own,
                weight: known.device.weight,
            }
        };
        let mut devices: Vec<_> = self.numbered.iter().filter(wanted).map(view).collect();
        devices.sort_by_key(|device| device.number);
        devices
    }

    fn note(&mut self, told: Result<(), AgentError>) {
        self.changed = true;
        self.failed = told.err().or(self.failed.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_layers_address_is_read_as_it_is_written() {
        let mac: Mac = "02-00-5E-10-00-01".parse().unwrap();
        assert_eq!(mac.to_string(), "02:00:5e:10:00:01");
        for wrong in [
            "",
            "02:00:5e:10:00",
            "02:00:5e:10:00:1g",
            "02:00:5e:10:00:01:02",
        ] {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_device_weighs_what_the_first_term_about_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let leases = folder.path().join("leases");
        let text = "1700000000 02:00:5e:10:00:01 192.0.2.7 tv 01:02\n\
                    1700000000 02:00:5e:10:00:02 192.0.2.8 * *\n";
        std::fs::write(&leases, text).unwrap();
        let term = |weight| Term {
            weight,
            ..Term::default()
        };
        let terms = Terms {
            terms: vec![
                Term {
                    name: Some("tv".into()),
                    ..term(4)
                },
                Term {
                    mac: Some("02:00:5e:10:00:02".parse().unwrap()),
                    ..term(3)
                },
                Term {
                    address: Some(Prefix {
                        address: "2001:db8::".parse().unwrap(),
                        bits: 32,
                    }),
                    ..term(2)
                },
            ],
            leases: Some(leases),
        };
        let names = terms.names();
        let weight = |mac: u8, address: &str| {
            let who = Who::Mac(Mac([2, 0, 0x5e, 0x10, 0, mac]));
            terms.weight(who, address.parse().unwrap(), &names)
        };
        assert_eq!(weight(1, "192.0.2.7"), 4);
        assert_eq!(weight(1, "2001:db8::1"), 4);
        assert_eq!(weight(2, "192.0.2.8"), 3);
        assert_eq!(weight(3, "2001:db8::1"), 2);
        assert_eq!(weight(3, "192.0.2.9"), 1);
    }
}
