//! The place where arrivals are measured: one for all flows of a thread, downloads and uploads, as the kernel program
//! has one for each CPU. If a law read anything of the arrival before, tests would see it here, since nothing clears
//! the place.

use crate::sys;
use std::cell::RefCell;

thread_local! {
    static MEASURED: RefCell<sys::tg_arrival> = RefCell::default();
}

/// Lends the place, as the last arrival left it.
pub(crate) fn with<R>(measure: impl FnOnce(&mut sys::tg_arrival) -> R) -> R {
    MEASURED.with_borrow_mut(measure)
}
