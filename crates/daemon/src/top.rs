//! `tidegate top`: flows by queueing delay, and what limits each.

mod args;
mod columns;
mod counters;
mod details;
mod filter;
pub mod model;
mod names;
mod once;
pub mod order;
pub mod report;
pub mod row;
mod screen;
mod sharing;
mod source;
mod view;

pub use columns::ALL as COLUMNS;

#[cfg(test)]
mod tests;

use anyhow::{Context, Result};
pub use args::TopArgs;
use model::Model;
use names::Names;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::terminal;
use report::Report;
use source::Source;
use std::io::IsTerminal;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tidegate_command::exit::BadInput;
use tidegate_command::signals;
use tidegate_terminal::warn;
use view::{Action, View};

/// How quickly `top` notices an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Runs `tidegate top`.
pub fn run(args: &TopArgs) -> Result<()> {
    let on_screen = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !args.once && !args.json && !on_screen {
        let hint =
            "standard input and output are no terminal, expected --once or --json without one";
        return Err(BadInput(hint.into()).into());
    }
    let stop = signals::stop_flag()?;
    let mut source = Source::open(args)?;
    if args.once || args.json {
        return print(args, &mut source, &stop);
    }
    let mut terminal = ratatui::try_init().context("set up the terminal")?;
    let outcome = interact(args, &mut terminal, &mut source, &stop);
    ratatui::restore();
    outcome
}

/// Prints tables or JSON on standard output, without a screen.
fn print(args: &TopArgs, source: &mut Source, stop: &AtomicBool) -> Result<()> {
    if let Some(notice) = source.notice() {
        warn(format_args!("tidegate: {notice}"));
    }
    let interval = Duration::from_secs_f64(args.interval);
    let view = View::new(args.sort, &args.filter, args.all);
    let names = Names::start(args.names)?;
    let mut model = Model::default();
    // A rate takes two looks.
    model.update(source.snapshot()?);
    names.give(&mut model, &view.selection);
    loop {
        if !sleep(interval, stop) {
            return Ok(());
        }
        model.update(source.snapshot()?);
        names.give(&mut model, &view.selection);
        let rows = model.rows(&view.selection);
        if args.json {
            Report::new(&model, &rows).print()?;
        } else {
            let width = terminal::size().ok().map(|(width, _)| width);
            let width = width.filter(|_| std::io::stdout().is_terminal());
            write!(
                tidegate_terminal::out(),
                "{}",
                once::table(&model, &rows, width)
            )?;
        }
        if args.once {
            return Ok(());
        }
    }
}

/// Sleeps; false if it was interrupted.
fn sleep(interval: Duration, stop: &AtomicBool) -> bool {
    let end = Instant::now() + interval;
    while !stop.load(Ordering::Relaxed) {
        let rest = end.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return true;
        }
        std::thread::sleep(rest.min(POLL_INTERVAL));
    }
    false
}

fn interact(
    args: &TopArgs,
    terminal: &mut DefaultTerminal,
    source: &mut Source,
    stop: &AtomicBool,
) -> Result<()> {
    let interval = Duration::from_secs_f64(args.interval);
    let mut view = View::new(args.sort, &args.filter, args.all);
    let names = Names::start(args.names)?;
    let mut model = Model::default();
    let mut trouble = None;
    let mut next = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if Instant::now() >= next {
            next = Instant::now() + interval;
            if !view.paused {
                match source.snapshot() {
                    Ok(snapshot) => {
                        model.update(snapshot);
                        names.give(&mut model, &view.selection);
                        trouble = None;
                    }
                    Err(error) => trouble = Some(format!("{error:#}")),
                }
            }
        }
        let notice = trouble.as_deref().or(source.notice());
        terminal.draw(|frame| screen::draw(frame, &model, &mut view, notice))?;
        if await_key(&mut view, &model, next, stop)? == Action::Quit {
            break;
        }
    }
    Ok(())
}

/// Waits for a key that calls for a new drawing, or until it is time for the next look.
fn await_key(view: &mut View, model: &Model, next: Instant, stop: &AtomicBool) -> Result<Action> {
    while !stop.load(Ordering::Relaxed) {
        let rest = next.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            break;
        }
        if !is_there(rest.min(POLL_INTERVAL))? {
            return Ok(Action::Quit);
        }
        if !event::poll(Duration::ZERO)? {
            continue;
        }
        return Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => view.key(key, model),
            _ => Action::Stay,
        });
    }
    Ok(Action::Stay)
}

/// Waits for input, for at most this long. False if the terminal has gone: crossterm would read from it for ever (its
/// issue 793).
fn is_there(at_most: Duration) -> Result<bool> {
    let stdin = std::io::stdin();
    let mut input = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(at_most).unwrap_or(PollTimeout::ZERO);
    match poll(&mut input, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error).context("wait for a key"),
    }
    let gone = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    Ok(!input[0].revents().is_some_and(|seen| seen.intersects(gone)))
}
