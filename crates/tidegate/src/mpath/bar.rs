//! A progress bar for a file.

use tidegate_terminal::{self as terminal, Bars};
use tidegate_transfer::Monitor;
use tidegate_transfer::file::Progress;

/// Bars of the files of one connection, one at a time.
pub struct Bar {
    bar: terminal::Bar,
    monitor: Monitor,
    /// The file.
    name: String,
}

impl Bar {
    /// A bar that shows nothing yet; on standard error, and hidden if that is no terminal.
    pub fn new(all: &Bars, monitor: Monitor) -> Self {
        let bar = terminal::Bar::new(
            0,
            "{prefix:24!} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta} {msg}",
        );
        Self {
            bar: all.add(bar),
            monitor,
            name: String::new(),
        }
    }

    /// Shows the file's progress.
    pub fn show(&mut self, progress: &Progress) {
        if self.bar.is_hidden() {
            return;
        }
        if self.name != progress.name {
            // Bytes left from an earlier try do not count for the rate.
            self.bar.reset();
            self.bar.prefix(progress.name);
            self.name = progress.name.to_owned();
            self.bar.length(progress.length);
            self.bar.position(progress.done);
            self.bar.reset_speed();
        }
        self.bar.position(progress.done);
        let paths = self.monitor.status().paths;
        let plural = if paths == 1 { "" } else { "s" };
        self.bar.message(format_args!("{paths} path{plural}"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.end();
    }
}
