//! By what name the page may be asked for.
//!
//! Whoever runs a web site can have its name lead to another machine's address, also to 127.0.0.1, and so have the
//! visitor's browser take that machine's answers for the site's own (DNS rebinding). The browser then says the site's name
//! in Host. So names are refused, but for the one that leads nowhere else: what was asked for by an address came from there.

use std::net::{IpAddr, Ipv6Addr};

/// Whether a header Host names an address, or this machine by `localhost`.
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

/// What stands before the port, if what stands behind it is one.
fn without_port(host: &str) -> Option<&str> {
    match host.rsplit_once(':') {
        // A colon of IPv6's.
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
