//! The bytes of both directions, where segments only count them: by [offset](crate::Seq::offset),
//! the first byte of data at 1.
//!
//! The connection decides which bytes may be sent or taken; these buffers only hold them.

mod receive;
mod send;

pub use receive::ReceiveStream;
pub use send::SendStream;

use std::collections::VecDeque;

/// Offset of the first byte of data: 0 is the SYN.
const FIRST: u64 = 1;

/// The two pieces of `len` bytes that begin `at` bytes into a ring.
fn pieces(ring: &VecDeque<u8>, at: usize, len: usize) -> [&[u8]; 2] {
    let (front, back) = ring.as_slices();
    match at.checked_sub(front.len()) {
        Some(at) => [&back[at..at + len], &[]],
        None => {
            let in_front = len.min(front.len() - at);
            [&front[at..at + in_front], &back[..len - in_front]]
        }
    }
}
