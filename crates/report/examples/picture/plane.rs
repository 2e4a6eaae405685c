//! How much of the links each contender uses, and how long a queue that takes: the picture of `docs/reproduction.md`,
//! from that page's table.

use super::theme::Theme;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::io::Read;
use std::path::Path;

const WIDTH: u32 = 880;
const HEIGHT: u32 = 460;
const FONT: &str = "sans-serif";

/// The heading above the table, and the first cells of its header.
const CHAPTER: &str = "### The plane";
const HEADER: &str = "| | use gained over tide, points | queue ratio to tide |";

/// Room around the points: use gained, in points, and queue ratio.
const USE: std::ops::Range<f64> = -42.0..8.0;
const QUEUE: std::ops::Range<f64> = 0.15..60.0;

/// A contender's place in the plane.
pub struct Place {
    name: String,
    /// Points of utilisation more than tide's.
    gained: f64,
    /// Mean queueing delay in multiples of tide's.
    queue: f64,
}

/// The rows of the page's table, and tide itself.
pub fn read(mut page: impl Read) -> Result<Vec<Place>, Box<dyn Error>> {
    let mut text = String::new();
    page.read_to_string(&mut text)?;
    let chapter = text.split(CHAPTER).nth(1);
    let chapter = chapter.ok_or(format!("no chapter \"{CHAPTER}\" in the page"))?;
    let lines = chapter.lines().skip_while(|line| *line != HEADER).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let rows: Option<Vec<Place>> = rows.map(place).collect();
    let mut places = rows.ok_or("a row of the table is not a name and two numbers")?;
    if places.is_empty() {
        return Err(format!("no table with the header {HEADER} below \"{CHAPTER}\"").into());
    }
    places.push(Place {
        name: "tide".into(),
        gained: 0.0,
        queue: 1.0,
    });
    Ok(places)
}

fn place(row: &str) -> Option<Place> {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let [name, gained, queue] = cells[..] else {
        return None;
    };
    Some(Place {
        name: name.to_owned(),
        gained: gained.replace('−', "-").parse().ok()?,
        queue: queue.parse().ok()?,
    })
}

/// A point for each contender: further right means more use, further down a shorter queue.
pub fn draw(file: &Path, theme: &Theme, places: &[Place]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(file, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&theme.paper)?;
    let text = |size: u32| (FONT, size).into_font().color(&theme.ink);
    let title = "130 mobile and satellite paths: use of the link, and the queue that it takes";
    root.draw(&Text::new(title, (20, 14), text(19)))?;
    let mut chart = ChartBuilder::on(&root)
        .margin_top(48)
        .margin_right(24)
        .x_label_area_size(46)
        .y_label_area_size(60)
        .build_cartesian_2d(USE, QUEUE.log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(theme.paper)
        .bold_line_style(theme.grid)
        .axis_style(theme.grid)
        .label_style(text(14))
        .x_desc("points of the link that it uses more than tide")
        .y_desc("queue, in multiples of tide's")
        .x_label_formatter(&|points| format!("{points:+.0}"))
        .y_label_formatter(&|queue| format!("{queue}"))
        .draw()?;
    for (place, upwards) in places.iter().zip(apart(places)) {
        let ours = place.name == "tide";
        let colour = if ours { theme.ours } else { theme.others };
        let radius = if ours { 8 } else { 6 };
        let at = (place.gained, place.queue);
        chart.draw_series([Circle::new(at, radius, colour.filled())])?;
        let (side, right) = match leftwards(place, places) {
            true => (HPos::Right, -8),
            false => (HPos::Left, 8),
        };
        let (vertical, down) = match upwards {
            true => (VPos::Bottom, -2),
            false => (VPos::Top, 2),
        };
        let style = text(14).pos(Pos::new(side, vertical));
        let label = Text::new(place.name.clone(), (right, down), style);
        chart.draw_series([EmptyElement::at(at) + label])?;
    }
    root.present()?;
    Ok(())
}

/// From this many points of the link on, there is room for a name to the left.
const ROOM: f64 = -25.0;

/// Whether two points are side by side, so that their names would collide.
fn close(one: &Place, other: &Place) -> bool {
    let queues = (one.queue / other.queue).max(other.queue / one.queue);
    (one.gained - other.gained).abs() < 12.0 && queues < 1.65
}

/// Whether a name goes to the left, since the nearest other point is on the right.
fn leftwards(place: &Place, places: &[Place]) -> bool {
    let nearest = |sign: f64| {
        let others = places.iter().filter(|other| close(place, other));
        let away = others.map(|other| sign * (other.gained - place.gained));
        away.filter(|points| *points > 0.0)
            .fold(f64::INFINITY, f64::min)
    };
    place.gained > ROOM && nearest(1.0) < nearest(-1.0)
}

/// Whose name is placed above its point: of two points close together the one with the longer queue, or the first of
/// equals.
fn apart(places: &[Place]) -> Vec<bool> {
    let above = |(index, place): (usize, &Place)| {
        let mut others = places.iter().enumerate();
        !others.any(|(other, them)| {
            let higher = them.queue > place.queue || (them.queue == place.queue && other < index);
            other != index && close(place, them) && higher
        })
    };
    places.iter().enumerate().map(above).collect()
}
