//! Colours on light and on dark screens.

use plotters::prelude::RGBColor;

/// A picture's colours. `without` and `ours` differ in lightness, too, for readers who do not see the difference in
/// hue.
pub struct Theme {
    /// The screens that it is for; the end of a file's name.
    pub name: &'static str,
    pub paper: RGBColor,
    pub ink: RGBColor,
    pub grid: RGBColor,
    /// Runs without Tidegate.
    pub without: RGBColor,
    /// Everything else.
    pub others: RGBColor,
    pub ours: RGBColor,
}

pub const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        paper: RGBColor(255, 255, 255),
        ink: RGBColor(31, 35, 40),
        grid: RGBColor(222, 226, 230),
        without: RGBColor(192, 57, 43),
        others: RGBColor(150, 158, 167),
        ours: RGBColor(0, 92, 175),
    },
    Theme {
        name: "dark",
        paper: RGBColor(13, 17, 23),
        ink: RGBColor(230, 237, 243),
        grid: RGBColor(48, 54, 61),
        without: RGBColor(255, 123, 104),
        others: RGBColor(110, 118, 129),
        ours: RGBColor(88, 166, 255),
    },
];
