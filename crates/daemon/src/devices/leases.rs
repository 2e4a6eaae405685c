//! Names of devices: those that they told a DHCP server, read from its file of leases.

mod file;

use super::Mac;
use std::collections::HashMap;
use std::path::Path;

/// Where routers' servers keep their leases: OpenWrt's dnsmasq and odhcpd, Debian's dnsmasq, ISC's dhcpd.
const USUAL: [&str; 5] = [
    "/tmp/dhcp.leases",
    "/tmp/hosts/odhcpd",
    "/tmp/odhcpd.leases",
    "/var/lib/misc/dnsmasq.leases",
    "/var/lib/dhcp/dhcpd.leases",
];

/// Names by address on the link, from the given file or from the usual ones.
pub fn names(file: Option<&Path>) -> HashMap<Mac, String> {
    let texts: Vec<String> = match file {
        Some(file) => file::read(file).into_iter().collect(),
        None => USUAL
            .iter()
            .filter_map(|path| file::read_the_systems(Path::new(path)).ok())
            .collect(),
    };
    let mut names = HashMap::new();
    for text in &texts {
        read(text, &mut names);
    }
    names
}

/// Each line shows its format. If a device has several leases, the last counts: ISC's server appends.
fn read(text: &str, names: &mut HashMap<Mac, String>) {
    let mut lessee = None;
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let lease = match words[..] {
            ["lease", ..] => {
                lessee = None;
                continue;
            }
            ["hardware", "ethernet", mac] => {
                lessee = mac.trim_end_matches(';').parse().ok();
                continue;
            }
            ["client-hostname", name] => lessee.zip(quoted(name)),
            ["#", _, client, _, name, ..] => of_client(client).zip(Some(name)),
            [_, mac, _, name, ..] => mac.parse().ok().zip(Some(name)),
            _ => continue,
        };
        if let Some((mac, name)) = lease.filter(|(_, name)| is_name(name)) {
            names.insert(mac, name.to_owned());
        }
    }
}

fn quoted(word: &str) -> Option<&str> {
    word.strip_prefix('"')?.strip_suffix("\";")
}

/// False for the placeholders of dnsmasq and odhcpd for "no name", and for names that odhcpd marks as invalid
/// (`broken\x20`).
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "*" | "-") && !name.contains('\\')
}

/// odhcpd writes an address on the link in hexadecimal digits without separators, either alone or at the end of a DUID:
/// with a time (type 1) or without (type 3), on Ethernet (1).
fn of_client(client: &str) -> Option<Mac> {
    if let Ok(mac) = client.parse() {
        return Some(mac);
    }
    let digits = match client.len() {
        12 => client,
        28 => client.strip_prefix("00010001")?.get(8..)?,
        20 => client.strip_prefix("00030001")?,
        _ => return None,
    };
    let byte = |n: usize| digits.get(2 * n..2 * n + 2);
    let bytes: Option<Vec<_>> = (0..6).map(byte).collect();
    bytes?.join(":").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<(String, String)> {
        let mut names = HashMap::new();
        read(text, &mut names);
        let mut names: Vec<_> = names
            .into_iter()
            .map(|(mac, name)| (mac.to_string(), name))
            .collect();
        names.sort();
        names
    }

    fn tv_and_phone() -> Vec<(String, String)> {
        let pair = |mac: &str, name: &str| (mac.to_owned(), name.to_owned());
        vec![
            pair("02:00:5e:10:00:01", "tv"),
            pair("02:00:5e:10:00:02", "phone"),
        ]
    }

    #[test]
    fn dnsmasq_tells_names() {
        let text = "1700000000 02:00:5e:10:00:01 192.0.2.7 tv 01:02\n\
                    1700000000 02:00:5e:10:00:02 192.0.2.8 phone *\n\
                    1700000000 02:00:5e:10:00:03 192.0.2.9 * *\n\
                    duid 00:01:00:01:2b:9e:6d:0c:02:00:5e:10:00:09\n\
                    1700000000 123456 2001:db8::7 tv 00:01:00:01:2b:9e:6d:0c:02:00:5e:10:00:01\n";
        assert_eq!(named(text), tv_and_phone());
    }

    #[test]
    fn odhcpd_tells_names_by_address_and_by_duid() {
        let text = "# br-lan 02005e100001 ipv4 tv 1700000000 c0000207 32 192.0.2.7/32\n\
                    192.0.2.7\ttv\n\
                    # br-lan 000100012b9e6d0c02005e100002 7d2a phone 1700000000 3c7 128 2001:db8::3c7/128\n\
                    # br-lan 2:0:5e:10:0:3 ipv4 broken\\x20a_b 1700000000 c0000209 32 192.0.2.9/32\n\
                    # br-lan 00030001zz005e100004 7d2b - -1 3c8 128 2001:db8::3c8/128\n";
        assert_eq!(named(text), tv_and_phone());
        assert_eq!(
            named("# lan 2:0:5e:10:0:1 ipv4 tv 0 0 32 192.0.2.7/32"),
            tv_and_phone()[..1]
        );
        assert_eq!(
            named("# lan 0003000102005e100001 1 tv 0 0 128 2001:db8::1/128"),
            tv_and_phone()[..1]
        );
    }

    #[test]
    fn iscs_dhcpd_tells_names_and_the_last_lease_counts() {
        let lease = |address: u8, mac: u8, name: &str| {
            format!(
                "lease 192.0.2.{address} {{\n  starts 0 2023/11/14 22:13:20;\n  binding state active;\n  \
                 hardware ethernet 02:00:5e:10:00:0{mac};\n  {name}\n}}\n"
            )
        };
        let text = "authoring-byte-order little-endian;\n".to_owned()
            + &lease(7, 1, "client-hostname \"old\";")
            + &lease(8, 2, "client-hostname \"phone\";")
            + &lease(7, 1, "client-hostname \"tv\";")
            + &lease(9, 3, "uid \"\\001\";")
            + "lease 192.0.2.10 {\n  client-hostname \"nobody\";\n}\n";
        assert_eq!(named(&text), tv_and_phone());
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let lines = [
            &b"1 02:00:5e:10:00:01 192.0.2.7 \xff\xfe *\n"[..],
            b"1 02:00:5e:10:00:02 192.0.2.8 tv *\n",
        ];
        std::fs::write(&list, lines.concat()).unwrap();
        let names = names(Some(&list));
        assert_eq!(names[&"02:00:5e:10:00:02".parse().unwrap()], "tv");
    }

    #[test]
    fn what_is_no_lease_names_nobody() {
        for text in [
            "",
            "#",
            "# a b c",
            "client-hostname \"",
            "\u{fffd} x y z",
            "lease",
        ] {
            assert_eq!(named(text), [], "{text}");
        }
    }
}
