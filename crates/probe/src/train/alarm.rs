//! Tells overflow from losses by chance.

/// Shares of packets lost by chance and by a queue that begins to overflow: an AQM's first drops are few.
const CHANCE: f64 = 0.0015;
const OVERFLOW: f64 = 0.01;

/// Evidence (the logarithm of a likelihood ratio) that is enough: seven losses close together.
const ENOUGH: f64 = 12.0;

/// E. S. Page's cumulative sum (1954) over packets, each arrived or lost.
#[derive(Debug, Default)]
pub struct Alarm {
    evidence: f64,
    raised: bool,
}

impl Alarm {
    /// `arrived` more packets arrived, and `lost` were lost. Returns whether there is an overflow.
    pub fn note(&mut self, arrived: u32, lost: u32) -> bool {
        let against = libm::log((1.0 - OVERFLOW) / (1.0 - CHANCE));
        let for_it = libm::log(OVERFLOW / CHANCE);
        self.evidence += against * f64::from(arrived) + for_it * f64::from(lost);
        self.evidence = self.evidence.max(0.0);
        self.raised |= self.evidence >= ENOUGH;
        self.raised
    }
}
