//! Recognises flows straight from the protocols' specifications, one after another, simple rather than fast.

use tidegate_agent::Kind;

/// The kinds of UDP flows.
pub const KINDS: [Kind; 8] = [
    Kind::Quic,
    Kind::MaybeQuic,
    Kind::Wireguard,
    Kind::Ipsec,
    Kind::Openvpn,
    Kind::Gtp,
    Kind::Vxlan,
    Kind::Udp,
];

/// A flow between two ports.
pub struct Flow {
    ports: [u16; 2],
    kind: Option<Kind>,
}

impl Flow {
    pub fn new(ports: [u16; 2]) -> Self {
        Self { ports, kind: None }
    }

    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Udp)
    }

    /// Takes one more datagram.
    pub fn meets(&mut self, payload: &[u8]) {
        let is_certain = |kind: Kind| !matches!(kind, Kind::Udp | Kind::MaybeQuic);
        if self.kind.is_some_and(is_certain) {
            return;
        }
        let Some(head) = payload.first_chunk::<16>() else {
            self.kind = Some(self.kind());
            return;
        };
        let has_a_header_of_quic = !(0x80..0xc0).contains(&head[0]);
        self.kind = Some(match (self.certain(head, payload.len()), self.kind) {
            (Some(kind), _) => kind,
            (None, None) if self.may_be_quic(head, payload.len()) => Kind::MaybeQuic,
            (None, Some(Kind::MaybeQuic)) if has_a_header_of_quic => Kind::MaybeQuic,
            _ => Kind::Udp,
        });
    }

    fn on(&self, port: u16) -> bool {
        self.ports.contains(&port)
    }

    fn certain(&self, head: &[u8; 16], bytes: usize) -> Option<Kind> {
        let [first, second, ..] = *head;
        let third_and_fourth = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let kinds = [
            (Kind::Quic, is_quic(head, bytes)),
            (Kind::Wireguard, is_wireguard(head, bytes)),
            // An SPI from 256 on: any of the upper 24 bits.
            (Kind::Ipsec, self.on(4500) && head[..3] != [0; 3]),
            // Key ids are the lower three bits: opcodes 3 to 11.
            (
                Kind::Openvpn,
                self.on(1194) && (3 << 3..12 << 3).contains(&first),
            ),
            (
                Kind::Gtp,
                self.on(2152)
                    && first >> 5 == 1
                    && first & 0b11000 == 0b10000
                    && second == 255
                    && third_and_fourth + 8 == bytes,
            ),
            (
                Kind::Vxlan,
                (self.on(4789) || self.on(8472)) && head[..4] == [8, 0, 0, 0] && head[7] == 0,
            ),
        ];
        kinds.into_iter().find(|(_, is)| *is).map(|(kind, _)| kind)
    }

    fn may_be_quic(&self, head: &[u8; 16], bytes: usize) -> bool {
        let data = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let is_channel = (0x40..0x50).contains(&head[0]) && (data + 4..=data + 7).contains(&bytes);
        let is_stun = head[0] >> 2 == 0 && head[4..8] == [0x21, 0x12, 0xa4, 0x42];
        let is_dtls = matches!(head[..2], [20..=26, 254]);
        self.on(443) && head[0] < 0x80 && !is_channel && !is_stun && !is_dtls
    }
}

fn is_quic(head: &[u8; 16], bytes: usize) -> bool {
    let version: [u8; 4] = head[1..5].try_into().unwrap();
    let is_grease = version.iter().all(|byte| byte & 0x0f == 0x0a);
    // Which two bits of the first byte say "Initial".
    let initial = match version {
        [0, 0, 0, 1] | [0xff, 0, 0, 29..=34] | [0xfa, 0xce, 0xb0, _] => Some(0b00),
        [0x6b, 0x33, 0x43, 0xcf] => Some(0b01),
        _ if is_grease => None,
        _ => return false,
    };
    let is_long = head[0] >> 6 == 0b11;
    let may_be_initial = initial.is_none_or(|initial| head[0] >> 4 & 0b11 == initial);
    is_long && head[5] <= 20 && (bytes >= 1200 || !may_be_initial)
}

fn is_wireguard(head: &[u8; 16], bytes: usize) -> bool {
    let right = match head[0] {
        1 => bytes == 148,
        2 => bytes == 92,
        3 => bytes == 64,
        4 => bytes >= 32 && bytes.is_multiple_of(16) && head[12..] == [0; 4],
        _ => false,
    };
    right && head[1..4] == [0; 3]
}
