//! The surface on which figures are drawn: plotters' SVG backend with what a page needs in addition: a finer grid than
//! whole pixels, colours that a style sheet can invert for a dark screen, and the width of a text whose font only the
//! reader's browser knows.

use crate::colour::{Colour, Pen};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::fmt::Write;

/// plotters draws at whole units only: this many units make a CSS pixel.
pub(crate) const UNITS: u32 = 2;

/// Where figures are drawn.
pub(crate) type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The error type of drawing; drawing to a `String` never fails.
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Background.
pub(crate) const PAPER: Colour = Colour::new(0xFF, 0xFF, 0xFF);
/// Titles and legends.
pub(crate) const INK: Colour = Colour::new(0x1E, 0x23, 0x29);
/// Labels of the axes.
pub(crate) const PENCIL: Colour = Colour::new(0x59, 0x61, 0x6B);
/// Labelled grid lines.
pub(crate) const GRID: Colour = Colour::new(0xDF, 0xE3, 0xE8);
/// Grid lines between those.
pub(crate) const HAIR: Colour = Colour::new(0xF0, 0xF2, 0xF5);

/// The colours that a dark page replaces, and their CSS variables.
const THEME: [(Colour, &str); 6] = [
    (PAPER, "--paper"),
    (INK, "--ink"),
    (PENCIL, "--pencil"),
    (GRID, "--grid"),
    (HAIR, "--hair"),
    (crate::colour::NEUTRAL, "--neutral"),
];

/// CSS rules that let the page's variables replace the figures' fixed colours.
pub(crate) fn theme_rules() -> String {
    THEME.iter().fold(String::new(), |mut css, (colour, name)| {
        let hex = colour.hex();
        let _ = writeln!(css, "svg [fill=\"{hex}\"] {{ fill: var({name}); }}");
        let _ = writeln!(css, "svg [stroke=\"{hex}\"] {{ stroke: var({name}); }}");
        css
    })
}

/// An SVG document of `width` × `height` CSS pixels, drawn by `draw` in units of
/// 1/[`UNITS`] pixel. `title` is what a screen reader says.
pub(crate) fn document(
    (width, height): (u32, u32),
    title: &str,
    draw: impl FnOnce(&Paper<'_>) -> Drawn,
) -> String {
    let mut drawn = String::new();
    {
        let paper = SVGBackend::with_string(&mut drawn, (width * UNITS, height * UNITS))
            .into_drawing_area();
        paper
            .fill(&PAPER.rgba())
            .and_then(|()| draw(&paper))
            .and_then(|()| paper.present())
            .expect("drawing on a string cannot fail");
    }
    let (_, inside) = drawn
        .split_once(">\n")
        .expect("plotters writes the root element first");
    let view = format!("0 0 {} {}", width * UNITS, height * UNITS);
    let title = crate::html::escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{view}\" role=\"img\" aria-label=\"{title}\" stroke-linejoin=\"round\">\n{inside}"
    )
}

/// Text of `px` CSS pixels in `colour`.
pub(crate) fn text(px: f64, colour: Colour) -> TextStyle<'static> {
    // plotters' backend divides the size by 1.24 before it writes it.
    let size = px * 1.24 * f64::from(UNITS);
    ("sans-serif", size).into_font().color(&colour.rgba())
}

/// A solid line `px` CSS pixels wide.
pub(crate) fn stroke(px: f64, colour: Colour) -> ShapeStyle {
    ShapeStyle {
        color: colour.rgba(),
        filled: false,
        stroke_width: (px * f64::from(UNITS)).round() as u32,
    }
}

/// The inside of dots and bars; only their edge if the pen is dashed.
pub(crate) fn solid(pen: Pen) -> ShapeStyle {
    ShapeStyle {
        filled: !pen.dashed,
        ..stroke(1.5, pen.colour)
    }
}

/// CSS pixels in units of the drawing.
pub(crate) fn units(px: f64) -> i32 {
    (px * f64::from(UNITS)).round() as i32
}

/// Approximate width of `text` at `px` CSS pixels, in CSS pixels. The font is the reader's, so this takes the widths
/// of a common sans-serif and errs on the wide side.
pub(crate) fn text_width(text: &str, px: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' => 0.36,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
            c if c.is_ascii_uppercase() => 0.70,
            c if (c as u32) < 0x2E80 => 0.60,
            _ => 1.0,
        })
        .sum();
    ems * px
}

#[cfg(test)]
mod tests;
