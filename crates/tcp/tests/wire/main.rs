//! The wire form held against packets of Linux's, against `etherparse`, and against its own promises.

mod linux;
mod malformed;
mod options;
mod packet;
mod round_trip;
