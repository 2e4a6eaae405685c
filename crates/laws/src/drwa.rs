//! Dynamic receive window adjustment, safely, for data that are no TCP segments: the caller has to know how much
//! arrived and how long round trips are.

use crate::sys;

/// DRWA (report, Algorithm 3) of one flow of bytes. Times are µs.
#[derive(Clone, Copy, Debug)]
pub struct Drwa {
    round: sys::tg_round,
    law: sys::tg_drwa,
    lambda_q8: u32,
}

impl Drwa {
    /// Nothing arrived yet. `lambda`: round trips' worth of data that may be on the way, kept in 1/256.
    pub fn new(lambda: f64) -> Self {
        Self {
            round: sys::tg_round::default(),
            law: sys::tg_drwa::default(),
            lambda_q8: (lambda * f64::from(sys::TG_LAMBDA_ONE)).round() as u32,
        }
    }

    /// `bytes` arrive, when a round trip takes `rtt_us`. The window in bytes, if a round is over.
    pub fn arrived(&mut self, bytes: u32, rtt_us: u32, now_us: u64) -> Option<u32> {
        // Times wrap, as in the law.
        let now_us = now_us as u32;
        // SAFETY: the pointers are to live, exclusively borrowed records; C keeps no copy of them.
        unsafe {
            match sys::tg_round_arrived(&mut self.round, bytes, rtt_us, now_us) {
                0 => None,
                data_rcvd => Some(sys::tg_drwa_round(
                    &mut self.law,
                    &self.round,
                    data_rcvd,
                    self.lambda_q8,
                )),
            }
        }
    }
}
