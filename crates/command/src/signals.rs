//! Interrupts: the first signal asks for an orderly end, the second ends the process.

use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that is set by SIGINT, SIGTERM and SIGHUP.
///
/// # Errors
/// If the kernel refuses a handler.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    stop_on(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP])
}

/// A flag that is set by SIGINT and SIGTERM, and another that each SIGHUP sets again.
///
/// # Errors
/// If the kernel refuses a handler.
pub fn stop_and_reload_flags() -> Result<[Arc<AtomicBool>; 2]> {
    let reload = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(libc::SIGHUP, Arc::clone(&reload)).context("catch signals")?;
    Ok([stop_on(&[libc::SIGINT, libc::SIGTERM])?, reload])
}

fn stop_on(signals: &[i32]) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for &signal in signals {
        // Order matters: only the second signal finds the flag already set.
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("catch signals")?;
    }
    Ok(stop)
}
