//! Records of maps, as bytes and as what they are.

use libbpf_rs::{MapCore, MapFlags};

/// Every key of a table with its record.
pub fn records<K: Copy + Default, T: Copy + Default>(
    map: &impl MapCore,
) -> impl Iterator<Item = (K, T)> {
    // A flow may be evicted between the listing and the look-up.
    map.keys().filter_map(|key| {
        let record = map.lookup(&key, MapFlags::ANY).ok()??;
        Some((value::<K>(&key), value::<T>(&record)))
    })
}

/// A map's record, from the bytes that the kernel handed out.
pub fn value<T: Copy + Default>(bytes: &[u8]) -> T {
    assert_eq!(
        bytes.len(),
        size_of::<T>(),
        "record of another size than the program's"
    );
    // SAFETY: as many bytes as `T` has; the generated records are plain integers, valid for any.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// A record as a map wants it.
pub fn bytes<T: Copy>(record: &T) -> &[u8] {
    // SAFETY: the generated records are plain integers with explicit padding, all initialised.
    unsafe { std::slice::from_raw_parts((&raw const *record).cast(), size_of::<T>()) }
}
