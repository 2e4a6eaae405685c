//! Checks the name by which the page is requested.
//!
//! An attacker can let the name of a web site resolve to another machine's address, also to 127.0.0.1, so that the
//! visitor's browser takes that machine's answers for the site's own (DNS rebinding). The browser then sends the site's
//! name in Host. So we refuse names except `localhost`, which always means this machine; a Host that is an address
//! cannot be rebound.

use std::net::{IpAddr, Ipv6Addr};

/// Whether a Host header holds an address, or `localhost`.
pub fn is_own(host: &str) -> bool {
    let Some(name) = without_port(host) else {
        return false;
    };
    if let Some(v6) = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return v6.parse::<Ipv6Addr>().is_ok();
    }
    name.eq_ignore_ascii_case("localhost") || matches!(name.parse(), Ok(IpAddr::V4(_)))
}

/// The host without its port; none if the port is no number.
fn without_port(host: &str) -> Option<&str> {
    match host.rsplit_once(':') {
        // This colon is part of an IPv6 address.
        Some((_, rest)) if rest.ends_with(']') => Some(host),
        Some((name, port)) => port.parse::<u16>().is_ok().then_some(name),
        None => Some(host),
    }
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn addresses_and_localhost_are_its_own_and_names_are_not() {
        for own in [
            "127.0.0.1:9750",
            "192.168.1.1",
            "[::1]:9750",
            "[fe80::1]",
            "localhost",
            "LocalHost:9750",
        ] {
            assert!(is_own(own), "{own}");
        }
        for other in [
            "",
            "example.org",
            "example.org:9750",
            "127.0.0.1.example.org",
            "localhost.example.org:9750",
            "127.0.0.1:port",
            "127.0.0.1:9750:9750",
            "2130706433",
            "0x7f.1",
            "::1",
            "[::1]example.org",
            "[example.org]",
            "user@127.0.0.1",
            "127.0.0.1/",
        ] {
            assert!(!is_own(other), "{other}");
        }
    }
}
