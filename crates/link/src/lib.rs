//! A link without I/O and without a clock: rate, queue, delay and loss of one direction.
//!
//! The caller brings packets and the time; [`Link`] says what leaves it and when. The laboratory
//! steps it in real time, the simulator in virtual time.
