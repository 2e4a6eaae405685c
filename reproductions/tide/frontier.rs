//! The frontier of the other contenders: the least delay at each utilisation.

/// The least delay for a utilisation, interpolated between points that contenders have reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontier {
    /// Utilisation and delay, both increasing: points that are beaten in both are left out.
    points: Vec<(f64, f64)>,
}

impl Frontier {
    /// The frontier of these utilisations and delays, and of the closed window, which uses nothing and waits for
    /// nothing.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut all: Vec<(f64, f64)> = points.into_iter().collect();
        all.push((0.0, 0.0));
        // From the highest utilisation down, and among equals from the least delay up.
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));
        let mut least = f64::INFINITY;
        all.retain(|&(_, delay)| {
            let better = delay < least;
            least = least.min(delay);
            better
        });
        all.reverse();
        Self { points: all }
    }

    /// The delay at that utilisation; beyond the highest utilisation, the delay at the highest.
    pub fn delay_at(&self, utilisation: f64) -> f64 {
        let above = self.points.partition_point(|point| point.0 < utilisation);
        let (last, first) = (self.points.len() - 1, self.points[0]);
        match above {
            0 => first.1,
            n if n > last => self.points[last].1,
            n => {
                let ((x0, y0), (x1, y1)) = (self.points[n - 1], self.points[n]);
                y0 + (y1 - y0) * (utilisation - x0) / (x1 - x0)
            }
        }
    }
}
