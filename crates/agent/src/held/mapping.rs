//! Memory that the kernel's programs share with every process that has a map's descriptor.

use crate::AgentError;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::null_mut;

/// An array's values, where they are.
pub struct Mapping<T> {
    memory: *mut T,
    length: usize,
    writable: bool,
}

// SAFETY: the memory is the kernel's; each word is read and written as a whole.
unsafe impl<T> Send for Mapping<T> {}

impl<T> Mapping<T> {
    /// Maps the descriptor's array of `length` values; an error says that it could not `what`.
    pub fn new(
        descriptor: BorrowedFd,
        length: usize,
        writable: bool,
        what: &'static str,
    ) -> Result<Self, AgentError> {
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let memory = unsafe {
            libc::mmap(
                null_mut(),
                length * size_of::<T>(),
                protection,
                libc::MAP_SHARED,
                descriptor.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            let source = io::Error::last_os_error();
            return Err(AgentError::System { what, source });
        }
        Ok(Self {
            memory: memory.cast(),
            length,
            writable,
        })
    }

    /// The address of a value.
    pub fn at(&self, place: usize) -> *mut T {
        assert!(place < self.length, "there is no such value");
        // SAFETY: within the mapping.
        unsafe { self.memory.add(place) }
    }

    pub fn is_writable(&self) -> bool {
        self.writable
    }
}

impl<T> Drop for Mapping<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping that was made.
        unsafe { libc::munmap(self.memory.cast(), self.length * size_of::<T>()) };
    }
}
