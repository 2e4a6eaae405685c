//! Keys, tags and counters.

use crate::message::SEAL;
use std::fmt;
use std::str::FromStr;

/// The version in every packet's first byte.
pub const VERSION: u8 = 1;

/// The kind of a packet of a session, in its second byte.
pub const SEALED: u8 = 5;

/// Bytes of a tag.
pub const TAG: usize = 16;

/// The part of a long packet that is authenticated: the rest of a train's packets is padding.
const SAID: usize = 1200;
const PADDED: usize = 64;

/// A secret that both ends know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// The text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 64 hexadecimal digits, as `tidegate probe serve` prints it")]
pub struct KeyError;

impl Key {
    /// A new random key.
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// A key derived from this one and `of`.
    pub fn derive(&self, of: &[&[u8]]) -> Self {
        Self(self.hash(of))
    }

    /// The tag of `of`.
    pub fn tag(&self, of: &[&[u8]]) -> [u8; TAG] {
        let hash = self.hash(of);
        std::array::from_fn(|i| hash[i])
    }

    /// Whether `tag` is the tag of `of`; in constant time.
    pub fn verifies(&self, tag: &[u8], of: &[&[u8]]) -> bool {
        let expected = self.tag(of);
        let differing = expected
            .iter()
            .zip(tag)
            .fold(0, |sum, (a, b)| sum | (a ^ b));
        tag.len() == TAG && differing == 0
    }

    fn hash(&self, of: &[&[u8]]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in of {
            // With the length of each part, otherwise other parts with the same bytes would have the same tag.
            hasher.update(&(part.len() as u32).to_be_bytes());
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Never prints the key by accident.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(KeyError);
        }
        let mut key = [0; 32];
        for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| KeyError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| KeyError)?;
        }
        Ok(Self(key))
    }
}

/// One end of a session: seals what it sends and opens what it gets.
#[derive(Debug)]
pub struct Session {
    /// Its number, by which the server finds it.
    pub id: [u8; 8],
    /// The key of its tags.
    pub key: Key,
    /// 0 for what the client sends, 1 for what the server sends.
    sends: u8,
    counter: u64,
    seen: Window,
}

impl Session {
    /// The client's or the server's end.
    pub fn new(id: [u8; 8], key: Key, is_server: bool) -> Self {
        Self {
            id,
            key,
            sends: is_server.into(),
            counter: 0,
            seen: Window::default(),
        }
    }

    /// A packet with the contents `inner`.
    pub fn seal(&mut self, inner: &[u8]) -> Vec<u8> {
        self.counter += 1;
        let counter = self.counter.to_be_bytes();
        let mut packet = Vec::with_capacity(SEAL + inner.len());
        packet.extend([VERSION, SEALED]);
        packet.extend(self.id);
        packet.extend(counter);
        packet.extend(self.tag(self.sends, &counter, inner));
        packet.extend(inner);
        packet
    }

    /// The contents of a packet; none if it is forged, or was seen before.
    pub fn open<'a>(&mut self, packet: &'a [u8]) -> Option<&'a [u8]> {
        let (head, inner) = packet.split_at_checked(SEAL)?;
        let (counter, tag) = (&head[10..18], &head[18..SEAL]);
        let expected = self.tag(1 - self.sends, counter, inner);
        let differing = expected
            .iter()
            .zip(tag)
            .fold(0, |sum, (a, b)| sum | (a ^ b));
        let number = u64::from_be_bytes(counter.try_into().ok()?);
        (session_of(packet) == Some(self.id) && differing == 0 && self.seen.is_new(number))
            .then_some(inner)
    }

    fn tag(&self, direction: u8, counter: &[u8], inner: &[u8]) -> [u8; TAG] {
        // The contents of a train's packet are in its first bytes; hashing its padding would cost more than sending it.
        let said = match inner.get(1) {
            Some(&crate::wire::DATA) => &inner[..inner.len().min(PADDED)],
            _ => &inner[..inner.len().min(SAID)],
        };
        let length = (inner.len() as u32).to_be_bytes();
        self.key
            .tag(&[&[direction], &self.id, counter, &length, said])
    }
}

/// The session that a packet names.
pub fn session_of(packet: &[u8]) -> Option<[u8; 8]> {
    (packet.len() >= SEAL && packet[0] == VERSION && packet[1] == SEALED)
        .then(|| packet[2..10].try_into().ok())?
}

/// Counters that were seen, as in RFC 6479: 128 behind the highest are distinguished, older ones count as seen.
#[derive(Debug, Default)]
pub struct Window {
    highest: u64,
    /// Bit n: `highest` − n was seen.
    seen: u128,
}

impl Window {
    /// Whether `counter` was not seen before.
    pub fn is_new(&mut self, counter: u64) -> bool {
        if counter > self.highest {
            let further = counter - self.highest;
            self.seen = u32::try_from(further)
                .ok()
                .and_then(|n| self.seen.checked_shl(n))
                .unwrap_or(0)
                | 1;
            self.highest = counter;
            return true;
        }
        let bit = 1u128.checked_shl(u32::try_from(self.highest - counter).unwrap_or(u32::MAX));
        match bit {
            Some(bit) if self.seen & bit == 0 => {
                self.seen |= bit;
                true
            }
            _ => false,
        }
    }
}
