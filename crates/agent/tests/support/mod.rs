//! Helpers that the tests of the kernel share.

/// A record as the bytes that a map holds.
pub fn bytes<T: Copy>(record: &T) -> &[u8] {
    // SAFETY: for the generated records, which are plain integers with explicit padding.
    unsafe { std::slice::from_raw_parts((&raw const *record).cast(), size_of::<T>()) }
}

/// A record from the bytes that a map holds.
pub fn record<T: Copy>(bytes: &[u8]) -> T {
    assert_eq!(bytes.len(), size_of::<T>());
    // SAFETY: as many bytes as `T` has; the generated records are valid for any.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}
