//! What came of a plan, and what of it people would ask.

use crate::call::Echo;
use serde::{Deserialize, Serialize};

/// After this a page is given up, in seconds.
pub const PATIENCE_S: f64 = 60.0;

/// A round trip with which people begin to talk into each other's words: 150 ms each way (ITU-T G.114).
pub const LATE_MS: f64 = 300.0;

/// All that the browser and the call saw.
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
    /// What people would ask of the call.
    pub call: Call,
    /// The same, while a download ran.
    pub call_beside_download: Call,
}

/// A page.
#[derive(Debug, Serialize, Deserialize)]
pub struct Page {
    /// When it was asked for.
    pub at_s: f64,
    /// Whether a download ran at that time.
    pub beside_download: bool,
    /// Until its event `load` was over; none if it was given up or did not even open.
    pub load_s: Option<f64>,
    /// Why it did not open, in the browser's words.
    pub error: Option<String>,
    /// What it consisted of, as far as the browser says.
    pub objects: Objects,
}

/// What a page consists of.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Objects {
    /// Answers by HTTP/3, from the network.
    pub h3: u32,
    /// From the browser's cache.
    pub kept: u32,
    /// That did not come.
    pub failed: u32,
    /// Bytes from the network.
    pub bytes: u64,
    /// Answers by another protocol: which. There must be none.
    pub other: Vec<String>,
}

/// A video, as the player tells.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Video {
    /// Seconds until something was shown; none if nothing was.
    pub started_s: Option<f64>,
    /// Seconds that were shown.
    pub shown_s: f64,
    /// How often it stood still.
    pub stalls: u32,
    /// For how many seconds in all, start aside.
    pub stalled_s: f64,
    /// Of what was shown.
    pub bits: f64,
    /// How often the bitrate changed.
    pub changes: u32,
    /// How often a segment had to be asked for again.
    pub failures: u32,
}

/// A download, as its page tells.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Download {
    /// That came.
    pub bytes: f64,
    /// For which it was wanted; its page does not know that.
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
    /// Quantiles of the round trips of those that came back.
    pub p50_ms: f64,
    /// The same.
    pub p95_ms: f64,
    /// The same.
    pub p99_ms: f64,
    /// Share that did not come back.
    pub lost: f64,
    /// Share that did not, or too late for a talk.
    pub lost_or_late: f64,
}

impl Call {
    /// Of these datagrams.
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

/// What people would ask of pages, videos and downloads.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Pages asked for.
    pub pages: usize,
    /// Those that were given up or did not open; they count as loaded when one is given up.
    pub pages_given_up: usize,
    /// Requests that had no answer: of all that opened pages, videos and downloads asked for.
    pub failures: u32,
    /// Until a page was loaded.
    pub page_load_p50_s: f64,
    /// The same.
    pub page_load_p95_s: f64,
    /// The same, of pages beside a download.
    pub page_load_beside_download_p50_s: Option<f64>,
    /// The same.
    pub page_load_beside_download_p95_s: Option<f64>,
    /// Of all that was shown.
    pub video_mbps: f64,
    /// How often videos stood still.
    pub video_stalls: u32,
    /// Seconds for which they did.
    pub video_stalled_s: f64,
    /// Until something was shown: the median of the videos.
    pub video_start_p50_s: f64,
    /// The longest.
    pub video_start_max_s: f64,
    /// Of all downloads.
    pub download_mbps: f64,
}

impl Seen {
    /// In a few numbers.
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
    /// One that never started has kept somebody waiting for as long as a page may.
    fn start_s(&self) -> f64 {
        self.started_s.unwrap_or(PATIENCE_S)
    }
}

/// One that was given up has kept somebody waiting until then.
fn load_times(pages: &[Page], which: impl Fn(&Page) -> bool) -> Vec<f64> {
    let wanted = pages.iter().filter(|page| which(page));
    sorted(wanted.map(|page| page.load_s.unwrap_or(PATIENCE_S)))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The smallest of sorted values that so large a share of all does not exceed.
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
