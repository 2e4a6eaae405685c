//! Figures: curves, dots and bars between two axes, as SVG.
//!
//! ```
//! use tidegate_report::plot::{Axis, Curve, Figure, Mark, Scale};
//! use tidegate_report::colour::Pen;
//!
//! let svg = Figure {
//!     title: "Queueing delay".into(),
//!     x: Axis::new("time, s", Scale::FromZero),
//!     y: Axis::new("ms", Scale::Fit),
//!     curves: vec![Curve::new("linux", Pen::nth(0), Mark::Line, vec![(0.0, 3.0), (1.0, 900.0)])],
//!     size: Figure::WIDE,
//! }
//! .svg();
//! assert!(svg.starts_with("<svg"));
//! ```

mod draw;
mod legend;

pub use crate::axis::{Axis, Scale, WIDE};
use crate::colour::Pen;

/// A picture of some curves.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows, in a few words.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, from back to front.
    pub curves: Vec<Curve>,
    /// Width and height in CSS pixels.
    pub size: (u32, u32),
}

impl Figure {
    /// The full width of a page.
    pub const WIDE: (u32, u32) = (940, 300);
    /// The full width, for several below each other.
    pub const STRIP: (u32, u32) = (940, 215);
    /// The size that a phone shows without shrinking the letters.
    pub const PHONE: (u32, u32) = (336, 230);
    /// Two side by side.
    pub const HALF: (u32, u32) = (460, 290);

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.curves.iter().all(|curve| curve.points.is_empty())
    }

    /// Draws it: one `<svg>` element, the same for the same figure, that stands alone or in a page.
    pub fn svg(&self) -> String {
        draw::figure(self)
    }
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in the legend; without one it is not listed there.
    pub label: String,
    /// What it is drawn with.
    pub pen: Pen,
    /// What is drawn.
    pub mark: Mark,
    /// Where it runs. Points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// A curve with a name.
    pub fn new(label: impl Into<String>, pen: Pen, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        Self {
            label: label.into(),
            pen,
            mark,
            points,
        }
    }
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line through the points, dashed if the pen is.
    Line,
    /// The area between the points and the lower edge: something to see the others against.
    Area,
    /// A dot at each point, hollow if the pen is dashed.
    Dots,
    /// A bar from the lower edge to each point, hollow if the pen is dashed, with its value above.
    /// Bars of several curves at the same place stand side by side, behind everything else.
    Bars,
}

#[cfg(test)]
mod tests;
