//! A device, as people are told of it.

use super::Mac;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// One of those that the link is shared among.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct DeviceView {
    /// From 1; a flow's `device`.
    pub number: u32,
    /// The name that it told the DHCP server.
    pub name: Option<String>,
    /// Its address on its link; absent: it is behind another router, or this machine.
    pub mac: Option<Mac>,
    /// An IP address of it; of several an IPv4 address, if there is one.
    pub address: IpAddr,
    /// It is this machine itself.
    pub own: bool,
    /// Parts that it has where others have one.
    pub weight: u32,
}

impl DeviceView {
    /// What a line calls it.
    pub fn label(&self) -> String {
        match &self.name {
            _ if self.own => "this machine".into(),
            Some(name) => name.clone(),
            None => self.address.to_string(),
        }
    }
}
