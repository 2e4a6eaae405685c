//! Makes the allocator return freed memory to the system.

/// Blocks of this many bytes or more return to the system when they are freed.
#[cfg(target_env = "gnu")]
const LARGE: i32 = 1 << 18;

/// Makes large blocks return to the system, and lets threads share the arena for small ones. By default glibc keeps,
/// for each of many threads, what a snapshot of all flows took: 20 MB for each concurrent reader.
#[cfg(target_env = "gnu")]
pub fn give_back() {
    // SAFETY: it changes settings of the allocator, which takes them at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// musl does so by default.
#[cfg(not(target_env = "gnu"))]
pub fn give_back() {}
