//! The ciphers of a session: which is faster depends on the receiver's processor.

use serde::{Deserialize, Serialize};

/// A cipher. The receiver chooses it with its key, and its token tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cipher {
    /// ChaCha20-Poly1305: fast on any processor.
    ChaChaPoly,
    /// AES-256-GCM: two to three times as fast as ChaCha20-Poly1305 on processors with instructions for it.
    AesGcm,
}

impl Cipher {
    /// The cipher that is faster on this processor.
    pub fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        let aes = is_x86_feature_detected!("aes") && is_x86_feature_detected!("pclmulqdq");
        #[cfg(target_arch = "aarch64")]
        let aes = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let aes = false;
        if aes { Self::AesGcm } else { Self::ChaChaPoly }
    }

    /// The handshake's name. IKpsk1 and not IKpsk2: the first message already proves that its sender knows the secret,
    /// so that no other sender gets an answer.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::ChaChaPoly => "Noise_IKpsk1_25519_ChaChaPoly_BLAKE2s",
            Self::AesGcm => "Noise_IKpsk1_25519_AESGCM_BLAKE2s",
        }
    }

    /// Blocks of 16 bytes that a key may seal: with AES-GCM 2^35, half a terabyte (RFC 9001 appendix B.1), with
    /// ChaCha20-Poly1305 more than there are numbers for.
    pub fn blocks(self) -> u64 {
        match self {
            Self::ChaChaPoly => u64::MAX,
            Self::AesGcm => 1 << 35,
        }
    }
}
