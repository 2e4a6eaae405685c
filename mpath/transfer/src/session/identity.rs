//! The identity of a receiver: its key, the secret in its tokens, and its name at the registry.

use super::Cipher;
use super::handshake::noise;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A receiver's secrets. As long as they are kept, its tokens stay valid.
#[derive(Clone, Serialize, Deserialize)]
pub struct Identity {
    /// The private half of its static key.
    pub(crate) private: [u8; 32],
    /// The public half.
    pub(crate) public: [u8; 32],
    /// The secret that a sender must know.
    pub(crate) secret: [u8; 32],
    /// Its name, which reveals nothing else.
    pub(crate) id: [u8; 16],
    /// The cipher of its sessions.
    pub(crate) cipher: Cipher,
}

impl Identity {
    /// Its name at the registry.
    pub fn name(&self) -> [u8; 16] {
        self.id
    }

    /// The key with which it gets its name back from the registry, and which no one else knows.
    pub fn announcement_key(&self) -> [u8; 16] {
        let key = blake3::derive_key(
            "tidegate mpath 2026 announcement of a receiver",
            &self.private,
        );
        let (half, _) = key.split_first_chunk().expect("32 bytes");
        *half
    }

    /// A new identity, with the cipher that is faster on this processor.
    pub fn generate() -> Self {
        Self::with_cipher(Cipher::fastest())
    }

    /// As [`Self::generate`], with `cipher`.
    pub fn with_cipher(cipher: Cipher) -> Self {
        let pair = noise(cipher).generate_keypair();
        let pair = pair.expect("the system's source of randomness");
        let half = |key: Vec<u8>| key.try_into().expect("a Curve25519 key has 32 bytes");
        let mut identity = Self {
            private: half(pair.private),
            public: half(pair.public),
            secret: [0; 32],
            id: [0; 16],
            cipher,
        };
        let mut random = rand::rng();
        random.fill_bytes(&mut identity.secret);
        random.fill_bytes(&mut identity.id);
        identity
    }
}
