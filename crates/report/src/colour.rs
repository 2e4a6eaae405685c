//! Colours that people with any colour vision can tell apart: one for each run, the same in every figure and table of
//! a page.

use plotters::style::{Color, RGBAColor, RGBColor};

/// How faint the faintest shade is: it has to show on white and on black.
const FAINTEST_PERCENT: usize = 40;

/// A colour of the screen (sRGB).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    red: u8,
    green: u8,
    blue: u8,
    opacity_percent: u8,
}

impl Colour {
    /// From red, green and blue.
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self {
            red,
            green,
            blue,
            opacity_percent: 100,
        }
    }

    /// As CSS and SVG write it, without its opacity: `#0072B2`.
    pub fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.red, self.green, self.blue)
    }

    /// The `index`-th of `count` shades, from the colour itself to a faint one: for the flows of
    /// one run.
    pub fn shade(self, index: usize, count: usize) -> Self {
        let fading = (100 - FAINTEST_PERCENT) * index / count.saturating_sub(1).max(1);
        Self {
            opacity_percent: 100 - fading.min(100 - FAINTEST_PERCENT) as u8,
            ..self
        }
    }

    pub(crate) fn rgba(self) -> RGBAColor {
        RGBColor(self.red, self.green, self.blue).mix(f64::from(self.opacity_percent) / 100.0)
    }
}

/// The first run is the reference for the others: it has no hue.
pub(crate) const NEUTRAL: Colour = Colour::new(0x6B, 0x6B, 0x6B);

/// Okabe and Ito, "Color Universal Design" (2008), without black, which [`NEUTRAL`] replaces, and without yellow,
/// which is hard to see on white.
const HUES: [Colour; 7] = [
    NEUTRAL,
    Colour::new(0xE6, 0x9F, 0x00),
    Colour::new(0x00, 0x72, 0xB2),
    Colour::new(0x00, 0x9E, 0x73),
    Colour::new(0xCC, 0x79, 0xA7),
    Colour::new(0xD5, 0x5E, 0x00),
    Colour::new(0x56, 0xB4, 0xE9),
];

/// What a run is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pen {
    /// Its colour.
    pub colour: Colour,
    /// Whether its lines are dashed and its dots and bars hollow, because another run has the same colour.
    pub dashed: bool,
}

impl From<Colour> for Pen {
    fn from(colour: Colour) -> Self {
        Self {
            colour,
            dashed: false,
        }
    }
}

impl Pen {
    /// The same pen with the `index`-th of `count` shades of its colour.
    pub fn shade(self, index: usize, count: usize) -> Self {
        let colour = self.colour.shade(index, count);
        Self { colour, ..self }
    }

    /// The pen of the `index`-th run, from 0.
    pub fn nth(index: usize) -> Self {
        Self {
            colour: HUES[index % HUES.len()],
            dashed: (index / HUES.len()) % 2 == 1,
        }
    }
}

/// Pens by name, so that a run looks the same in every result set of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pens(Vec<String>);

impl Pens {
    /// Hands out pens in the order in which names first appear.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known: Vec<String> = Vec::new();
        for name in names {
            if !known.iter().any(|k| k == name) {
                known.push(name.to_owned());
            }
        }
        Self(known)
    }

    /// The pen of a name; a name that was not announced gets the one after the last.
    pub(crate) fn of(&self, name: &str) -> Pen {
        let index = self.0.iter().position(|known| known == name);
        Pen::nth(index.unwrap_or(self.0.len()))
    }
}
