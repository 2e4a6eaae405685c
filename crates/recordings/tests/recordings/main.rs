//! Recordings of every kind, from small files of their format.

mod conserved;
mod kinds;
mod refused;
mod spoiled;
mod support;
