//! The destinations that a proxy sends to: a capability says that the receiver at an address wants the packets, but the
//! registry may see another machine at that address than the proxy does.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One machine, the same from everywhere.
    Global,
    /// One machine of the local network, or this machine itself: another one in each network.
    Private,
    /// No machine, many, or a translator (NAT64 and the like) that hides which.
    Never,
}

impl Kind {
    /// By IANA's special-purpose registries: RFC 6890 and later ones.
    pub fn of(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => v4(ip),
            IpAddr::V6(ip) => v6(ip),
        }
    }
}

fn v4(ip: Ipv4Addr) -> Kind {
    match ip.octets() {
        // "This network", multicast, reserved and broadcast.
        [0 | 224.., ..] => Kind::Never,
        [10 | 127, ..] | [192, 168, ..] | [169, 254, ..] => Kind::Private,
        [172, 16..32, ..] => Kind::Private,
        // Behind a provider's NAT (RFC 6598); protocol assignments; benchmarks (RFC 2544).
        [100, 64..128, ..] | [192, 0, 0, _] | [198, 18 | 19, ..] => Kind::Private,
        // Relays of 6to4, deprecated (RFC 7526).
        [192, 88, 99, _] => Kind::Never,
        _ => Kind::Global,
    }
}

fn v6(ip: Ipv6Addr) -> Kind {
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Kind::Private,
        // Unspecified and IPv4-compatible, NAT64 (RFC 6052, RFC 8215), Teredo, 6to4: these embed an IPv4 address.
        [0, 0, 0, 0, 0, 0, ..] | [0x64, 0xff9b, ..] | [0x2001, 0, ..] | [0x2002, ..] => Kind::Never,
        [0xff00..=0xffff, ..] => Kind::Never,
        // Link-local: an envelope does not say which link.
        [0xfe80..0xfec0, ..] => Kind::Never,
        // Unique local, site-local.
        [0xfc00..0xfe00, ..] | [0xfec0..0xff00, ..] => Kind::Private,
        _ => Kind::Global,
    }
}

#[cfg(test)]
mod tests {
    use super::Kind::{self, Global, Never, Private};

    #[test]
    fn addresses_are_what_they_are() {
        for (ip, kind) in [
            ("1.1.1.1", Global),
            ("172.15.0.1", Global),
            ("172.16.0.1", Private),
            ("172.31.255.255", Private),
            ("172.32.0.1", Global),
            ("10.0.0.1", Private),
            ("127.0.0.1", Private),
            ("192.168.1.1", Private),
            ("169.254.169.254", Private),
            ("100.100.100.200", Private),
            ("198.18.0.1", Private),
            ("0.0.0.0", Never),
            ("0.1.2.3", Never),
            ("224.0.0.1", Never),
            ("240.0.0.1", Never),
            ("255.255.255.255", Never),
            ("2606:4700::1", Global),
            ("::ffff:1.1.1.1", Global),
            ("::ffff:10.0.0.1", Private),
            ("::ffff:255.255.255.255", Never),
            ("::1", Private),
            ("fd00::1", Private),
            ("fe80::1", Never),
            ("fec0::1", Private),
            ("::", Never),
            ("::10.0.0.1", Never),
            ("64:ff9b::a00:1", Never),
            ("2002:a00:1::", Never),
            ("2001::1", Never),
            ("2001:4860::1", Global),
            ("ff02::1", Never),
        ] {
            assert_eq!(Kind::of(ip.parse().unwrap()), kind, "{ip}");
        }
    }
}
