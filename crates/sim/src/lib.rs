//! Virtual time: events, topology, applications and what they measured.
