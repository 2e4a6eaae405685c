//! The ziggurat method (G. Marsaglia, W. W. Tsang, "The ziggurat method for generating random variables",
//! Journal of Statistical Software 5(8), 2000).
//!
//! ```text
//!  density │▔▔╲             255 horizontal layers of one area on the tail's, which is as large:
//!          │▔▔▔▔╲           a layer is drawn, and a place in it. Nearly always that lies below the
//!          │▔▔▔▔▔▔▔╲        next layer's edge, and so below the density for certain.
//!          └──────────▔▔▔ x
//! ```

use rand::{Rng, RngExt};
use std::sync::LazyLock;

/// Layers, the tail's included.
const LAYERS: usize = 256;

/// The normal distribution's layers; both its sides.
pub static NORMAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density = |x: f64| libm::exp(-x * x / 2.0);
    let inverse = |y: f64| libm::sqrt(-2.0 * libm::log(y));
    Ziggurat {
        two_sided: true,
        ..Ziggurat::new(
            3.654_152_885_361_009,
            0.004_928_673_233_99,
            density,
            inverse,
        )
    }
});

/// The exponential distribution's layers.
pub static EXPONENTIAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density = |x: f64| libm::exp(-x);
    let inverse = |y: f64| -libm::log(y);
    Ziggurat::new(
        7.697_117_470_131_05,
        0.003_949_659_822_581_557,
        density,
        inverse,
    )
});

/// A density that falls from 1 at 0, cut into layers of one area.
pub struct Ziggurat {
    /// Whether draws are negative as often as positive.
    two_sided: bool,
    /// The layers' edges: the width that the bottom one would have without a tail, the start of the tail, and so on up
    /// to the density's maximum.
    edges: [f64; LAYERS + 1],
    /// The density there.
    heights: [f64; LAYERS + 1],
}

impl Ziggurat {
    fn new(tail: f64, area: f64, density: fn(f64) -> f64, inverse: fn(f64) -> f64) -> Self {
        let mut edges = [0.0; LAYERS + 1];
        edges[0] = area / density(tail);
        edges[1] = tail;
        for layer in 2..LAYERS {
            let below = edges[layer - 1];
            edges[layer] = inverse(area / below + density(below));
        }
        Self {
            two_sided: false,
            heights: edges.map(density),
            edges,
        }
    }

    /// Where the tail starts.
    pub fn tail(&self) -> f64 {
        self.edges[1]
    }

    /// A draw. In the tail `beyond` draws; its argument's sign is the draw's.
    pub fn draw<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        density: impl Fn(f64) -> f64,
        beyond: impl Fn(&mut R, f64) -> f64,
    ) -> f64 {
        loop {
            let bits = rng.next_u64();
            let layer = bits as usize % LAYERS;
            let u = self.share(bits >> 12);
            let x = u * self.edges[layer];
            if x.abs() < self.edges[layer + 1] {
                return x;
            }
            if layer == 0 {
                return beyond(rng, u);
            }
            let (low, high) = (self.heights[layer], self.heights[layer + 1]);
            if high + (low - high) * rng.random::<f64>() < density(x) {
                return x;
            }
        }
    }

    /// The 52 bits as a number from −1 to 1, or from 0 to 1.
    fn share(&self, bits: u64) -> f64 {
        const ONE: u64 = 1023 << 52;
        const TWO: u64 = 1024 << 52;
        match self.two_sided {
            true => f64::from_bits(TWO | bits) - 3.0,
            false => f64::from_bits(ONE | bits) - (1.0 - f64::EPSILON / 2.0),
        }
    }
}
