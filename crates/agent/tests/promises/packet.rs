//! Packets made by hand, well-formed unless a field says otherwise.

pub const FIN: u8 = 0x01;
pub const SYN: u8 = 0x02;
pub const RST: u8 = 0x04;
pub const ACK: u8 = 0x10;

const ETH_P_IP: u16 = 0x0800;
const ETH_P_IPV6: u16 = 0x86dd;
const ETH_P_8021Q: u16 = 0x8100;
pub const IPPROTO_TCP: u8 = 6;
pub const IPPROTO_UDP: u8 = 17;

/// What stands before the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Ethernet,
    PlainIp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    V4,
    V6,
}

/// A host by number and a port.
pub type Endpoint = (u8, u16);

/// A TCP segment in its packet.
#[derive(Clone, Debug)]
pub struct Packet {
    pub link: Link,
    /// Ethernet's type, if it is not that of the IP version.
    pub ethertype: Option<u16>,
    /// 802.1Q tag in the frame.
    pub vlan: Option<u16>,
    pub ip: Ip,
    pub from: Endpoint,
    pub to: Endpoint,
    /// Host that an IPv6 packet goes to first.
    pub via: Option<u8>,
    /// IPv4 protocol or IPv6 next header.
    pub protocol: u8,
    /// IPv4's flags and offset.
    pub fragment: u16,
    /// The ECN field of IP, a codepoint.
    pub ecn: u8,
    /// IPv4 options, a multiple of 4 bytes.
    pub ip_options: Vec<u8>,
    /// IPv6 extension headers: the number of each and its bytes; the first byte is written here.
    pub extensions: Vec<(u8, Vec<u8>)>,
    /// Whether IPv6's header has length 0: an option may have the length, or nothing has it.
    pub jumbo: bool,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    /// TCP options; padded with NOP in front, as Linux does.
    pub options: Vec<u8>,
    pub payload: usize,
    /// What IP carries instead of the segment.
    pub instead: Option<Vec<u8>>,
    /// Bytes behind the IP packet: Ethernet pads short frames.
    pub padding: usize,
}

impl Packet {
    /// A bare acknowledgement from one host to another.
    pub fn new(link: Link, ip: Ip, from: Endpoint, to: Endpoint) -> Self {
        Self {
            link,
            ethertype: None,
            vlan: None,
            ip,
            from,
            to,
            via: None,
            protocol: IPPROTO_TCP,
            fragment: 0,
            ecn: 0,
            ip_options: Vec::new(),
            extensions: Vec::new(),
            jumbo: false,
            seq: 0,
            ack: 0,
            flags: ACK,
            window: 0,
            options: Vec::new(),
            payload: 0,
            instead: None,
            padding: 0,
        }
    }

    /// The same, with a datagram of UDP in it.
    pub fn with_datagram(self, payload: &[u8]) -> Self {
        let mut udp = Vec::with_capacity(8 + payload.len());
        udp.extend(self.from.1.to_be_bytes());
        udp.extend(self.to.1.to_be_bytes());
        udp.extend((8 + payload.len() as u16).to_be_bytes());
        // No checksum.
        udp.extend([0; 2]);
        udp.extend(payload);
        Self {
            protocol: IPPROTO_UDP,
            instead: Some(udp),
            ..self
        }
    }

    /// Where the TCP header begins.
    pub fn tcp_offset(&self) -> usize {
        let tag = if self.vlan.is_some() { 4 } else { 0 };
        let ip = match self.ip {
            Ip::V4 => 20 + self.ip_options.len(),
            Ip::V6 => 40 + self.extension_bytes(),
        };
        self.ip_offset() + tag + ip
    }

    fn extension_bytes(&self) -> usize {
        self.extensions.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Where the IP header, or a VLAN tag before it, begins.
    pub fn ip_offset(&self) -> usize {
        match self.link {
            Link::Ethernet => 14,
            Link::PlainIp => 0,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let segment = self.instead.clone().unwrap_or_else(|| self.segment());
        let mut bytes = Vec::with_capacity(self.tcp_offset() + segment.len() + self.padding);
        if self.link == Link::Ethernet {
            bytes.extend([2, 0, 0, 0, 0, self.to.0, 2, 0, 0, 0, 0, self.from.0]);
            if let Some(vlan) = self.vlan {
                bytes.extend(ETH_P_8021Q.to_be_bytes());
                bytes.extend(vlan.to_be_bytes());
            }
            let of_ip = match self.ip {
                Ip::V4 => ETH_P_IP,
                Ip::V6 => ETH_P_IPV6,
            };
            bytes.extend(self.ethertype.unwrap_or(of_ip).to_be_bytes());
        }
        match self.ip {
            Ip::V4 => self.push_ip4(&mut bytes, segment.len()),
            Ip::V6 => self.push_ip6(&mut bytes, segment.len()),
        }
        bytes.extend(segment);
        bytes.resize(bytes.len() + self.padding, 0);
        bytes
    }

    fn push_ip4(&self, bytes: &mut Vec<u8>, carries: usize) {
        let header = 20 + self.ip_options.len();
        let mut ip = vec![0x40 | (header / 4) as u8, self.ecn];
        ip.extend(((header + carries) as u16).to_be_bytes());
        ip.extend([0, 1]);
        ip.extend(self.fragment.to_be_bytes());
        ip.extend([64, self.protocol, 0, 0]);
        ip.extend(address4(self.from.0));
        ip.extend(address4(self.to.0));
        ip.extend(&self.ip_options);
        let check = !sum(&[&ip]);
        ip[10..12].copy_from_slice(&check.to_be_bytes());
        bytes.extend(ip);
    }

    fn push_ip6(&self, bytes: &mut Vec<u8>, carries: usize) {
        bytes.extend([0x60, self.ecn << 4, 0, 0]);
        let length = if self.jumbo {
            0
        } else {
            self.extension_bytes() + carries
        };
        bytes.extend((length as u16).to_be_bytes());
        let kinds = self.extensions.iter().map(|(kind, _)| *kind);
        let mut kinds = kinds.chain([self.protocol]);
        bytes.extend([kinds.next().expect("one at least"), 64]);
        bytes.extend(address6(self.from.0));
        bytes.extend(address6(self.via.unwrap_or(self.to.0)));
        for (next, (_, extension)) in kinds.zip(&self.extensions) {
            bytes.push(next);
            bytes.extend(&extension[1..]);
        }
    }

    fn segment(&self) -> Vec<u8> {
        let mut options = vec![1; self.options.len().next_multiple_of(4) - self.options.len()];
        options.extend(&self.options);
        let mut tcp = Vec::new();
        tcp.extend(self.from.1.to_be_bytes());
        tcp.extend(self.to.1.to_be_bytes());
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([(((20 + options.len()) / 4) << 4) as u8, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(options);
        tcp.extend((0..self.payload).map(|i| (i * 31) as u8));
        let check = !sum(&[&self.pseudo_header(tcp.len()), &tcp]);
        tcp[16..18].copy_from_slice(&check.to_be_bytes());
        tcp
    }

    /// RFC 9293 section 3.1, RFC 8200 section 8.1.
    fn pseudo_header(&self, tcp_bytes: usize) -> Vec<u8> {
        let mut pseudo = match self.ip {
            Ip::V4 => [address4(self.from.0), address4(self.to.0)].concat(),
            Ip::V6 => [address6(self.from.0), address6(self.to.0)].concat(),
        };
        pseudo.extend((tcp_bytes as u32).to_be_bytes());
        pseudo.extend([0, 0, 0, IPPROTO_TCP]);
        pseudo
    }

    /// Whether the TCP checksum of `bytes`, a packet made from this one, is right.
    pub fn checksum_is_right(&self, bytes: &[u8]) -> bool {
        let tcp = &bytes[self.tcp_offset()..bytes.len() - self.padding];
        sum(&[&self.pseudo_header(tcp.len()), tcp]) == 0xffff
    }
}

/// The Internet checksum's sum (RFC 1071) over parts of even length but the last.
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let total: u64 = words
        .map(|w| u64::from(w[0]) << 8 | u64::from(w.get(1).copied().unwrap_or(0)))
        .sum();
    let folded = (total & 0xffff) + (total >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

// The kernel's test run takes the two bytes after the first twelve for Ethernet's type, whatever
// the packet. In a plain IP packet these belong to the source address, which therefore has to say
// "IPv4" and "IPv6" there.

fn address4(host: u8) -> [u8; 4] {
    [8, 0, 0, host]
}

pub fn address6(host: u8) -> [u8; 16] {
    [
        0x20, 1, 0x0d, 0xb8, 0x86, 0xdd, 0, 0, 0, 0, 0, 0, 0, 0, 0, host,
    ]
}

/// IPv6 extension headers (RFC 8200 section 4), as [`Packet::extensions`] has them.
pub mod extension {
    use super::address6;

    /// Options for each hop, or for the destination: padding, in units of 8 bytes.
    fn options(kind: u8, units: u8) -> (u8, Vec<u8>) {
        let mut bytes = vec![0; usize::from(units) * 8];
        bytes[1] = units - 1;
        (kind, bytes)
    }

    pub fn hop_by_hop(units: u8) -> (u8, Vec<u8>) {
        options(0, units)
    }

    pub fn destination(units: u8) -> (u8, Vec<u8>) {
        options(60, units)
    }

    /// The length of a jumbogram (RFC 2675 section 2).
    pub fn jumbo(length: u32) -> (u8, Vec<u8>) {
        (0, [&[0, 0, 0xc2, 4], &length.to_be_bytes()[..]].concat())
    }

    /// Offset in units of 8 bytes.
    pub fn fragment(offset: u16, more: bool) -> (u8, Vec<u8>) {
        let field = (offset << 3 | u16::from(more)).to_be_bytes();
        (44, vec![0, 0, field[0], field[1], 0, 0, 0, 9])
    }

    /// By way of a list of hosts, the last first (RFC 8754 section 2).
    pub fn routing(kind: u8, left: u8, hosts: &[u8]) -> (u8, Vec<u8>) {
        let mut bytes = vec![0, 2 * hosts.len() as u8, kind, left, 0, 0, 0, 0];
        bytes.extend(hosts.iter().flat_map(|host| address6(*host)));
        (43, bytes)
    }
}

/// Options as they stand in a segment.
pub mod option {
    pub fn timestamps(tsval: u32, tsecr: u32) -> Vec<u8> {
        [
            [8, 10].as_slice(),
            &tsval.to_be_bytes(),
            &tsecr.to_be_bytes(),
        ]
        .concat()
    }

    pub fn scale(shift: u8) -> Vec<u8> {
        vec![3, 3, shift]
    }

    pub fn sack(left: u32, right: u32) -> Vec<u8> {
        [
            [5, 10].as_slice(),
            &left.to_be_bytes(),
            &right.to_be_bytes(),
        ]
        .concat()
    }

    /// An option of any kind, with `content` zeroes.
    pub fn other(kind: u8, content: u8) -> Vec<u8> {
        let mut option = vec![kind, 2 + content];
        option.resize(usize::from(option[1]), 0);
        option
    }
}
