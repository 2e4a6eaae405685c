//! The encryption between the two ends: keys, numbers, and the window against replays.

mod cipher;
mod handshake;
mod identity;
mod replay;

pub use cipher::Cipher;
pub use handshake::{Initiator, respond};
pub use identity::Identity;
use replay::ReplayWindow;

use snow::StatelessTransportState;
use tidegate_mpath::wire::{Sealed, TAG, write_sealed};

/// Forged packets that a key may receive (RFC 9001 §6.6, for ChaCha20-Poly1305; AES allows more).
const FORGERIES: u64 = 1 << 36;

/// Bytes of a block of AES.
const BLOCK: usize = 16;

/// Why a sealed packet is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Seen before, or too old to tell.
    Replayed,
    /// Not sealed with this key, or changed on the way.
    Forged,
}

/// A session after its handshake.
pub struct Session {
    connection: u64,
    keys: StatelessTransportState,
    /// The number of the next packet.
    sent: u64,
    /// Blocks that the key may still seal.
    blocks: u64,
    received: ReplayWindow,
    forgeries: u64,
}

impl Session {
    fn new(connection: u64, keys: StatelessTransportState, cipher: Cipher) -> Self {
        Self {
            connection,
            keys,
            sent: 0,
            blocks: cipher.blocks(),
            received: ReplayWindow::default(),
            forgeries: 0,
        }
    }

    /// The connection.
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Whether the keys have sealed as much as they may.
    pub fn is_exhausted(&self) -> bool {
        self.forgeries >= FORGERIES || self.blocks == 0
    }

    /// Appends the sealed packet to `out`.
    pub fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        let length = plain.len() + TAG;
        write_sealed(out, self.connection, self.sent, length as u16);
        let start = out.len();
        out.resize(start + length, 0);
        let sealed = self.keys.write_message(self.sent, plain, &mut out[start..]);
        sealed.expect("packets are far shorter than Noise's 65535 bytes");
        self.sent += 1;
        self.blocks = self.blocks.saturating_sub(length.div_ceil(BLOCK) as u64);
    }

    /// Opens a packet into `plain`; returns its number.
    pub fn open(&mut self, sealed: &Sealed, plain: &mut Vec<u8>) -> Result<u64, Refused> {
        if !self.received.is_new(sealed.nonce) {
            return Err(Refused::Replayed);
        }
        // With room for the tag it is opened in place, without another buffer.
        plain.resize(sealed.ciphertext.len(), 0);
        let opened = self
            .keys
            .read_message(sealed.nonce, sealed.ciphertext, plain);
        let Ok(length) = opened else {
            self.forgeries += 1;
            return Err(Refused::Forged);
        };
        plain.truncate(length);
        // Only now: a forged number must not move the window.
        self.received.insert(sealed.nonce);
        Ok(sealed.nonce)
    }

    /// Whether no packet with a larger number has come.
    pub fn is_newest(&self, nonce: u64) -> bool {
        self.received.newest() == Some(nonce)
    }
}
