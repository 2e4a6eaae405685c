//! Recordings of every kind, from small files of their shape.

mod conserved;
mod kinds;
mod refused;
mod spoiled;
mod support;
