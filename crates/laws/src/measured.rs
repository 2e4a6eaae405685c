//! Where arrivals are measured: one place for all flows of a thread, downloads and uploads, as the kernel program has one
//! for each CPU. Nothing of an arrival may be seen in the next; whatever is left here would show that.

use crate::sys;
use std::cell::RefCell;

thread_local! {
    static MEASURED: RefCell<sys::tg_arrival> = RefCell::default();
}

/// Lends that place, as the last arrival left it.
pub(crate) fn with<R>(measure: impl FnOnce(&mut sys::tg_arrival) -> R) -> R {
    MEASURED.with_borrow_mut(measure)
}
