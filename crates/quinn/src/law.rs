//! Feeds the laws with what an application knows.

use std::time::Duration;
use tidegate_laws::afc::{self, ReadRate};
use tidegate_laws::drwa::Drwa;

/// The law that steers a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Adaptive flow control (`laws/afc.h`): the window is a fixed buffer, plus what the application reads in a round
    /// trip.
    Afc {
        /// Bytes that may be in flight to an application that has not read for long.
        buffer: u32,
    },
    /// Dynamic receive window adjustment (`laws/drwa.h`), for an application that reads as fast as it can.
    Drwa {
        /// λ: the round trip at which it settles, in multiples of the base RTT. The report has 3.
        lambda: f64,
    },
}

/// A law with what it has learnt.
#[derive(Debug)]
pub enum State {
    Afc { buffer: u32, rate: ReadRate },
    Drwa(Drwa),
}

/// The state of the connection when it is read from.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Since the steering began.
    pub now_us: u64,
    /// Smoothed.
    pub rtt: Duration,
    /// The smallest seen.
    pub min_rtt: Duration,
}

impl State {
    pub fn new(law: Law) -> Self {
        match law {
            Law::Afc { buffer } => Self::Afc {
                buffer,
                rate: ReadRate::new(0),
            },
            Law::Drwa { lambda } => Self::Drwa(Drwa::new(lambda)),
        }
    }

    /// The application reads `bytes`. Returns the new window in bytes, at most `most`, if there is one.
    pub fn read(&mut self, bytes: usize, moment: &Moment, most: u32) -> Option<u32> {
        match self {
            Self::Afc { buffer, rate } => {
                // With the smallest round trip: with a larger one, a queue would earn more credit, and so grow.
                let rtt_us = micros(moment.min_rtt);
                rate.read(bytes as u64, moment.now_us, rtt_us);
                let window = afc::window((*buffer).into(), rate.tell(), rtt_us, most.into());
                // quinn holds credit back until it is an eighth of the window. A reader limited by its window would
                // read that much less, and its next window would shrink again.
                Some((window + window / 8).min(most.into()) as u32)
            }
            Self::Drwa(drwa) => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                drwa.arrived(bytes, micros(moment.rtt), moment.now_us)
            }
        }
    }
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}
