//! The plan of a run: pages, videos and downloads. It depends only on the seed, not on the link.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use tidegate_basics::random::{exponential, log_normal};

/// How many sites are visited.
const SITES: usize = 8;

/// Hosts that all sites use.
const THIRD_PARTIES: [&str; 3] = ["scripts.test", "fonts.test", "ads.test"];

/// The host of the videos.
pub const VIDEO_HOST: &str = "video.test";

/// The host of the downloads.
pub const FILES_HOST: &str = "files.test";

/// Length of a segment of a video, in seconds.
pub const SEGMENT_S: u32 = 4;

/// A plan.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Its length in seconds.
    pub seconds: f64,
    /// Pages, one after another.
    pub visits: Vec<Visit>,
    /// Videos, one after another.
    pub videos: Vec<Video>,
    /// Downloads, one after another.
    pub downloads: Vec<Download>,
}

/// One page.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// When it is opened, in seconds; later if the previous page has not loaded yet.
    pub at_s: f64,
    /// Its site.
    pub host: String,
    /// Its own size.
    pub bytes: u64,
    /// The site's time to make it.
    pub wait_ms: u32,
    /// Its objects, in the order in which it names them.
    pub objects: Vec<Object>,
}

/// An object of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Its address.
    pub url: String,
    /// Its kind.
    pub kind: Kind,
    /// The script or style that loads it, by its place in the list, if it is not the page itself.
    pub by: Option<usize>,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A style sheet, which blocks drawing until it is there.
    Style,
    /// A script, which blocks the rest of the page until it has run.
    Script,
    /// A script that runs when it is there.
    LateScript,
    /// A picture, or a font, which has about the same size.
    Image,
    /// Data that a script fetches.
    Data,
}

/// One video.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Video {
    /// When it is started, in seconds.
    pub at_s: f64,
    /// How long it is watched, in seconds.
    pub watched_s: f64,
    /// Size of each segment, relative to that of its bitrate.
    pub weights: Vec<f64>,
}

/// One download.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Download {
    /// When it begins.
    pub at_s: f64,
    /// When it is cut off.
    pub until_s: f64,
}

/// How many objects of a kind a page has, how large they are, and on which hosts. Together they resemble a desktop page
/// of the HTTP Archive's Web Almanac of 2024, whose median has 2.7 MB and 71 requests; with these deviations a few
/// objects have most of the bytes, as there.
struct Share {
    kind: Kind,
    count: usize,
    bytes: f64,
    deviation: f64,
    /// Share that all pages of the site have, and that a browser caches.
    of_site: f64,
    /// Share that scripts or styles load.
    late: f64,
    /// Share from third-party hosts.
    foreign: f64,
}

const SHARES: [Share; 6] = [
    share(Kind::Style, 7, 6e3, 1.0, 0.8, 0.0, 0.1),
    share(Kind::Script, 6, 15e3, 1.0, 0.8, 0.0, 0.2),
    share(Kind::LateScript, 16, 17e3, 1.2, 0.6, 0.0, 0.6),
    share(Kind::Image, 20, 21e3, 1.3, 0.1, 0.3, 0.1),
    // Fonts, which styles load.
    share(Kind::Image, 4, 30e3, 0.4, 0.9, 1.0, 0.7),
    share(Kind::Data, 12, 1.5e3, 1.0, 0.0, 1.0, 0.6),
];

const fn share(
    kind: Kind,
    count: usize,
    bytes: f64,
    deviation: f64,
    of_site: f64,
    late: f64,
    foreign: f64,
) -> Share {
    Share {
        kind,
        count,
        bytes,
        deviation,
        of_site,
        late,
        foreign,
    }
}

/// Median of a page's own size, and of its site's time to make it.
const PAGE_BYTES: f64 = 30e3;
const PAGE_WAIT_MS: f64 = 80.0;

/// Median of the time from one page to the next.
const VISIT_S: f64 = 12.0;

/// Median of the time for which a video is watched; mean of the pause to the next.
const VIDEO_S: f64 = 120.0;
const VIDEO_PAUSE_S: f64 = 20.0;

/// Median length of a download; mean of the pause to the next.
const DOWNLOAD_S: f64 = 45.0;
const DOWNLOAD_PAUSE_S: f64 = 75.0;

/// The names of all hosts, in the order of their addresses.
pub fn hosts() -> Vec<String> {
    let sites = (0..SITES).flat_map(|site| [own(site), still(site)]);
    let others = THIRD_PARTIES.into_iter().chain([VIDEO_HOST, FILES_HOST]);
    sites.chain(others.map(str::to_owned)).collect()
}

/// The host of a site's pages.
fn own(site: usize) -> String {
    format!("www.site-{site}.test")
}

/// The host of a site's pictures and scripts.
fn still(site: usize) -> String {
    format!("static.site-{site}.test")
}

impl Plan {
    /// The plan for that seed.
    pub fn new(seed: u64, seconds: f64) -> Self {
        let generator = |stream: u64| Pcg64Mcg::seed_from_u64(seed.wrapping_mul(4) + stream);
        Self {
            seconds,
            visits: visits(&mut generator(0), seconds),
            videos: videos(&mut generator(1), seconds),
            downloads: downloads(&mut generator(2), seconds),
        }
    }

    /// Whether a download runs at that time.
    pub fn downloads_at(&self, at_s: f64) -> bool {
        let runs = |download: &Download| (download.at_s..download.until_s).contains(&at_s);
        self.downloads.iter().any(runs)
    }
}

fn visits(rng: &mut Pcg64Mcg, seconds: f64) -> Vec<Visit> {
    let kept: Vec<Vec<Object>> = (0..SITES).map(|site| of_site(rng, site)).collect();
    let mut visits = Vec::new();
    let mut at_s = 1.0;
    while at_s < seconds {
        let site = popular(rng);
        visits.push(visit(rng, at_s, site, visits.len(), &kept[site]));
        at_s += (VISIT_S * log_normal(rng, 0.6)).clamp(3.0, 60.0);
    }
    visits
}

/// A random site: the n-th with a probability proportional to 1/n (Zipf).
fn popular(rng: &mut Pcg64Mcg) -> usize {
    let weight = |site: usize| (site as f64 + 1.0).recip();
    let mut left = rng.random::<f64>() * (0..SITES).map(weight).sum::<f64>();
    let found = (0..SITES).find(|&site| {
        left -= weight(site);
        left < 0.0
    });
    found.unwrap_or(SITES - 1)
}

/// The objects that all pages of a site have.
fn of_site(rng: &mut Pcg64Mcg, site: usize) -> Vec<Object> {
    let mut objects = Vec::new();
    for share in &SHARES {
        let count = (share.count as f64 * share.of_site).round() as usize;
        objects.extend((0..count).map(|n| object(rng, share, site, &format!("all/{n}?keep"))));
    }
    objects
}

fn visit(rng: &mut Pcg64Mcg, at_s: f64, site: usize, number: usize, kept: &[Object]) -> Visit {
    let mut objects = kept.to_vec();
    // Some pages are short, others long.
    let length = log_normal(rng, 0.5).clamp(0.2, 4.0);
    for share in &SHARES {
        let count = share.count as f64 * (1.0 - share.of_site) * length;
        for n in 0..count.round() as usize {
            objects.push(object(rng, share, site, &format!("{number}/{n}")));
        }
    }
    objects.sort_by_key(|object| object.kind as u8);
    ask_late(rng, &mut objects);
    Visit {
        at_s,
        host: own(site),
        bytes: (PAGE_BYTES * log_normal(rng, 0.7)).clamp(5e3, 3e5) as u64,
        wait_ms: (PAGE_WAIT_MS * log_normal(rng, 0.6)).min(1e3) as u32,
        objects,
    }
}

/// An object of the page itself; or one that a script or style will load, whose `by` is not a valid place yet.
fn object(rng: &mut Pcg64Mcg, share: &Share, site: usize, rest: &str) -> Object {
    let host = match rng.random::<f64>() < share.foreign {
        true => THIRD_PARTIES[rng.random_range(0..THIRD_PARTIES.len())].to_owned(),
        false => still(site),
    };
    let folder = match share.kind {
        Kind::Style => "style",
        Kind::Script | Kind::LateScript => "script",
        Kind::Image => "image",
        Kind::Data => "data",
    };
    let bytes = (share.bytes * log_normal(rng, share.deviation)).clamp(200.0, 2e6);
    let late = rng.random::<f64>() < share.late;
    Object {
        url: format!("https://{host}/{folder}/{bytes:.0}/{site}/{rest}"),
        kind: share.kind,
        by: late.then_some(usize::MAX),
    }
}

/// Chooses a script or style for each object that is loaded late.
fn ask_late(rng: &mut Pcg64Mcg, objects: &mut [Object]) {
    let asks = |object: &Object| matches!(object.kind, Kind::Style | Kind::LateScript);
    let askers: Vec<usize> = (0..objects.len()).filter(|&n| asks(&objects[n])).collect();
    for object in objects.iter_mut().filter(|object| object.by.is_some()) {
        object.by = (!askers.is_empty()).then(|| askers[rng.random_range(0..askers.len())]);
    }
}

fn videos(rng: &mut Pcg64Mcg, seconds: f64) -> Vec<Video> {
    let mut videos = Vec::new();
    let mut at_s = 5.0;
    // The last one is watched for long enough to count.
    while at_s + 30.0 < seconds {
        let watched_s = (VIDEO_S * log_normal(rng, 0.6)).clamp(30.0, 900.0);
        let watched_s = watched_s.min(seconds - at_s);
        // More than can be shown, plus the player's buffer.
        let segments = watched_s as usize / SEGMENT_S as usize + 12;
        videos.push(Video {
            at_s,
            watched_s,
            weights: (0..segments)
                .map(|_| log_normal(rng, 0.25).clamp(0.4, 2.0))
                .collect(),
        });
        at_s += watched_s + (VIDEO_PAUSE_S * exponential(rng)).max(2.0);
    }
    videos
}

fn downloads(rng: &mut Pcg64Mcg, seconds: f64) -> Vec<Download> {
    let mut downloads = Vec::new();
    let mut at_s = 20.0;
    while at_s + 10.0 < seconds {
        let length = (DOWNLOAD_S * log_normal(rng, 0.6)).clamp(10.0, 300.0);
        let until_s = (at_s + length).min(seconds);
        downloads.push(Download { at_s, until_s });
        at_s = until_s + (DOWNLOAD_PAUSE_S * exponential(rng)).max(5.0);
    }
    downloads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_tells_the_plan() {
        assert_eq!(Plan::new(3, 600.0), Plan::new(3, 600.0));
        assert_ne!(Plan::new(3, 600.0).visits, Plan::new(4, 600.0).visits);
    }

    #[test]
    fn pages_are_as_large_as_those_of_people() {
        let plan = Plan::new(1, 36_000.0);
        let bytes = |object: &Object| -> f64 {
            let size = object.url.split('/').nth(4).unwrap();
            size.parse().unwrap()
        };
        let whole = |v: &Visit| v.bytes as f64 + v.objects.iter().map(bytes).sum::<f64>();
        let pages = plan.visits.len() as f64;
        let mean_bytes = plan.visits.iter().map(whole).sum::<f64>() / pages;
        let requests: usize = plan.visits.iter().map(|v| v.objects.len() + 1).sum();
        let requests = requests as f64 / pages;
        assert!((1.8e6..3.2e6).contains(&mean_bytes), "{mean_bytes}");
        assert!((60.0..85.0).contains(&requests), "{requests}");
    }

    #[test]
    fn what_is_asked_for_late_has_an_asker() {
        let plan = Plan::new(1, 600.0);
        for visit in &plan.visits {
            for by in visit.objects.iter().filter_map(|object| object.by) {
                let asker = &visit.objects[by];
                assert!(asker.by.is_none());
                assert!(matches!(asker.kind, Kind::Style | Kind::LateScript));
            }
        }
    }

    #[test]
    fn nothing_lasts_longer_than_the_plan() {
        let plan = Plan::new(5, 300.0);
        assert!(plan.downloads.iter().all(|d| d.until_s <= 300.0));
        assert!(plan.videos.iter().all(|v| v.at_s + v.watched_s <= 300.0));
        assert!(!plan.videos.is_empty() && !plan.downloads.is_empty());
    }
}
