//! The table of `tidegate top --once`.

use crate::top::columns::{Column, LONGEST_NAME, columns, name_in};
use crate::top::model::Model;
use crate::top::row::{PathRow, Row, flows_in_words};
use tidegate_terminal::units::{delay, duration, rate, share};
use tidegate_terminal::{Cell, Style, Table};

/// Width for output that is no terminal: room for every column.
const WIDE: u16 = 140;

/// The interfaces with their groups, and a row for each flow.
pub fn table(model: &Model, rows: &[&Row], width: Option<u16>) -> String {
    let mut text = String::new();
    for path in &model.paths {
        text += &lines(path);
    }
    for way in &model.account.ways {
        let span = duration(model.account.elapsed_us / 1_000_000);
        text += &format!("last {span}, {way}\n");
    }
    if let Some(hidden) = &model.about.hidden {
        text += &format!("{hidden}\n");
    }
    if let Some(crowded) = model.crowded() {
        text += &format!("{crowded}\n");
    }
    if rows.is_empty() {
        return text + "no data of any flow has been seen of late\n";
    }
    let columns = columns(width.unwrap_or(WIDE), model.about.by_device);
    let mut table = Table::new(Style::Plain);
    table.heads(columns.iter().map(|(c, _)| cell(c.title(), *c)));
    for row in rows {
        table.row(columns.iter().map(|(c, w)| cell(&c.cell(row, *w), *c)));
    }
    table.gap(1);
    text + &table.trimmed() + "\n"
}

fn cell(text: &str, column: Column) -> Cell {
    match column.is_number() {
        true => Cell::new(text).right(),
        false => Cell::new(text),
    }
}

/// The path's queue, and which flows share it.
fn what_passes(path: &PathRow) -> String {
    if path.rate_bps() == 0.0 && path.alone == 0 && path.groups.is_empty() {
        return "nothing passes".to_owned();
    }
    let queue = format!("queue {}, {}", delay(path.queue_us), rate(path.rate_bps()));
    let alone = (path.alone > 0).then(|| format!("{} alone", path.alone));
    let shares = Some(path.shares()).filter(|shares| !shares.is_empty());
    let said = [Some(queue), alone, shares];
    said.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn lines(path: &PathRow) -> String {
    let bps = |of: Option<f64>| of.unwrap_or(0.0);
    let (interface, direction) = (name(&path.interface), path.direction.name());
    let mut text = format!("{interface} {direction}: {}\n", what_passes(path));
    for group in &path.groups {
        text += &format!(
            "  group {}: {} flows, {}, queue {}, {}\n",
            group.view.group,
            group.view.flows,
            group.view.record.state,
            delay(group.view.record.queue_us),
            rate(bps(group.rate_bps))
        );
    }
    for device in &path.devices {
        text += &format!(
            "  {}: {}, {}, {} of it\n",
            name(&device.label),
            flows_in_words(device.flows),
            rate(bps(device.rate_bps)),
            share(bps(device.rate_bps), path.rate_bps())
        );
    }
    text
}

fn name(name: &str) -> String {
    name_in(name, LONGEST_NAME)
}
