//! The laws, fed with what an application knows.

use std::time::Duration;
use tidegate_laws::afc::{self, ReadRate};
use tidegate_laws::drwa::Drwa;

/// What steers a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Adaptive flow control (`laws/afc.h`): a buffer of so many bytes, and what the application reads
    /// in a round trip.
    Afc {
        /// Bytes that may be on the way to an application that has not read for long.
        buffer: u32,
    },
    /// Dynamic receive window adjustment (`laws/drwa.h`), for an application that reads as fast as it can.
    Drwa {
        /// λ: the round trip that it settles at, in smallest round trips. The report has 3.
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

    /// The application reads `bytes`; the window in bytes, at most `most`, if there is a new one.
    pub fn read(&mut self, bytes: usize, moment: &Moment, most: u32) -> Option<u32> {
        match self {
            Self::Afc { buffer, rate } => {
                // With the smallest round trip: with any other, a queue would earn itself more credit.
                let rtt_us = micros(moment.min_rtt);
                rate.read(bytes as u64, moment.now_us, rtt_us);
                let window = afc::window((*buffer).into(), rate.tell(), rtt_us, most.into());
                // quinn keeps credit back until it is an eighth of the window. A reader that is limited
                // by its window would earn so much less, and the next window be smaller by it.
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
