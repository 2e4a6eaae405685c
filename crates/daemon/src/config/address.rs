//! Where the page is served.

use serde::{Deserialize, Deserializer, de};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address with a port, or an address alone, which gets the usual port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAddress(pub SocketAddr);

impl PageAddress {
    /// The default: reachable from this machine alone.
    pub const USUAL: &str = "127.0.0.1:9750";
    /// The usual port.
    const PORT: u16 = 9750;
}

impl Default for PageAddress {
    fn default() -> Self {
        Self((Ipv4Addr::LOCALHOST, Self::PORT).into())
    }
}

impl FromStr for PageAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let alone = || text.parse().map(|ip: IpAddr| (ip, Self::PORT).into());
        let address = text.parse().or_else(|_| alone());
        address.map(Self).map_err(|_| {
            format!("\"{text}\" is no address, expected one like 127.0.0.1:9750, [::1]:9750 or 192.168.1.1")
        })
    }
}

impl<'de> Deserialize<'de> for PageAddress {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::PageAddress;

    #[test]
    fn an_address_has_the_usual_port_unless_it_has_one() {
        let at = |text: &str| text.parse::<PageAddress>().map(|a| a.0.to_string());
        assert_eq!(
            at(PageAddress::USUAL),
            Ok(PageAddress::default().0.to_string())
        );
        assert_eq!(at("192.168.1.1"), Ok("192.168.1.1:9750".into()));
        assert_eq!(at("::1"), Ok("[::1]:9750".into()));
        assert_eq!(at("[::1]:80"), Ok("[::1]:80".into()));
        for wrong in [
            "",
            "9750",
            "router.lan",
            "router.lan:9750",
            "127.0.0.1:99999",
        ] {
            let error = at(wrong).unwrap_err();
            assert!(
                error.contains("expected one like 127.0.0.1:9750"),
                "{error}"
            );
        }
    }
}
