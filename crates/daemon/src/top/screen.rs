//! Draws the screen: the same model and view give the same screen.

use crate::account::Way;
use crate::top::columns::{Column, LONGEST_NAME, columns, name_in};
use crate::top::details;
use crate::top::model::Model;
use crate::top::row::{DeviceRow, GroupRow, PathRow, Row as FlowRow, State, flows_in_words};

use crate::top::view::View;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};
use std::borrow::Cow;
use tidegate_agent::{Direction, RecordView};
use tidegate_terminal::shown;
use tidegate_terminal::units::{bytes, delay, duration, rate, share};

const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);
/// Height of the details in lines, with their border.
const DETAILS: u16 = 11;
/// Queues above these are worth a colour: a tenth of a second is felt, a quarter stalls a page.
const FELT_US: u32 = 100_000;
const STALLS_US: u32 = 250_000;

const KEYS: &str = "\
↑ ↓ PgUp PgDn  select a flow
Enter          why: what explains the decision about it
< >            sort by the column before, after
r              the other way round
/              filter: 443 down up steered left alone
               group3 udp quic, an interface, a part of an address or reason;
               !word for those without; Esc clears
space          pause
a              ended, idle and small flows, too
q              quit";

/// Draws the screen. `notice` is a message about the source.
pub fn draw(frame: &mut Frame, model: &Model, view: &mut View, notice: Option<&str>) {
    let rows = model.rows(&view.selection);
    let selected = view.selected(&rows);
    let area = frame.area();
    let queues = queues(model, area.width);
    let room = (queues.len() as u16).min(area.height / 3);
    let details = if view.details && area.height >= DETAILS + 8 {
        DETAILS
    } else {
        0
    };
    let [head, above, table, below, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(room),
        Constraint::Min(0),
        Constraint::Length(details),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(self::head(model, view, notice), head);
    frame.render_widget(Paragraph::new(queues), above);
    let shown = selected.filter(|_| view.has_selection());
    let by_device = model.about.by_device;
    flows(frame, table, &rows, by_device, view, shown);
    frame.render_widget(self::foot(model, view, rows.len()), foot);
    if let Some(row) = selected
        .and_then(|at| rows.get(at))
        .filter(|_| view.details)
    {
        // On a small terminal the details replace the table.
        explain(frame, if details > 0 { below } else { table }, model, row);
    }
    if view.help {
        keys(frame, area);
    }
    make_visible(frame.buffer_mut());
}

/// The library drops control characters, but draws characters that reverse the text's direction.
fn make_visible(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Cow::Owned(_) = shown(cell.symbol()) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

fn head<'a>(model: &'a Model, view: &View, notice: Option<&'a str>) -> Line<'a> {
    let about = &model.about;
    let mut spans = vec![Span::styled("tidegate ", STRONG)];
    if view.paused {
        spans.push(Span::styled(" PAUSED ", CHOSEN));
        spans.push(" ".into());
    }
    if let Some(notice) = notice {
        spans.push(Span::styled(notice, Style::new().fg(Color::Yellow)));
        spans.push("  ".into());
    }
    if model.at_us == 0 {
        return Line::from(spans);
    }
    let verb = if let Some(paused) = &about.paused {
        format!("{paused}; otherwise steers")
    } else if about.passes {
        "lets traffic pass to compare; steers".into()
    } else if about.dry_run {
        "would steer (dry run)".into()
    } else {
        "steers".into()
    };
    let up_s = model.at_us.saturating_sub(about.since_us) / 1_000_000;
    spans.push(Span::raw(format!(
        "{} {verb} {}, by {}, for {}",
        about.law,
        about.directions,
        about.hook,
        duration(up_s)
    )));
    Line::from(spans)
}

fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "↓",
        Direction::Up => "↑",
    }
}

/// Lines about hidden traffic; a line for each interface and direction, with its groups below; then the last hour's
/// account.
fn queues(model: &Model, width: u16) -> Vec<Line<'static>> {
    let lines = model.paths.iter().flat_map(|p| {
        let groups = p.groups.iter().map(|g| group(g, width));
        let devices = p.devices.iter().map(|d| device(d, p, width));
        std::iter::once(path(p, width)).chain(groups).chain(devices)
    });
    let account = &model.account;
    let late = account.ways.iter();
    let late = late.filter_map(|way| of_late(way, account.elapsed_us, width));
    // It comes first, since a small screen cuts off the end.
    let hidden = model.about.hidden.iter();
    let hidden = hidden.map(|text| Line::styled(text.clone(), Style::new().fg(Color::Yellow)));
    hidden.chain(lines).chain(late).collect()
}

/// The queueing delay over the last hour, or since the start.
fn of_late(way: &Way, elapsed_us: u64, width: u16) -> Option<Line<'static>> {
    let queue = way.queue?;
    let span = duration(elapsed_us / 1_000_000);
    let mut text = format!(
        "{} {span:<9} queue {:>6} (median), {} (95 of 100)  {}",
        arrow(way.direction),
        delay(queue.median_us),
        delay(queue.p95_us),
        bytes(way.bytes)
    );
    if let Some(compared) = &way.compared {
        let (median, p95) = (compared.without.median_us, compared.without.p95_us);
        text += &format!("  unsteered {}, {}", delay(median), delay(p95));
    }
    text = text.chars().take(width.into()).collect();
    Some(Line::styled(text, FAINT))
}

fn path(path: &PathRow, width: u16) -> Line<'static> {
    let head = format!(
        "{} {:<9} ",
        arrow(path.direction),
        name_in(&path.interface, LONGEST_NAME)
    );
    let rest = [
        format!("  {}", path.shares()),
        format!("  {} alone", path.alone),
    ];
    queue(head, path.queue_us, path.rate_bps(), rest, width)
}

fn group(group: &GroupRow, width: u16) -> Line<'static> {
    let record = &group.view.record;
    let head = format!("  {:<9} ", format!("group {}", group.view.group));
    let rest = [
        format!("  {} flows", group.view.flows),
        format!("  {}", record.state),
        format!("  lag {}", delay(record.lag_us)),
        forecast(record),
    ];
    let bps = group.rate_bps.unwrap_or(0.0);
    queue(head, record.queue_us, bps, rest, width)
}

/// A device's part of the path.
fn device(device: &DeviceRow, path: &PathRow, width: u16) -> Line<'static> {
    let bps = device.rate_bps.unwrap_or(0.0);
    let line = format!(
        "  {:<15}  {:>8}  {:>4}  {}",
        name_in(&device.label, LONGEST_NAME),
        rate(bps),
        share(bps, path.rate_bps()),
        flows_in_words(device.flows)
    );
    Line::from(line.chars().take(width.into()).collect::<String>())
}

/// A line about a queue, with as much of `rest` as fits, the most important first.
fn queue<const N: usize>(
    head: String,
    queue_us: u32,
    bps: f64,
    rest: [String; N],
    width: u16,
) -> Line<'static> {
    let mut spans = vec![
        Span::raw(head),
        Span::styled(
            format!("queue {:>6}", delay(queue_us)),
            colour(Some(queue_us)).patch(STRONG),
        ),
        Span::raw(format!("  {:>8}", rate(bps))),
    ];
    for text in rest {
        let used: usize = spans.iter().map(Span::width).sum();
        if used + text.chars().count() <= width.into() {
            spans.push(Span::raw(text));
        }
    }
    Line::from(spans)
}

fn forecast(record: &RecordView) -> String {
    match (record.lag_us, record.forecast_bytes) {
        (0, _) | (_, 0) => String::new(),
        (lag_us, bytes) => {
            let bps = bytes as f64 * 8e6 / f64::from(lag_us);
            format!("  forecast {}", rate(bps))
        }
    }
}

fn colour(queue_us: Option<u32>) -> Style {
    match queue_us {
        Some(us) if us >= STALLS_US => Style::new().fg(Color::Red),
        Some(us) if us >= FELT_US => Style::new().fg(Color::Yellow),
        _ => Style::new(),
    }
}

fn flows(
    frame: &mut Frame,
    area: Rect,
    rows: &[&FlowRow],
    by_device: bool,
    view: &View,
    selected: Option<usize>,
) {
    let columns = columns(area.width, by_device);
    let title = |(column, _): &(Column, u16)| {
        let chosen = column.order() == Some(view.selection.order);
        let mark = match (chosen, view.selection.reverse) {
            (false, _) => "",
            (true, false) => "▾",
            (true, true) => "▴",
        };
        let text = Line::from(format!("{}{mark}", column.title()));
        Cell::from(aligned(text, *column)).style(if chosen { STRONG } else { Style::new() })
    };
    let head = Row::new(columns.iter().map(title)).style(CHOSEN);
    // Build only the rows that are visible: there may be thousands.
    let room = usize::from(area.height.saturating_sub(1));
    let first = selected.map_or(0, |at| at.saturating_sub(room.saturating_sub(1)));
    let seen = rows.iter().skip(first).take(room);
    let lines = seen.map(|row| line(row, &columns));
    let widths = columns.iter().map(|(_, width)| Constraint::Length(*width));
    let table = Table::new(lines, widths)
        .header(head)
        .column_spacing(1)
        .row_highlight_style(CHOSEN);
    let mut state = TableState::new().with_selected(selected.map(|at| at - first));
    frame.render_stateful_widget(table, area, &mut state);
    if rows.is_empty() && area.height > 2 {
        let text = if view.filter.is_empty() {
            "No data of any flow has been seen of late."
        } else {
            "No flow has what the filter asks for."
        };
        let area = Rect {
            y: area.y + 2,
            height: 1,
            ..area
        };
        frame.render_widget(Paragraph::new(text).style(FAINT), area);
    }
}

fn aligned(line: Line<'_>, column: Column) -> Line<'_> {
    line.alignment(if column.is_number() {
        Alignment::Right
    } else {
        Alignment::Left
    })
}

fn line<'a>(row: &FlowRow, columns: &[(Column, u16)]) -> Row<'a> {
    let cells = columns.iter().map(|(column, width)| {
        let text = Line::from(column.cell(row, *width));
        let style = if *column == Column::Queue && row.state == State::Live {
            colour(row.queue_us())
        } else {
            Style::new()
        };
        Cell::from(aligned(text, *column)).style(style)
    });
    let dim = row.state != State::Live;
    Row::new(cells.collect::<Vec<_>>()).style(if dim { FAINT } else { Style::new() })
}

fn foot<'a>(model: &Model, view: &'a View, shown: usize) -> Line<'a> {
    if view.editing.is_some() {
        return Line::from(vec![
            Span::styled("filter: ", STRONG),
            Span::raw(view.filter.as_str()),
            Span::styled(" ", CHOSEN),
        ]);
    }
    let all = model.all().iter().filter(|row| row.bytes > 1).count();
    let mut text = format!("{shown} of {all}  ");
    if !view.filter.is_empty() {
        text += &format!("filter: {}  ", view.filter);
    }
    text += "/ filter  < > sort  space pause  Enter why  ? keys  q quit";
    Line::styled(text, FAINT)
}

fn explain(frame: &mut Frame, area: Rect, model: &Model, row: &FlowRow) {
    let lines = details::lines(model, row).into_iter().map(Line::from);
    let text = Text::from_iter(lines);
    let block = Block::new().borders(Borders::TOP).title(" Why ");
    frame.render_widget(Clear, area);
    let text = Paragraph::new(text).wrap(Wrap { trim: true });
    frame.render_widget(text.block(block), area);
}

fn keys(frame: &mut Frame, area: Rect) {
    let longest = KEYS.lines().map(|line| line.chars().count()).max();
    let width = (longest.unwrap_or(0) as u16 + 4).min(area.width);
    let height = (KEYS.lines().count() as u16 + 2).min(area.height);
    let area = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" Keys ");
    frame.render_widget(Paragraph::new(KEYS).block(block), area);
}

#[cfg(test)]
mod tests;
