//! The configuration file, as it is written.

use super::address::PageAddress;
use super::args::lambda_in_range;
use super::{HoldsArg, OnExit, OnlyArg};
use crate::compare;
use crate::devices::Mac;
use crate::udp::{EchoPlace, Otherwise};
use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use tidegate_agent::Prefix;
use tidegate_laws::Law;
use tidegate_scenario::{Fair, LoadError, Udp};

/// A value with its position in the file.
pub type At<T> = toml::Spanned<T>;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    #[serde(default, deserialize_with = "names")]
    pub(super) interfaces: Vec<At<String>>,
    pub(super) law: Option<Law>,
    #[serde(default, deserialize_with = "lambda")]
    pub(super) lambda: Option<f64>,
    pub(super) limit: Option<u32>,
    pub(super) only: Option<OnlyArg>,
    pub(super) fair: Option<At<Fair>>,
    pub(super) leases: Option<PathBuf>,
    pub(super) udp: Option<Otherwise>,
    pub(super) udp_hold: Option<HoldsArg>,
    #[serde(default, deserialize_with = "echo_place")]
    pub(super) udp_echo: Option<EchoPlace>,
    #[serde(default)]
    pub(super) stampless: bool,
    pub(super) connections: Option<At<u32>>,
    #[serde(default)]
    pub(super) dry_run: bool,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) page: Option<PageAddress>,
    #[serde(default, deserialize_with = "compare")]
    pub(super) compare: Option<f64>,
    #[serde(default)]
    pub(super) pin: bool,
    pub(super) on_exit: Option<OnExit>,
    #[serde(default)]
    pub(super) default: Action,
    #[serde(default, rename = "rule")]
    pub(super) rules: Vec<At<Entry>>,
    #[serde(default, rename = "udp_rule")]
    pub(super) udp_rules: Vec<At<UdpEntry>>,
    #[serde(default, rename = "device")]
    pub(super) devices: Vec<At<DeviceEntry>>,
    /// Path and text of the file, for error messages.
    #[serde(skip)]
    path: PathBuf,
    #[serde(skip)]
    text: String,
}

/// Whether to steer a flow.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    #[default]
    Allow,
    Deny,
}

/// One `[[rule]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Ranges, first to last; empty: any port.
    #[serde(default, deserialize_with = "ports")]
    pub remote_port: Vec<RangeInclusive<u16>>,
    #[serde(default, deserialize_with = "ports")]
    pub local_port: Vec<RangeInclusive<u16>>,
    #[serde(default, deserialize_with = "prefixes")]
    pub prefix: Vec<Prefix>,
    pub interface: Option<At<String>>,
    pub uid: Option<u32>,
    pub cgroup: Option<At<String>>,
    pub unit: Option<At<String>>,
    pub user_unit: Option<At<String>>,
    pub action: Action,
    #[serde(default, deserialize_with = "weight")]
    pub weight: Option<At<u8>>,
}

/// One `[[udp_rule]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpEntry {
    #[serde(default, deserialize_with = "ports")]
    pub remote_port: Vec<RangeInclusive<u16>>,
    #[serde(default, deserialize_with = "prefixes")]
    pub prefix: Vec<Prefix>,
    pub interface: Option<At<String>>,
    pub direction: Option<At<OnlyArg>>,
    pub action: At<Udp>,
}

impl UdpEntry {
    pub fn asks_nothing(&self) -> bool {
        let where_to = self.remote_port.is_empty() && self.prefix.is_empty();
        where_to && self.interface.is_none() && self.direction.is_none()
    }
}

/// One `[[device]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceEntry {
    pub mac: Option<Mac>,
    pub name: Option<String>,
    #[serde(default, deserialize_with = "prefixes")]
    pub address: Vec<Prefix>,
    #[serde(deserialize_with = "weight")]
    pub weight: Option<At<u8>>,
}

impl Entry {
    pub fn asks_no_address(&self) -> bool {
        self.remote_port.is_empty() && self.local_port.is_empty() && self.prefix.is_empty()
    }
}

impl File {
    /// Reads the file. Whether its values go together, [`super::settings`] checks.
    ///
    /// # Errors
    /// If it cannot be read or understood, with the line.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let text = LoadError::read(path)?;
        let file: Self = toml::from_str(&text).map_err(|e| LoadError::toml(&e, &text, path))?;
        let path = path.into();
        Ok(Self { path, text, ..file })
    }

    /// An error about a value, with its line.
    pub(super) fn complain<T>(&self, value: &At<T>, message: String) -> LoadError {
        LoadError::at(value.span().start, message, &self.text, &self.path)
    }
}

/// One value, or a list.
#[derive(Deserialize)]
#[serde(untagged, expecting = "one or a list of them")]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn list(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// A name or a list of names, each with its line.
fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<At<String>>, D::Error> {
    let names = At::<Names>::deserialize(from)?;
    let span = names.span();
    Ok(match names.into_inner() {
        Names::One(name) => vec![At::new(span, name)],
        Names::Many(names) => names,
    })
}

/// Like [`OneOrMany`], which would lose the lines.
enum Names {
    One(String),
    Many(Vec<At<String>>),
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Names;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an interface's name like \"eth0\", or a list of names")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Names, E> {
                Ok(Names::One(name.into()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut names: A) -> Result<Names, A::Error> {
                let mut all = Vec::new();
                while let Some(name) = names.next_element()? {
                    all.push(name);
                }
                Ok(Names::Many(all))
            }
        }
        from.deserialize_any(Visitor)
    }
}

/// A port, or a range such as "1000-2000".
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a port, a range like \"8000-8100\", or a list of these"
)]
enum Port {
    Number(i64),
    Range(String),
}

fn ports<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<RangeInclusive<u16>>, D::Error> {
    let list = OneOrMany::<Port>::deserialize(from).map_err(|_| {
        de::Error::custom("expected a port, a range like \"8000-8100\", or a list of these")
    })?;
    let ranges = list.list().into_iter().map(|port| port.range());
    ranges.collect::<Result<_, _>>().map_err(de::Error::custom)
}

impl Port {
    fn range(self) -> Result<RangeInclusive<u16>, String> {
        let text = match self {
            Self::Number(port) => port.to_string(),
            Self::Range(text) => text,
        };
        let (first, last) = text.split_once('-').unwrap_or((&text, &text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first @ 1..), Ok(last)) if first <= last => Ok(first..=last),
            _ => Err(format!(
                "\"{text}\" is no port, expected 1 to 65535 or a range like \"8000-8100\""
            )),
        }
    }
}

fn prefixes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Prefix>, D::Error> {
    let list = OneOrMany::<String>::deserialize(from).map_err(|_| {
        de::Error::custom("expected a prefix like \"192.0.2.0/24\", or a list of them")
    })?;
    let prefixes = list.list().into_iter().map(|text| prefix(&text));
    prefixes
        .collect::<Result<_, _>>()
        .map_err(de::Error::custom)
}

/// An address without a length is a prefix of full length.
fn prefix(text: &str) -> Result<Prefix, String> {
    let wrong = || {
        format!("\"{text}\" is no prefix, expected one like \"192.0.2.0/24\" or \"2001:db8::/32\"")
    };
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
    if bits > most {
        return Err(wrong());
    }
    Ok(Prefix { address, bits })
}

fn echo_place<'de, D: Deserializer<'de>>(from: D) -> Result<Option<EchoPlace>, D::Error> {
    let place = String::deserialize(from)?;
    place.parse().map(Some).map_err(de::Error::custom)
}

fn weight<'de, D: Deserializer<'de>>(from: D) -> Result<Option<At<u8>>, D::Error> {
    let weight = At::<i64>::deserialize(from)?;
    match weight.as_ref() {
        1..=100 => {
            let span = weight.span();
            Ok(Some(At::new(span, weight.into_inner() as u8)))
        }
        other => Err(de::Error::custom(format!(
            "weight is {other}, expected 1 to 100"
        ))),
    }
}

fn compare<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let value = f64::deserialize(from)?;
    compare::part_in_range(value)
        .map(Some)
        .map_err(de::Error::custom)
}

fn lambda<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let value = f64::deserialize(from)?;
    lambda_in_range(value).map(Some).map_err(de::Error::custom)
}
