//! What the versions of BBR measure of a path, in the same way.

mod bandwidth;
#[cfg(test)]
pub(super) mod bottleneck;
mod bubble;
mod minmax;
mod rounds;

pub(super) use bandwidth::{Bandwidth, Gain};
pub(super) use bubble::Bubble;
pub(super) use minmax::WindowedMax;
pub(super) use rounds::Rounds;

#[cfg(test)]
mod tests;
