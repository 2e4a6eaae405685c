//! A device as users see it.

use super::Mac;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A device that the link is shared among.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct DeviceView {
    /// Its number, from 1; flows refer to it as `device`.
    pub number: u32,
    /// The name that it told the DHCP server.
    pub name: Option<String>,
    /// Its address on the link; absent if it is behind another router, or is this machine.
    pub mac: Option<Mac>,
    /// One of its IP addresses, IPv4 if it has one.
    pub address: IpAddr,
    /// Whether it is this machine.
    pub own: bool,
    /// How many shares it gets for another device's one.
    pub weight: u32,
}

impl DeviceView {
    /// Its name in a line.
    pub fn label(&self) -> String {
        match &self.name {
            _ if self.own => "this machine".into(),
            Some(name) => name.clone(),
            None => self.address.to_string(),
        }
    }
}
