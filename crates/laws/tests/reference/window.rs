//! From the window that is wanted to the field that is sent.

mod agrees;

/// The edge's rules, with sequence numbers that do not wrap and windows in bytes.
pub struct Window {
    scale: u32,
    /// Newest acknowledgement, its window in units as the kernel had it and as it was sent.
    newest: Option<(u64, u64, u64)>,
    /// Largest right edge that was sent.
    edge: u64,
}

/// An acknowledgement as the kernel wrote it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub ack: u64,
    /// Window in units of the scale.
    pub units: u64,
    /// No data, no FIN.
    pub bare: bool,
    pub sack: bool,
}

impl Window {
    pub fn new(scale: u32) -> Self {
        Self {
            scale,
            newest: None,
            edge: 0,
        }
    }

    /// RFC 5681 section 2, (d) and (e); with SACK the window does not matter (RFC 6675). An acknowledgement that ends a
    /// zero window is always news.
    pub fn is_duplicate(&self, a: &Ack) -> bool {
        self.newest.is_some_and(|(ack, kernel, sent)| {
            let same_window = if a.sack { sent != 0 } else { a.units == kernel };
            a.bare && a.ack == ack && same_window
        })
    }

    /// The units to send, and what follows from them.
    ///
    /// The wanted window, but at least two segments and everything promised; rounded up to whole units for the latter,
    /// down otherwise; never more than the kernel's. The first acknowledgement passes.
    pub fn steer(&mut self, a: &Ack, wanted: Option<u64>, mss: u64) -> u64 {
        let unit = 1u64 << self.scale;
        let promised = self.edge.saturating_sub(a.ack);
        let least = promised.max(2 * mss);
        let wanted = wanted.filter(|&w| w < a.units * unit);
        let units = match (self.newest, wanted) {
            (Some((_, kernel, sent)), _) if self.is_duplicate(a) => {
                // If no law lowers the window, it is the kernel's.
                if wanted.is_some() || sent < kernel {
                    sent
                } else {
                    a.units
                }
            }
            (Some(_), Some(wanted)) => (wanted / unit).max(least.div_ceil(unit)),
            _ => a.units,
        };
        let units = units.min(a.units);
        self.edge = self.edge.max(a.ack + units * unit);
        if self.newest.is_none_or(|(newest, _, _)| a.ack >= newest) {
            self.newest = Some((a.ack, a.units, units));
        }
        units
    }
}
