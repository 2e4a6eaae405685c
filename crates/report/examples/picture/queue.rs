//! How long packets wait in front of the link in two runs: the picture of README's first screen.

use super::theme::Theme;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use tidegate_scenario::{ResultSet, RunResult};

const FONT: &str = "sans-serif";

/// A size of the picture, with letters that are legible where it is shown at that size.
struct Layout {
    /// Part of the file's name before the theme.
    infix: &'static str,
    size: (u32, u32),
    /// The title's lines.
    title: &'static [&'static str],
    /// Letter sizes of the title, of the statements and of the axes.
    letters: [u32; 3],
    /// Distance between two lines.
    line: i32,
    /// Number of labels on an axis.
    labels: usize,
}

/// For a screen, and for a telephone's.
const LAYOUTS: [Layout; 2] = [
    Layout {
        infix: "",
        size: (880, 400),
        title: &["How long each packet waits in front of an LTE link, during one download"],
        letters: [19, 16, 14],
        line: 25,
        labels: 7,
    },
    Layout {
        infix: "narrow-",
        size: (375, 360),
        title: &["How long each packet waits", "during one download over LTE"],
        letters: [20, 17, 16],
        line: 26,
        labels: 5,
    },
];

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

    /// Draws them in each size, with `file` naming a file.
    pub fn draw(
        &self,
        file: impl Fn(&str) -> PathBuf,
        theme: &Theme,
    ) -> Result<(), Box<dyn Error>> {
        LAYOUTS.iter().try_for_each(|layout| {
            let file = file(&format!("{}{}", layout.infix, theme.name));
            layout.draw(&file, theme, &self.without, &self.with)
        })
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

/// A run in words: its name, and how long packets waited.
fn said(label: &str, run: &RunResult) -> [String; 2] {
    let goodput: f64 = run.flows.iter().map(|flow| flow.goodput_bps).sum();
    let wait = run.link.queue_delay_ms.mean;
    let wait = match wait >= 1000.0 {
        true => format!("{:.1} s", wait / 1e3),
        false => format!("{wait:.0} ms"),
    };
    let rate = goodput / 1e6;
    [
        format!("{label}:"),
        format!("packets wait {wait} on average, at {rate:.1} Mbit/s"),
    ]
}

impl Layout {
    fn draw(
        &self,
        file: &Path,
        theme: &Theme,
        without: &RunResult,
        with: &RunResult,
    ) -> Result<(), Box<dyn Error>> {
        let curves = [(curve(without)?, theme.without), (curve(with)?, theme.ours)];
        let all = || curves.iter().flat_map(|(points, _)| points);
        let longest = all().map(|point| point.0).fold(0.0, f64::max);
        let highest = all().map(|point| point.1).fold(0.5, f64::max);
        let root = SVGBackend::new(file, self.size).into_drawing_area();
        root.fill(&theme.paper)?;
        let text = |size: u32, colour: &RGBColor| (FONT, size).into_font().color(colour);
        let axes = text(self.letters[2], &theme.ink);
        let mut top = 16;
        for (line, size, colour) in self.lines(theme, without, with) {
            root.draw(&Text::new(line, (20, top), text(size, &colour)))?;
            top += self.line;
        }
        let mut chart = ChartBuilder::on(&root)
            .margin_top(top + 10)
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
            .label_style(axes.clone())
            .x_labels(self.labels)
            .y_labels(self.labels)
            .x_label_formatter(&|s| format!("{s:.0}"))
            .y_label_formatter(&|s| format!("{s} s"))
            .x_desc("seconds since the download began")
            .axis_desc_style(axes.pos(Pos::new(HPos::Center, VPos::Center)))
            .draw()?;
        for (points, colour) in &curves {
            let points = || points.iter().copied();
            chart.draw_series(AreaSeries::new(points(), 0.0, colour.mix(0.12)))?;
            chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
        }
        root.present()?;
        Ok(())
    }

    /// Draws the text above the curves, with its letter size and colour.
    fn lines(
        &self,
        theme: &Theme,
        without: &RunResult,
        with: &RunResult,
    ) -> Vec<(String, u32, RGBColor)> {
        let [large, small, _] = self.letters;
        let title = self
            .title
            .iter()
            .map(|line| (line.to_string(), large, theme.ink));
        let runs = [
            (said("Linux as it is", without), theme.without),
            (said("with Tidegate", with), theme.ours),
        ];
        let runs = runs.into_iter().flat_map(|(said, colour)| {
            let said = match self.title.len() {
                1 => vec![said.join(" ")],
                _ => said.into(),
            };
            said.into_iter().map(move |line| (line, small, colour))
        });
        title.chain(runs).collect()
    }
}
