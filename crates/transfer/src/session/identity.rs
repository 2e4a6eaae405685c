//! Who a receiver is: its key, the secret that its tokens hand out, and its name at the registry.

use super::Cipher;
use super::handshake::noise;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A receiver's secrets. Whoever keeps them keeps its tokens valid.
#[derive(Clone, Serialize, Deserialize)]
pub struct Identity {
    /// The private half of its static key.
    pub(crate) private: [u8; 32],
    /// The public half.
    pub(crate) public: [u8; 32],
    /// What a sender must know.
    pub(crate) secret: [u8; 32],
    /// Its name, which says nothing else.
    pub(crate) id: [u8; 16],
    /// What its sessions are sealed with.
    pub(crate) cipher: Cipher,
}

impl Identity {
    /// Its name at the registry.
    pub fn name(&self) -> [u8; 16] {
        self.id
    }

    /// What it shows the registry to have its name back, and nobody else knows.
    pub fn announcement_key(&self) -> [u8; 16] {
        let key = blake3::derive_key(
            "tidegate mpath 2026 announcement of a receiver",
            &self.private,
        );
        let (half, _) = key.split_first_chunk().expect("32 bytes");
        *half
    }

    /// A new one, with the cipher that this processor is faster with.
    pub fn generate() -> Self {
        Self::with_cipher(Cipher::fastest())
    }

    /// As [`Self::generate`], with that cipher.
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
