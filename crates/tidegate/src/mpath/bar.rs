//! A bar for a file.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tidegate_transfer::Monitor;
use tidegate_transfer::file::{Progress, shown};

/// Bars of the files of one connection, one at a time.
pub struct Bar {
    bar: ProgressBar,
    monitor: Monitor,
    /// The file.
    name: String,
}

impl Bar {
    /// A bar that shows nothing yet; to standard error, and not at all where that is no terminal.
    pub fn new(all: &MultiProgress, monitor: Monitor) -> Self {
        let style = ProgressStyle::with_template(
            "{prefix:24!} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta} {msg}",
        );
        let bar = ProgressBar::new(0).with_style(style.expect("a template of known keys"));
        Self {
            bar: all.add(bar),
            monitor,
            name: String::new(),
        }
    }

    /// The file is so far.
    pub fn show(&mut self, progress: &Progress) {
        if self.bar.is_hidden() {
            return;
        }
        if self.name != progress.name {
            // What is there of an earlier try counts for no rate.
            self.bar.reset();
            self.bar.set_prefix(shown(progress.name));
            self.name = progress.name.to_owned();
            self.bar.set_length(progress.length);
            self.bar.set_position(progress.done);
            self.bar.reset_eta();
        }
        self.bar.set_position(progress.done);
        let paths = self.monitor.status().paths;
        let plural = if paths == 1 { "" } else { "s" };
        self.bar.set_message(format!("{paths} path{plural}"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
