//! A trace in Mahimahi's format of the packets that a busy link carried.

use crate::Arrival;
use std::fmt::Write;

/// Bytes of one opportunity.
const OPPORTUNITY: u64 = 1500;

/// A line for each 1500 bytes: the millisecond in which the last of them arrived, from the first arrival on. The queue
/// should have stood all the while ([`super::bursts::backlogged`]). None if there is too little for a trace.
pub fn mahimahi(arrivals: &[Arrival]) -> Option<String> {
    let first = arrivals.first()?.arrived;
    let mut text = String::new();
    let (mut bytes, mut last_ms) = (0, 0);
    for arrival in &arrivals[1..] {
        bytes += u64::from(arrival.bytes);
        last_ms = (arrival.arrived - first).as_millis();
        while bytes >= OPPORTUNITY {
            bytes -= OPPORTUNITY;
            writeln!(text, "{last_ms}").expect("a string takes everything");
        }
    }
    (last_ms > 0 && !text.is_empty()).then_some(text)
}
