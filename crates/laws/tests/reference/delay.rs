//! The forward queueing delay.

mod agrees;

/// "RD = now − TSval" and its smallest value (RSFC, thesis section 5.1.1, equations 5.1 and 5.3): the excess over the
/// floor is queue. Clocks here do not wrap.
pub struct OneWayDelay {
    /// Unit of the peer's TSval.
    pub tick_us: f64,
    floor_us: Option<f64>,
}

impl OneWayDelay {
    pub fn new(tick_us: f64) -> Self {
        Self {
            tick_us,
            floor_us: None,
        }
    }

    /// The queueing delay of a packet.
    pub fn arrived(&mut self, tsval: u64, now_us: u64) -> f64 {
        let relative_us = now_us as f64 - tsval as f64 * self.tick_us;
        let floor_us = self.floor_us.map_or(relative_us, |f| f.min(relative_us));
        self.floor_us = Some(floor_us);
        relative_us - floor_us
    }
}
