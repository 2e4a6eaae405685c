//! The compiled kernel programs, packed: unpacked they would be a third of the statically linked agent.

use std::sync::OnceLock;

/// An object as it was compiled, packed (zlib's format).
#[derive(Debug)]
pub struct Packed {
    bytes: &'static [u8],
    unpacked: OnceLock<Vec<u8>>,
}

impl Packed {
    /// From these packed bytes.
    pub const fn new(bytes: &'static [u8]) -> Self {
        Self {
            bytes,
            unpacked: OnceLock::new(),
        }
    }

    /// The object; unpacked once, when it is first asked for.
    pub fn object(&'static self) -> &'static [u8] {
        self.unpacked.get_or_init(|| {
            miniz_oxide::inflate::decompress_to_vec_zlib(self.bytes).expect("packed by the build")
        })
    }
}
