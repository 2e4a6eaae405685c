//! The legend: above the plot, in as many rows as it needs, so that it never covers data.

use super::{Curve, Mark};
use crate::svg::{Drawn, INK, Paper, solid, stroke, text, text_width, units};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const FONT_PX: f64 = 12.0;
const ROW_PX: f64 = 19.0;
const SWATCH_PX: f64 = 20.0;
const GAP_PX: f64 = 18.0;

/// Most entries that are shown; the rest are only counted.
const MOST: usize = 16;

/// Entries laid out in rows, in CSS pixels.
pub(super) struct Legend<'a> {
    entries: Vec<(f64, f64, &'a Curve)>,
    rest: Option<(f64, f64, String)>,
    rows: usize,
}

impl<'a> Legend<'a> {
    /// Lays out the labelled curves in `width` pixels. One curve alone needs no legend.
    pub(super) fn new(curves: &'a [Curve], width: f64) -> Self {
        let named: Vec<&Curve> = curves.iter().filter(|c| !c.label.is_empty()).collect();
        let mut cursor = Cursor {
            x: 0.0,
            row: 0,
            width,
        };
        let shown = if named.len() > 1 {
            named.len().min(MOST)
        } else {
            0
        };
        let entries = named[..shown].iter().map(|curve| {
            let (x, y) = cursor.advance(SWATCH_PX + 6.0 + text_width(&curve.label, FONT_PX));
            (x, y, *curve)
        });
        let entries: Vec<_> = entries.collect();
        let rest = (shown > 0 && named.len() > shown).then(|| {
            let label = format!("and {} more", named.len() - shown);
            let (x, y) = cursor.advance(text_width(&label, FONT_PX));
            (x, y, label)
        });
        let rows = if shown == 0 { 0 } else { cursor.row + 1 };
        Self {
            entries,
            rest,
            rows,
        }
    }

    /// Pixels that it needs from top to bottom.
    pub(super) fn height(&self) -> f64 {
        self.rows as f64 * ROW_PX
    }

    /// Draws it with its upper left corner at `corner`, in pixels.
    pub(super) fn draw(&self, paper: &Paper<'_>, corner: (f64, f64)) -> Drawn {
        let style = text(FONT_PX, INK).pos(Pos::new(HPos::Left, VPos::Center));
        for (x, y, curve) in &self.entries {
            let (x, y) = (corner.0 + x, corner.1 + y + ROW_PX / 2.0);
            swatch(paper, curve, (x, y))?;
            paper.draw_text(&curve.label, &style, (units(x + SWATCH_PX + 6.0), units(y)))?;
        }
        if let Some((x, y, label)) = &self.rest {
            let at = (units(corner.0 + x), units(corner.1 + y + ROW_PX / 2.0));
            paper.draw_text(label, &style, at)?;
        }
        Ok(())
    }
}

/// Where the next entry goes.
struct Cursor {
    x: f64,
    row: usize,
    width: f64,
}

impl Cursor {
    /// The corner of an entry that is `width` wide.
    fn advance(&mut self, width: f64) -> (f64, f64) {
        if self.x > 0.0 && self.x + width > self.width {
            self.x = 0.0;
            self.row += 1;
        }
        let corner = (self.x, self.row as f64 * ROW_PX);
        self.x += width + GAP_PX;
        corner
    }
}

fn swatch(paper: &Paper<'_>, curve: &Curve, (x, y): (f64, f64)) -> Drawn {
    let pen = curve.pen;
    let line = |from: f64, to: f64| {
        let ends = [(units(x + from), units(y)), (units(x + to), units(y))];
        paper.draw(&PathElement::new(ends, stroke(3.0, pen.colour)))
    };
    let middle = x + SWATCH_PX / 2.0;
    match curve.mark {
        Mark::Line if pen.dashed => {
            line(0.0, SWATCH_PX * 0.4).and(line(SWATCH_PX * 0.6, SWATCH_PX))
        }
        Mark::Line => line(0.0, SWATCH_PX),
        Mark::Dots => paper.draw(&Circle::new(
            (units(middle), units(y)),
            units(5.0),
            solid(pen),
        )),
        Mark::Area | Mark::Bars => {
            let corner = |sign: f64| (units(middle + sign * 6.0), units(y + sign * 6.0));
            paper.draw(&Rectangle::new([corner(-1.0), corner(1.0)], solid(pen)))
        }
    }
}
