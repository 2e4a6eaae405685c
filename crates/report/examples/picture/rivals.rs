//! How much of the link each contender uses, and how long a call waits beside it: the picture of `docs/rivals.md`.

use super::theme::Theme;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::Value;
use std::error::Error;
use std::io::Read;
use std::path::Path;

const WIDTH: i32 = 880;
const FONT: &str = "sans-serif";

/// Where the names end, where each kind of bar begins, and how long the longest is.
const NAMES: i32 = 250;
const USED: i32 = 260;
const USED_LONGEST: i32 = 200;
const WAITS: i32 = 540;
const WAITS_LONGEST: i32 = 240;

/// Where the first row begins, and how high rows and bars are.
const TOP: i32 = 96;
const ROW: i32 = 26;
const BAR: i32 = 16;

/// A contender's results.
pub struct Reached {
    name: String,
    used_percent: f64,
    wait_s: f64,
}

/// The study's table of all contenders' results.
pub fn read(from: impl Read) -> Result<Vec<Reached>, Box<dyn Error>> {
    let study: Value = serde_json::from_reader(from)?;
    Ok(everybody(&study).ok_or("expected the study \"rivals\" with its figure \"downloads\"")?)
}

/// The table of all contenders' results, the shortest wait first.
fn everybody(study: &Value) -> Option<Vec<Reached>> {
    let mut figures = study["figures"].as_array()?.iter();
    let figure = figures.find(|figure| figure["id"] == "downloads")?;
    let mut listings = figure["listings"].as_array()?.iter();
    let listing = listings.find(|listing| {
        listing["title"]
            .as_str()
            .is_some_and(|title| title.starts_with("What everybody reaches"))
    })?;
    let row = |row: &Value| {
        Some(Reached {
            name: row[0].as_str()?.to_owned(),
            used_percent: row[1].as_f64()?,
            wait_s: row[3].as_f64()? / 1e3,
        })
    };
    let rows: Option<Vec<_>> = listing["rows"].as_array()?.iter().map(row).collect();
    let mut rows = rows?;
    rows.sort_by(|one, other| one.wait_s.total_cmp(&other.wait_s));
    Some(rows)
}

/// A row for each contender, with a bar for use and one for the wait.
pub fn draw(file: &Path, theme: &Theme, everybody: &[Reached]) -> Result<(), Box<dyn Error>> {
    let height = TOP + ROW * everybody.len() as i32 + 16;
    let root = SVGBackend::new(file, (WIDTH as u32, height as u32)).into_drawing_area();
    root.fill(&theme.paper)?;
    let text = |size: u32| (FONT, size).into_font().color(&theme.ink);
    let title = "A call beside a download, over mobile and satellite links";
    root.draw(&Text::new(title, (20, 16), text(19)))?;
    root.draw(&Text::new(
        "of the link, the download uses",
        (USED, 62),
        text(15),
    ))?;
    root.draw(&Text::new(
        "95 % of the call's answers come within",
        (WAITS, 62),
        text(15),
    ))?;
    let slowest = everybody.iter().map(|who| who.wait_s).fold(0.0, f64::max);
    for (nth, who) in everybody.iter().enumerate() {
        let top = TOP + ROW * nth as i32;
        let ours = who.name == "tide";
        let colour = if ours { theme.ours } else { theme.others };
        let name = if ours { "Tidegate" } else { &who.name };
        let middle = top + BAR / 2;
        let beside = text(14).pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(name.to_owned(), (NAMES, middle), beside))?;
        let bars = [
            (
                USED,
                USED_LONGEST,
                who.used_percent / 100.0,
                format!("{:.0} %", who.used_percent),
            ),
            (
                WAITS,
                WAITS_LONGEST,
                who.wait_s / slowest,
                seconds(who.wait_s),
            ),
        ];
        for (left, longest, part, label) in bars {
            let right = left + (f64::from(longest) * part).round() as i32;
            root.draw(&Rectangle::new(
                [(left, top), (right, top + BAR)],
                colour.filled(),
            ))?;
            let after = text(14).pos(Pos::new(HPos::Left, VPos::Center));
            root.draw(&Text::new(label, (right + 6, middle), after))?;
        }
    }
    root.present()?;
    Ok(())
}

fn seconds(s: f64) -> String {
    format!("{s:.1} s")
}
