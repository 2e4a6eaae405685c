//! Reads numbers from bytes.

use super::Malformed;

/// The rest of a packet or of its header.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    left: &'a [u8],
    /// The error if there are not enough bytes.
    short: Malformed,
}

impl<'a> Cursor<'a> {
    /// Reads a packet.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            left: bytes,
            short: Malformed::Truncated,
        }
    }

    /// Reads a header that claims to have `says` bytes.
    pub fn of_header(bytes: &'a [u8], says: usize) -> Self {
        Self {
            left: bytes,
            short: Malformed::Header(says),
        }
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, left) = self.left.split_at_checked(count).ok_or(self.short)?;
        self.left = left;
        Ok(bytes)
    }

    /// The next bytes, as many as the array has.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, left) = self.left.split_first_chunk().ok_or(self.short)?;
        self.left = left;
        Ok(*bytes)
    }

    /// A number of 8 bits.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }
}
