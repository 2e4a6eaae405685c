//! The host that we measure round trips to: the named one, or the host that the load comes from.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use tidegate_command::exit::BadInput;

/// The port for handshakes with a host whose port we do not know.
const HTTPS: u16 = 443;

/// A host, and a port that it listens at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name or address.
    pub host: String,
    /// The port for handshakes.
    pub port: u16,
}

impl Target {
    /// The host of `--ping`: HOST or HOST:PORT.
    pub fn named(text: &str) -> Self {
        let (host, port) = split(text);
        Self {
            host,
            port: port.unwrap_or(HTTPS),
        }
    }

    /// The host of a URL; none if the text is no URL.
    pub fn of_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let usual = match scheme {
            "http" => 80,
            "https" => HTTPS,
            "ftp" => 21,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let place = authority.rsplit('@').next()?;
        let (host, port) = split(place);
        (!host.is_empty()).then_some(Self {
            host,
            port: port.unwrap_or(usual),
        })
    }

    /// The host of the first URL among a command's words.
    pub fn of_command(words: &[OsString]) -> Option<Self> {
        let mut words = words.iter();
        words.find_map(|word| Self::of_url(&word.to_string_lossy()))
    }

    /// Its first address.
    ///
    /// # Errors
    /// If it cannot be resolved.
    pub fn resolve(&self) -> Result<SocketAddr, BadInput> {
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let first = found.ok().and_then(|mut addresses| addresses.next());
        first.ok_or_else(|| BadInput(format!("{}: no such host to ping", self.host)))
    }
}

/// Splits host and port; an IPv6 address may be in brackets.
fn split(text: &str) -> (String, Option<u16>) {
    if text.parse::<IpAddr>().is_ok() {
        return (text.into(), None);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, port.parse().ok())
        }
        _ => (text, None),
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    (bare.unwrap_or(host).into(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: u16) -> Target {
        let host = host.into();
        Target { host, port }
    }

    #[test]
    fn hosts_are_found_in_urls() {
        for (url, host, port) in [
            ("https://example.org/file", "example.org", 443),
            ("http://example.org", "example.org", 80),
            ("http://me:secret@10.0.0.1:8080/a:b@c", "10.0.0.1", 8080),
            ("https://[2001:db8::1]:8443/", "2001:db8::1", 8443),
            ("https://[2001:db8::1]?x", "2001:db8::1", 443),
            ("ftp://example.org/x", "example.org", 21),
        ] {
            assert_eq!(Target::of_url(url), Some(target(host, port)), "{url}");
        }
        for none in ["example.org", "file:///etc", "https://", "-o", "x://y"] {
            assert_eq!(Target::of_url(none), None, "{none}");
        }
    }

    #[test]
    fn hosts_are_found_in_commands() {
        let words = ["curl", "-o", "/dev/null", "https://example.org/f"].map(OsString::from);
        assert_eq!(Target::of_command(&words), Some(target("example.org", 443)));
        let words = ["iperf3", "-c", "server"].map(OsString::from);
        assert_eq!(Target::of_command(&words), None);
    }

    #[test]
    fn hosts_are_named() {
        assert_eq!(Target::named("example.org"), target("example.org", 443));
        assert_eq!(Target::named("example.org:80"), target("example.org", 80));
        assert_eq!(Target::named("2001:db8::1"), target("2001:db8::1", 443));
        assert_eq!(Target::named("[2001:db8::1]:80"), target("2001:db8::1", 80));
        assert_eq!(Target::named("10.0.0.1"), target("10.0.0.1", 443));
    }
}
