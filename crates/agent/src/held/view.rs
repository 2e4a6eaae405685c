//! The state of the hold's laws for a flow, for display.

use crate::{HoldView, Holding};
use tidegate_laws::{AckClocking, sys};

pub fn download(hold: &sys::tg_hold) -> HoldView {
    // SAFETY: the law only reads a live record, and of any words makes a number.
    let (bulk, here_bytes) =
        unsafe { (sys::tg_hold_is_bulk(hold) != 0, sys::tg_hold_excess(hold)) };
    // SAFETY: as above.
    let wait_us = unsafe { sys::tg_hold_rate_takes_us(&hold.rate, here_bytes.into()) };
    let sender = AckClocking::from_raw(hold.clocking.state);
    // SAFETY: as above.
    let clocked = unsafe { sys::tg_clocking_may_wait(&hold.clocking) != 0 };
    let state = match sender {
        _ if here_bytes > 0 => Holding::Held,
        _ if !bulk => Holding::NotBulk,
        _ if hold.steered.echo.rtt_us == 0 => Holding::Asked,
        Some(AckClocking::Left) => Holding::NotClocked,
        // The answer to its first signal is still awaited, too.
        _ if !clocked => Holding::Watched,
        _ => Holding::Sender,
    };
    HoldView {
        sender,
        sender_bytes: (hold.window > 0).then_some(hold.window),
        here_bytes,
        wait_us,
        signalled: hold.signals,
        ..steered(state, &hold.steered)
    }
}

pub fn upload(hold: &sys::tg_hold_up) -> HoldView {
    // SAFETY: the law only reads a live record, and of any words makes a number.
    let (bulk, holds, window, wait_us) = unsafe {
        (
            sys::tg_hold_up_is_bulk(hold) != 0,
            sys::tg_hold_up_holds(hold) != 0,
            sys::tg_hold_up_window(hold),
            sys::tg_hold_rate_takes_us(&hold.rate, hold.waiting.into()),
        )
    };
    let state = match holds && hold.waiting > 0 {
        true => Holding::Held,
        false if !bulk => Holding::NotBulk,
        false if hold.steered.echo.rtt_us == 0 => Holding::Asked,
        false => Holding::Sender,
    };
    HoldView {
        sender: AckClocking::from_raw(hold.clocking.state),
        sender_bytes: (window > 0).then_some(window),
        here_bytes: hold.waiting,
        wait_us,
        signalled: hold.signals,
        ..steered(state, &hold.steered)
    }
}

/// The part that is the same for downloads and uploads.
fn steered(state: Holding, steered: &sys::tg_steered) -> HoldView {
    let answered = steered.echo.rtt_us > 0;
    let answer = |us| answered.then_some(us);
    // SAFETY: as above.
    let queue_us = unsafe { sys::tg_echo_queue_us(&steered.echo) };
    HoldView {
        queue_us: answer(queue_us),
        rtt_us: answer(steered.echo.rtt_us),
        rtt_min_us: answer(steered.echo.floor_us),
        wanted_bytes: (steered.wanted != sys::TG_UNLIMITED).then_some(steered.wanted),
        group: (steered.member.sharing.joined != 0).then_some(steered.member.sharing.name),
        ..HoldView::without_record(state)
    }
}

#[cfg(test)]
mod tests;
