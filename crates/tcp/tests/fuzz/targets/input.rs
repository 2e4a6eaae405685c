//! Fuzzers' bytes as numbers.

/// The rest of an input.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    /// None at the end.
    pub fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes([self.u8()?, self.u8()?]))
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from(self.u16()?) << 16 | u32::from(self.u16()?))
    }
}

/// The byte of every stream at `offset`.
pub fn byte(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

pub fn bytes(offset: u64, len: usize) -> Vec<u8> {
    (0..len as u64)
        .map(|n| byte(offset.wrapping_add(n)))
        .collect()
}
