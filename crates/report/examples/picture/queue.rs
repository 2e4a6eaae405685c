//! How long packets wait in front of the link in two runs: the picture of README's first screen.

use super::theme::Theme;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::io::Read;
use std::path::Path;
use tidegate_scenario::{ResultSet, RunResult};

const WIDTH: u32 = 880;
const HEIGHT: u32 = 400;
const FONT: &str = "sans-serif";

/// Two runs, without Tidegate and with it.
pub struct Runs {
    without: RunResult,
    with: RunResult,
}

impl Runs {
    /// The first and the last run of a result.
    pub fn read(from: impl Read) -> Result<Self, Box<dyn Error>> {
        let set: ResultSet = serde_json::from_reader(from)?;
        let (Some(without), Some(with)) = (set.runs.first(), set.runs.last()) else {
            return Err("a result without runs".into());
        };
        Ok(Self {
            without: without.clone(),
            with: with.clone(),
        })
    }

    /// Draws them.
    pub fn draw(&self, file: &Path, theme: &Theme) -> Result<(), Box<dyn Error>> {
        draw(file, theme, &self.without, &self.with)
    }
}

/// Seconds since the start, and seconds that packets stood in the queue then.
fn curve(run: &RunResult) -> Result<Vec<(f64, f64)>, String> {
    let mut series = run.series.iter();
    let found = series.find(|series| series.quantity == "queue_delay_ms" && series.flow.is_empty());
    let found = found.ok_or(format!(
        "run \"{}\" has no curve of its queue: --series makes one",
        run.name
    ))?;
    Ok(found
        .t_s
        .iter()
        .copied()
        .zip(found.value.iter().map(|ms| ms / 1e3))
        .collect())
}

/// What a run was like, in words.
fn said(label: &str, run: &RunResult) -> String {
    let goodput: f64 = run.flows.iter().map(|flow| flow.goodput_bps).sum();
    let wait = run.link.queue_delay_ms.mean;
    let wait = match wait >= 1000.0 {
        true => format!("{:.1} s", wait / 1e3),
        false => format!("{wait:.0} ms"),
    };
    format!(
        "{label}: packets wait {wait} on average, at {:.1} Mbit/s",
        goodput / 1e6
    )
}

fn draw(
    file: &Path,
    theme: &Theme,
    without: &RunResult,
    with: &RunResult,
) -> Result<(), Box<dyn Error>> {
    let curves = [(curve(without)?, theme.without), (curve(with)?, theme.ours)];
    let all = || curves.iter().flat_map(|(points, _)| points);
    let longest = all().map(|point| point.0).fold(0.0, f64::max);
    let highest = all().map(|point| point.1).fold(0.5, f64::max);
    let root = SVGBackend::new(file, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&theme.paper)?;
    let text = |size: u32, colour: &RGBColor| (FONT, size).into_font().color(colour);
    let title = "How long each packet waits in front of an LTE link, during one download";
    root.draw(&Text::new(title, (20, 16), text(19, &theme.ink)))?;
    root.draw(&Text::new(
        said("Linux as it is", without),
        (20, 46),
        text(16, &theme.without),
    ))?;
    root.draw(&Text::new(
        said("with Tidegate", with),
        (20, 70),
        text(16, &theme.ours),
    ))?;
    let mut chart = ChartBuilder::on(&root)
        .margin_top(104)
        .margin_right(24)
        .margin_bottom(8)
        .margin_left(8)
        .x_label_area_size(42)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..longest, 0.0..highest * 1.02)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(theme.grid)
        .axis_style(theme.ink)
        .label_style(text(14, &theme.ink))
        .x_labels(7)
        .y_labels(7)
        .x_label_formatter(&|s| format!("{s:.0}"))
        .y_label_formatter(&|s| format!("{s} s"))
        .x_desc("seconds since the download began")
        .axis_desc_style(text(14, &theme.ink).pos(Pos::new(HPos::Center, VPos::Center)))
        .draw()?;
    for (points, colour) in &curves {
        chart.draw_series(AreaSeries::new(
            points.iter().copied(),
            0.0,
            colour.mix(0.12),
        ))?;
        chart.draw_series(LineSeries::new(
            points.iter().copied(),
            colour.stroke_width(2),
        ))?;
    }
    root.present()?;
    Ok(())
}
