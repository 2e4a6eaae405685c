//! Options of an import.

use crate::Kind;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// One of a link's two directions, as the host behind it sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Direction {
    /// Towards the host that recorded.
    #[default]
    Down,
    /// Away from it.
    Up,
}

/// How a file is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kind; recognised from the file if absent.
    pub kind: Option<Kind>,
    /// The direction, for a kind that has both; down if absent.
    pub direction: Option<Direction>,
    /// The session, for a file with several.
    pub session: Option<String>,
    /// The packets of a capture; those of the busiest flow if absent.
    pub filter: Option<Filter>,
    /// Longest time without a sample that becomes time with rate 0; a longer one begins another session or is refused.
    pub longest_gap: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: None,
            direction: None,
            session: None,
            filter: None,
            longest_gap: Duration::from_secs(10),
        }
    }
}

/// An end of a flow, or part of it. An absent part matches anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address.
    pub host: Option<IpAddr>,
    /// Its port.
    pub port: Option<u16>,
}

/// The packets from one end to another: `src=10.0.0.2:443,dst=10.0.0.9`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Where they come from.
    pub src: Endpoint,
    /// Where they go.
    pub dst: Endpoint,
}

/// The expected form of a filter.
const FILTER: &str = "expected src=ADDRESS:PORT, dst=ADDRESS:PORT or both with a comma between them, \
                      where address or port may be absent: src=10.0.0.2,dst=:5201 or src=[2001:db8::1]:443";

impl FromStr for Filter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        for part in text.split(',') {
            let (side, end) = part.split_once('=').ok_or(FILTER)?;
            let end = endpoint(end).ok_or(FILTER)?;
            let place = match side {
                "src" => &mut filter.src,
                "dst" => &mut filter.dst,
                _ => return Err(FILTER.into()),
            };
            if *place != Endpoint::default() {
                return Err(format!("{side} twice, {FILTER}"));
            }
            *place = end;
        }
        Ok(filter)
    }
}

/// `ADDRESS`, `ADDRESS:PORT` or `:PORT`, an IPv6 address with a port in brackets.
fn endpoint(text: &str) -> Option<Endpoint> {
    if let Ok(host) = text.trim_matches(['[', ']']).parse() {
        let host = Some(host);
        return Some(Endpoint { host, port: None });
    }
    let (host, port) = text.rsplit_once(':')?;
    let host = match host {
        "" => None,
        host => Some(host.trim_matches(['[', ']']).parse().ok()?),
    };
    let port = Some(port.parse().ok()?);
    Some(Endpoint { host, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_either_end_or_both() {
        let read = |text: &str| text.parse::<Filter>();
        let v4 = Some("10.0.0.2".parse().unwrap());
        let v6 = Some("2001:db8::1".parse().unwrap());
        let end = |host, port| Endpoint { host, port };
        let none = Endpoint::default();
        let filter = |src, dst| Ok(Filter { src, dst });
        assert_eq!(read("src=10.0.0.2"), filter(end(v4, None), none));
        assert_eq!(
            read("src=10.0.0.2:443,dst=:5201"),
            filter(end(v4, Some(443)), end(None, Some(5201)))
        );
        assert_eq!(
            read("dst=[2001:db8::1]:443"),
            filter(none, end(v6, Some(443)))
        );
        assert_eq!(read("dst=2001:db8::1"), filter(none, end(v6, None)));
        for bad in [
            "",
            "10.0.0.2",
            "src=",
            "src=x",
            "src=1.2.3.4:",
            "src=:1,src=:2",
            "to=:1",
        ] {
            assert!(read(bad).unwrap_err().contains("expected src="), "{bad}");
        }
    }
}
