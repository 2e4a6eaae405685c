//! Drawing a figure with plotters.

use super::legend::Legend;
use super::{Curve, Figure, Mark};
use crate::ruler::Ruler;
use crate::svg::{
    Drawn, GRID, HAIR, INK, PENCIL, Paper, UNITS, document, solid, stroke, text, text_width, units,
};
use crate::thin::thin;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const TITLE_PX: f64 = 14.0;
const TITLE_ROW_PX: f64 = 24.0;
const LABEL_PX: f64 = 12.0;
const TICK_PX: f64 = 11.0;
/// Room for the tick labels below the plot, and for the axis's label below those.
const X_TICKS_PX: f64 = 22.0;
const X_LABEL_PX: f64 = 18.0;
const MARGIN_PX: f64 = 6.0;
/// Room for the labels of the vertical axis, wider ones excepted: time axes below each other align.
const TICK_LABELS_PX: f64 = 30.0;
/// Distances between ticks that read well.
const X_TICK_EVERY_PX: f64 = 80.0;
const Y_TICK_EVERY_PX: f64 = 38.0;
/// Share of a category's width that its bars fill.
const BAR_FILL: f64 = 0.82;
/// The axis reaches at least that multiple of the tallest bar.
const BAR_HEADROOM: f64 = 1.06;

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

/// The whole figure.
pub(super) fn figure(figure: &Figure) -> String {
    document(figure.size, &figure.title, |paper| {
        let layout = Layout::new(figure);
        layout.head(paper)?;
        let (_, body) = paper.split_vertically(units(layout.head_px));
        if figure.is_empty() {
            return nothing(&body);
        }
        let mut chart = layout.chart(&body)?;
        layout.mesh(&mut chart)?;
        layout.bars(&mut chart)?;
        for curve in &figure.curves {
            layout.curve(&mut chart, curve)?;
        }
        Ok(())
    })
}

fn nothing(body: &Paper<'_>) -> Drawn {
    let (width, height) = body.dim_in_pixel();
    let style = text(LABEL_PX, PENCIL).pos(Pos::new(HPos::Center, VPos::Center));
    body.draw_text(
        "nothing was recorded",
        &style,
        (width as i32 / 2, height as i32 / 2),
    )
}

/// A figure with everything measured that has to be known before drawing.
struct Layout<'a> {
    figure: &'a Figure,
    legend: Legend<'a>,
    x: Ruler,
    y: Ruler,
    head_px: f64,
    left_px: f64,
    bottom_px: f64,
    plot_width_px: f64,
}

impl<'a> Layout<'a> {
    fn new(figure: &'a Figure) -> Self {
        let (width, height) = (f64::from(figure.size.0), f64::from(figure.size.1));
        let legend = Legend::new(&figure.curves, width - 2.0 * MARGIN_PX);
        let head_px = TITLE_ROW_PX + legend.height() + MARGIN_PX;
        let label_px = if figure.x.label.is_empty() {
            0.0
        } else {
            X_LABEL_PX
        };
        let bottom_px = X_TICKS_PX + label_px;

        let y_count = (height - head_px - bottom_px) / Y_TICK_EVERY_PX;
        let mut heights = values(figure, |p| p.1);
        heights.extend(figure.curves.iter().flat_map(label_tops));
        let y = Ruler::new(&figure.y, &heights, y_count as usize);
        let widest = y.ticks.iter().map(|tick| text_width(&tick.label, TICK_PX));
        let left_px = widest.fold(TICK_LABELS_PX, f64::max) + 2.0 * LABEL_PX + 6.0;

        let plot_width_px = width - left_px - 3.0 * MARGIN_PX;
        let x_count = (plot_width_px / X_TICK_EVERY_PX) as usize;
        let x = Ruler::new(&figure.x, &values(figure, |p| p.0), x_count);
        Self {
            figure,
            legend,
            x,
            y,
            head_px,
            left_px,
            bottom_px,
            plot_width_px,
        }
    }

    fn head(&self, paper: &Paper<'_>) -> Drawn {
        let bold = text(TITLE_PX, INK).pos(Pos::new(HPos::Left, VPos::Center));
        let bold = TextStyle {
            font: bold.font.style(FontStyle::Bold),
            ..bold
        };
        paper.draw_text(
            &self.figure.title,
            &bold,
            (units(MARGIN_PX), units(TITLE_ROW_PX / 2.0)),
        )?;
        self.legend.draw(paper, (MARGIN_PX, TITLE_ROW_PX))
    }

    fn chart<'p, 'b>(
        &self,
        body: &'p Paper<'b>,
    ) -> Result<Chart<'p, 'b>, DrawingAreaErrorKind<std::io::Error>> {
        ChartBuilder::on(body)
            .margin_top(units(MARGIN_PX))
            .margin_right(units(3.0 * MARGIN_PX))
            .x_label_area_size(units(self.bottom_px))
            .y_label_area_size(units(self.left_px))
            .build_cartesian_2d(self.x.clone(), self.y.clone())
    }

    fn mesh(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        let mut mesh = chart.configure_mesh();
        if !self.figure.x.categories.is_empty() {
            mesh.disable_x_mesh();
        }
        mesh.x_desc(&self.figure.x.label)
            .y_desc(&self.figure.y.label)
            .label_style(text(TICK_PX, PENCIL))
            .axis_desc_style(text(LABEL_PX, PENCIL))
            .axis_style(stroke(1.0, GRID))
            .bold_line_style(stroke(1.0, GRID))
            .light_line_style(stroke(1.0, HAIR))
            .set_all_tick_mark_size(units(3.0))
            .draw()
    }

    fn curve(&self, chart: &mut Chart<'_, '_>, curve: &Curve) -> Drawn {
        let points = self.visible(curve);
        let line = stroke(1.5, curve.pen.colour);
        match curve.mark {
            Mark::Line if curve.pen.dashed => {
                let (dash, gap) = (units(6.0), units(4.0));
                let points = points.into_iter();
                chart.draw_series(DashedLineSeries::new(points, dash, gap, line))?;
            }
            Mark::Line => {
                chart.draw_series(LineSeries::new(points, line))?;
            }
            Mark::Area => {
                let fill = curve.pen.colour.rgba().filled();
                chart.draw_series(AreaSeries::new(points, self.y.ends.0, fill))?;
            }
            Mark::Dots => {
                let dot = |at| Circle::new(at, units(5.5), solid(curve.pen));
                chart.draw_series(points.into_iter().map(dot))?;
            }
            // All of them at once, as they share the room.
            Mark::Bars => (),
        }
        Ok(())
    }

    /// The curve's points, as many as can be seen.
    fn visible(&self, curve: &Curve) -> Vec<(f64, f64)> {
        match curve.mark {
            Mark::Line | Mark::Area => thin(
                &curve.points,
                self.x.ends,
                (self.plot_width_px * f64::from(UNITS)) as usize,
            ),
            Mark::Dots | Mark::Bars => {
                let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
                curve.points.iter().filter(finite).copied().collect()
            }
        }
    }

    fn bars(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        let barred = self.figure.curves.iter().filter(|c| c.mark == Mark::Bars);
        let barred: Vec<&Curve> = barred.collect();
        let width = BAR_FILL / barred.len() as f64;
        for (index, curve) in barred.iter().enumerate() {
            let left = -BAR_FILL / 2.0 + index as f64 * width;
            for (x, y) in self.visible(curve) {
                let corners = [(x + left, self.y.ends.0), (x + left + width * 0.94, y)];
                chart.draw_series([Rectangle::new(corners, solid(curve.pen))])?;
                self.bar_label(chart, (x + left + width * 0.47, y), width)?;
            }
        }
        Ok(())
    }

    /// The bar's value above the middle of its top, if there is room.
    fn bar_label(&self, chart: &mut Chart<'_, '_>, top: (f64, f64), width: f64) -> Drawn {
        let label = short(top.1);
        let room_px = width * self.plot_width_px / (self.x.ends.1 - self.x.ends.0);
        if text_width(&label, TICK_PX) > room_px * 1.1 {
            return Ok(());
        }
        let style = text(TICK_PX, INK).pos(Pos::new(HPos::Center, VPos::Bottom));
        let above = Text::new(label, (0, -units(3.0)), style);
        chart.draw_series([EmptyElement::at(top) + above])?;
        Ok(())
    }
}

/// Heights that leave room for the values above the bars.
fn label_tops(curve: &Curve) -> impl Iterator<Item = f64> {
    curve
        .points
        .iter()
        .filter(|_| curve.mark == Mark::Bars)
        .map(|point| point.1 * BAR_HEADROOM)
}

fn values(figure: &Figure, which: impl Fn(&(f64, f64)) -> f64) -> Vec<f64> {
    figure
        .curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(&which))
        .collect()
}

/// A value in about three figures.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 9_999_500.0 => format!("{:.1}M", value / 1e6),
        v if v >= 9_999.5 => format!("{:.1}k", value / 1e3),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.2}"),
    }
}
