//! The results of a plan, and a summary of what matters to users.

use crate::call::Echo;
use serde::{Deserialize, Serialize};

/// The time after which a page is given up, in seconds.
pub const PATIENCE_S: f64 = 60.0;

/// A round trip with which people begin to interrupt each other: 150 ms each way (ITU-T G.114).
pub const LATE_MS: f64 = 300.0;

/// Everything that the browser and the call recorded.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Name and version of the browser.
    pub browser: String,
    /// Each page.
    pub pages: Vec<Page>,
    /// Each video.
    pub videos: Vec<Video>,
    /// Each download.
    pub downloads: Vec<Download>,
    /// The call's results.
    pub call: Call,
    /// The call's results while a download ran.
    pub call_beside_download: Call,
}

/// A page.
#[derive(Debug, Serialize, Deserialize)]
pub struct Page {
    /// When it was asked for.
    pub at_s: f64,
    /// Whether a download ran at that time.
    pub beside_download: bool,
    /// Seconds until its event `load` was over; none if it was given up or did not open.
    pub load_s: Option<f64>,
    /// Why it did not open, in the browser's words.
    pub error: Option<String>,
    /// Its objects, as far as the browser tells.
    pub objects: Objects,
}

/// The objects of a page.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Objects {
    /// Answers by HTTP/3, from the network.
    pub h3: u32,
    /// Answers from the browser's cache.
    pub kept: u32,
    /// Objects that did not come.
    pub failed: u32,
    /// Bytes from the network.
    pub bytes: u64,
    /// The protocols of other answers. There must be none.
    pub other: Vec<String>,
}

/// A video, as the player reports it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Video {
    /// Seconds until something was shown; none if nothing was.
    pub started_s: Option<f64>,
    /// Seconds that were shown.
    pub shown_s: f64,
    /// How often it stalled.
    pub stalls: u32,
    /// Seconds of all stalls, without the start.
    pub stalled_s: f64,
    /// Bits of the segments that were shown.
    pub bits: f64,
    /// How often the bitrate changed.
    pub changes: u32,
    /// How often a segment had to be asked for again.
    pub failures: u32,
}

/// A download, as its page reports it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Download {
    /// Received bytes.
    pub bytes: f64,
    /// Its intended length in seconds, which its page does not know.
    #[serde(default)]
    pub seconds: f64,
    /// How often it had to be asked for again.
    pub failures: u32,
}

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Datagrams.
    pub sent: usize,
    /// Median round trip of those that came back.
    pub p50_ms: f64,
    /// 95th percentile of these round trips.
    pub p95_ms: f64,
    /// 99th percentile of these round trips.
    pub p99_ms: f64,
    /// Share that did not come back.
    pub lost: f64,
    /// Share that did not come back, or too late for a conversation.
    pub lost_or_late: f64,
}

impl Call {
    /// The results of these datagrams.
    pub fn of(echoes: &[Echo]) -> Self {
        let mut ms: Vec<f64> = echoes.iter().filter_map(|echo| echo.ms).collect();
        ms.sort_by(f64::total_cmp);
        let share = |count: usize| count as f64 / echoes.len().max(1) as f64;
        let in_time = ms.partition_point(|&ms| ms <= LATE_MS);
        let at = |quantile| quantile_of(&ms, quantile).unwrap_or_default();
        Self {
            sent: echoes.len(),
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            lost: share(echoes.len() - ms.len()),
            lost_or_late: share(echoes.len() - in_time),
        }
    }
}

/// What matters to users about pages, videos and downloads.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Pages asked for.
    pub pages: usize,
    /// Those that were given up or did not open; they count with the time after which a page is given up.
    pub pages_given_up: usize,
    /// Requests of opened pages, videos and downloads without an answer.
    pub failures: u32,
    /// Median time until a page was loaded.
    pub page_load_p50_s: f64,
    /// 95th percentile of that time.
    pub page_load_p95_s: f64,
    /// Median for pages beside a download.
    pub page_load_beside_download_p50_s: Option<f64>,
    /// 95th percentile for pages beside a download.
    pub page_load_beside_download_p95_s: Option<f64>,
    /// Mean bitrate of the shown video.
    pub video_mbps: f64,
    /// How often videos stalled.
    pub video_stalls: u32,
    /// Seconds of all stalls.
    pub video_stalled_s: f64,
    /// Median time until a video started.
    pub video_start_p50_s: f64,
    /// The longest time until a video started.
    pub video_start_max_s: f64,
    /// Goodput of all downloads.
    pub download_mbps: f64,
}

impl Seen {
    /// The summary.
    pub fn summary(&self) -> Summary {
        let all = load_times(&self.pages, |_| true);
        let beside = load_times(&self.pages, |page| page.beside_download);
        let starts = sorted(self.videos.iter().map(Video::start_s));
        let sum = |of: fn(&Video) -> f64| self.videos.iter().map(of).sum::<f64>();
        let bytes: f64 = self.downloads.iter().map(|download| download.bytes).sum();
        let seconds: f64 = self.downloads.iter().map(|download| download.seconds).sum();
        Summary {
            pages: all.len(),
            pages_given_up: self.pages.iter().filter(|p| p.load_s.is_none()).count(),
            failures: self.failures(),
            page_load_p50_s: quantile_of(&all, 0.5).unwrap_or_default(),
            page_load_p95_s: quantile_of(&all, 0.95).unwrap_or_default(),
            page_load_beside_download_p50_s: quantile_of(&beside, 0.5),
            page_load_beside_download_p95_s: quantile_of(&beside, 0.95),
            video_mbps: sum(|v| v.bits) / sum(|v| v.shown_s).max(1e-9) * 1e-6,
            video_stalls: self.videos.iter().map(|video| video.stalls).sum(),
            video_stalled_s: sum(|v| v.stalled_s),
            video_start_p50_s: quantile_of(&starts, 0.5).unwrap_or_default(),
            video_start_max_s: quantile_of(&starts, 1.0).unwrap_or_default(),
            download_mbps: bytes * 8e-6 / seconds.max(1e-9),
        }
    }
}

impl Seen {
    fn failures(&self) -> u32 {
        let pages = self.pages.iter().map(|page| page.objects.failed);
        let videos = self.videos.iter().map(|video| video.failures);
        let downloads = self.downloads.iter().map(|download| download.failures);
        pages.chain(videos).chain(downloads).sum()
    }
}

impl Video {
    /// A video that never started counts with the time after which a page is given up.
    fn start_s(&self) -> f64 {
        self.started_s.unwrap_or(PATIENCE_S)
    }
}

/// A page that was given up counts with the time until then.
fn load_times(pages: &[Page], which: impl Fn(&Page) -> bool) -> Vec<f64> {
    let wanted = pages.iter().filter(|page| which(page));
    sorted(wanted.map(|page| page.load_s.unwrap_or(PATIENCE_S)))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The smallest of sorted values that this share of all does not exceed.
fn quantile_of(sorted: &[f64], share: f64) -> Option<f64> {
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile_of(&values, 0.5), Some(50.0));
        assert_eq!(quantile_of(&values, 0.99), Some(99.0));
        assert_eq!(quantile_of(&values, 1.0), Some(100.0));
        assert_eq!(quantile_of(&values[..1], 0.01), Some(1.0));
        assert_eq!(quantile_of(&[], 0.5), None);
    }

    #[test]
    fn what_is_lost_is_late_too() {
        let echo = |ms| Echo { at_s: 0.0, ms };
        let call = Call::of(&[
            echo(Some(50.0)),
            echo(Some(301.0)),
            echo(None),
            echo(Some(60.0)),
        ]);
        assert_eq!((call.lost, call.lost_or_late), (0.25, 0.5));
        assert_eq!((call.p50_ms, call.p99_ms), (60.0, 301.0));
        assert_eq!(Call::of(&[]), Call::default());
    }
}
