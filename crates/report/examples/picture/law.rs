//! The pictures of the lecture on the law: panels of curves over one axis of time.

use super::theme::Theme;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::path::Path;
use tidegate_scenario::{ResultSet, RunResult};

const WIDTH: u32 = 880;
const PANEL: u32 = 210;
const TITLE: u32 = 44;
const AXIS: u32 = 34;
const FONT: &str = "sans-serif";

/// The theme's colour of a curve.
#[derive(Clone, Copy)]
enum Ink {
    Ours,
    Without,
    Others,
}

struct Curve {
    label: String,
    ink: Ink,
    points: Vec<(f64, f64)>,
}

struct Panel {
    /// Quantity on the vertical axis, with its unit.
    axis: &'static str,
    curves: Vec<Curve>,
}

/// A title, and panels below one another that show the same seconds.
pub struct Picture {
    title: &'static str,
    seconds: (f64, f64),
    panels: Vec<Panel>,
}

/// Makes a picture of its scenario's results.
pub type Make = fn(&ResultSet) -> Result<Picture, Box<dyn Error>>;

/// The function that makes the picture with that name, if there is one.
pub fn find(name: &str) -> Option<Make> {
    match name {
        "fade" => Some(fade),
        "sharing" => Some(sharing),
        "held" => Some(held),
        _ => None,
    }
}

/// A link that fades: its rate, the forecast that the window stands for, and the queue.
fn fade(set: &ResultSet) -> Result<Picture, Box<dyn Error>> {
    let tide = run(set, "tide")?;
    let base_s = curve(tide, "true_rtt_ms", "", 1e-3)?
        .iter()
        .map(|point| point.1)
        .fold(f64::INFINITY, f64::min);
    let window = curve(tide, "window_bytes", "download", 8e-6)?;
    let forecast = window.into_iter().map(|(t, mbit)| (t, mbit / base_s));
    let rates = vec![
        labelled(
            "the link",
            Ink::Others,
            curve(tide, "capacity_bps", "", 1e-6)?,
        ),
        labelled("the window, as a rate", Ink::Ours, forecast.collect()),
    ];
    let queues = vec![
        labelled(
            "Linux",
            Ink::Without,
            curve(run(set, "linux")?, "queue_delay_ms", "", 1.0)?,
        ),
        labelled("tide", Ink::Ours, curve(tide, "queue_delay_ms", "", 1.0)?),
    ];
    Ok(Picture {
        title: "A link that fades and recovers",
        seconds: (3.0, 18.0),
        panels: vec![panel("Mbit/s", rates), panel("queue, ms", queues)],
    })
}

/// A second download that begins behind the first one's queue.
fn sharing(set: &ResultSet) -> Result<Picture, Box<dyn Error>> {
    let tide = run(set, "tide")?;
    let of = |quantity: &str, scale: f64| -> Result<Vec<Curve>, Box<dyn Error>> {
        Ok(vec![
            labelled("first", Ink::Ours, curve(tide, quantity, "first", scale)?),
            labelled(
                "second",
                Ink::Without,
                curve(tide, quantity, "second", scale)?,
            ),
        ])
    };
    Ok(Picture {
        title: "Two downloads that are found to share a queue",
        seconds: (8.0, 24.0),
        panels: vec![
            panel("round trip, ms", of("rtt_ms", 1.0)?),
            panel(
                "Mbit/s",
                of("goodput_bps", 1e-6)?.into_iter().map(smooth).collect(),
            ),
        ],
    })
}

/// A download without a window, left alone and held.
fn held(set: &ResultSet) -> Result<Picture, Box<dyn Error>> {
    let (linux, held) = (run(set, "linux")?, run(set, "held")?);
    let both = |quantity: &str, scale: f64| -> Result<Vec<Curve>, Box<dyn Error>> {
        Ok(vec![
            labelled(
                "untouched",
                Ink::Without,
                curve(linux, quantity, "", scale)?,
            ),
            labelled("held", Ink::Ours, curve(held, quantity, "", scale)?),
        ])
    };
    let rates = both("delivered_bps", 1e-6)?.into_iter().map(smooth);
    Ok(Picture {
        title: "A QUIC download over LTE, untouched and held",
        seconds: (0.0, 40.0),
        panels: vec![
            panel("queue, s", both("queue_delay_ms", 1e-3)?),
            panel("Mbit/s", rates.collect()),
        ],
    })
}

fn panel(axis: &'static str, curves: Vec<Curve>) -> Panel {
    Panel { axis, curves }
}

fn labelled(label: &str, ink: Ink, points: Vec<(f64, f64)>) -> Curve {
    Curve {
        label: label.to_owned(),
        ink,
        points,
    }
}

/// Means over a second, for bursty curves.
fn smooth(curve: Curve) -> Curve {
    let points = &curve.points;
    let mean = |(t, _): &(f64, f64)| {
        let near: Vec<f64> = points
            .iter()
            .filter(|(at, _)| (at - t).abs() <= 0.5)
            .map(|point| point.1)
            .collect();
        (*t, near.iter().sum::<f64>() / near.len() as f64)
    };
    let points = points.iter().map(mean).collect();
    Curve { points, ..curve }
}

fn run<'a>(set: &'a ResultSet, name: &str) -> Result<&'a RunResult, String> {
    let found = set.runs.iter().find(|run| run.name == name);
    found.ok_or(format!("the result has no run \"{name}\""))
}

/// A curve of a run: seconds, and the value times `scale`.
fn curve(
    run: &RunResult,
    quantity: &str,
    flow: &str,
    scale: f64,
) -> Result<Vec<(f64, f64)>, String> {
    let mut series = run.series.iter();
    let found = series.find(|series| series.quantity == quantity && series.flow == flow);
    let found = found.ok_or(format!(
        "run \"{}\" has no curve {quantity} of \"{flow}\": --series makes one",
        run.name
    ))?;
    let values = found.value.iter().map(|value| value * scale);
    Ok(found.t_s.iter().copied().zip(values).collect())
}

impl Picture {
    /// Draws it.
    pub fn draw(&self, file: &Path, theme: &Theme) -> Result<(), Box<dyn Error>> {
        let height = TITLE + PANEL * self.panels.len() as u32 + AXIS;
        let root = SVGBackend::new(file, (WIDTH, height)).into_drawing_area();
        root.fill(&theme.paper)?;
        let title = (FONT, 19).into_font().color(&theme.ink);
        root.draw(&Text::new(self.title, (20, 14), title))?;
        let (_, below) = root.split_vertically(TITLE);
        let (panels, axis) = below.split_vertically(PANEL * self.panels.len() as u32);
        for (panel, area) in self
            .panels
            .iter()
            .zip(panels.split_evenly((self.panels.len(), 1)))
        {
            self.draw_panel(&area, theme, panel)?;
        }
        let seconds = (FONT, 14).into_font().color(&theme.ink);
        let seconds = seconds.pos(Pos::new(HPos::Center, VPos::Top));
        axis.draw(&Text::new("seconds", (WIDTH as i32 / 2, 4), seconds))?;
        root.present()?;
        Ok(())
    }

    fn draw_panel(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        theme: &Theme,
        panel: &Panel,
    ) -> Result<(), Box<dyn Error>> {
        let (from, to) = self.seconds;
        let shown = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let within = |point: &&(f64, f64)| (from..=to).contains(&point.0);
            points.iter().filter(within).copied().collect()
        };
        let curves = panel.curves.iter();
        let highest = curves
            .flat_map(|curve| shown(&curve.points))
            .map(|point| point.1)
            .fold(0.0, f64::max);
        let text = |colour: &RGBColor| (FONT, 14).into_font().color(colour);
        let mut chart = ChartBuilder::on(area)
            .margin_top(26)
            .margin_right(24)
            .margin_left(8)
            .x_label_area_size(22)
            .y_label_area_size(56)
            .build_cartesian_2d(from..to, 0.0..highest * 1.05)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(theme.grid)
            .axis_style(theme.ink)
            .label_style(text(&theme.ink))
            .x_labels(8)
            .y_labels(5)
            .x_label_formatter(&|s| format!("{s:.0}"))
            .y_label_formatter(&|y| format!("{y}"))
            .draw()?;
        area.draw(&Text::new(panel.axis, (64, 4), text(&theme.ink)))?;
        let mut right = WIDTH as i32 - 24;
        for curve in panel.curves.iter().rev() {
            let colour = theme.colour(curve.ink);
            chart.draw_series(LineSeries::new(
                shown(&curve.points),
                colour.stroke_width(2),
            ))?;
            let beside = text(&colour).pos(Pos::new(HPos::Right, VPos::Top));
            area.draw(&Text::new(curve.label.clone(), (right, 4), beside))?;
            right -= 9 * curve.label.chars().count() as i32 + 20;
        }
        Ok(())
    }
}

impl Theme {
    fn colour(&self, ink: Ink) -> RGBColor {
        match ink {
            Ink::Ours => self.ours,
            Ink::Without => self.without,
            Ink::Others => self.others,
        }
    }
}
