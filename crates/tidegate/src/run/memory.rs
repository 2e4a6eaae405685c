//! What the allocator keeps of memory that was given back.

/// Blocks that are no smaller go back to the system when they are free.
#[cfg(target_env = "gnu")]
const LARGE: i32 = 1 << 18;

/// Has large blocks go back, and threads share what is kept of small ones. glibc by itself would keep what each of many
/// threads needed for a snapshot of all flows: 20 MB for each that asked at once.
#[cfg(target_env = "gnu")]
pub fn give_back() {
    // SAFETY: it changes settings of the allocator, which takes them at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// musl does so by itself.
#[cfg(not(target_env = "gnu"))]
pub fn give_back() {}
