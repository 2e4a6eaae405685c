//! The user: carries out the plan in the client's namespace: pages, videos, downloads and call at the same time, as in
//! a household.

use crate::browser::{Browser, Late, Network, Tab, Unreachable};
use crate::call::{self, Echo, call};
use crate::outcome::{Call, Download, PATIENCE_S, Page, Seen, Video};
use crate::plan::{self, FILES_HOST, Plan, VIDEO_HOST};
use crate::stage::{Address, Folder};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest wait for the server to listen.
const SERVER_PATIENCE: Duration = Duration::from_secs(30);

/// Extra time for a script's answer, beyond the time that it asks for.
const SLACK: Duration = Duration::from_secs(30);

/// Pause before another try.
const RETRY_S: f64 = 1.0;

const MINUTE_S: f64 = 60.0;

/// Returns when a page has loaded, and its objects; null before.
const LOADED: &str = include_str!("user/loaded.js");

/// True once a page's scripts have run; null before.
const COMPLETE: &str = r#"document.readyState === "complete" || null"#;

/// Carries out the plan of the folder. Prints its progress each minute.
pub fn perform(folder: &Folder, seed: u64) -> Result<Seen> {
    let plan = folder.plan()?;
    let trust = folder.trust(SERVER_PATIENCE)?;
    let hosts: Vec<(String, String)> = Address::all(plan::hosts())
        .map(|address| (address.name, address.ip.to_string()))
        .collect();
    let network = Network {
        hosts: &hosts,
        trust: &trust,
    };
    let browser = Browser::start(&folder.profile(), &network)?;
    let version = browser.version()?;
    let [page, video, file] = [browser.tab()?, browser.tab()?, browser.tab()?];
    let household = Household {
        plan: &plan,
        start: Instant::now(),
        over: AtomicBool::new(false),
    };
    let callee = SocketAddr::new(Address::of_call().ip.into(), call::PORT);
    std::thread::scope(|scope| {
        let videos = scope.spawn(|| household.watch(&video));
        let downloads = scope.spawn(|| household.download(&file));
        let call = scope.spawn(|| {
            let (start, over) = (household.start, &household.over);
            household.unless_it_fails(|| call(callee, seed, start, over))
        });
        let pages = household.browse(&page);
        // After any error, the others end, too.
        let videos = videos.join().expect("it does not panic");
        let downloads = downloads.join().expect("it does not panic");
        household.over.store(true, Ordering::Relaxed);
        let echoes = call.join().expect("it does not panic")?;
        let is_heard = echoes.iter().any(|echo| echo.ms.is_some());
        let beside: Vec<Echo> = echoes
            .iter()
            .copied()
            .filter(|echo| plan.downloads_at(echo.at_s))
            .collect();
        // The pages' error comes last: if another part has ended the plan, there may be no page.
        let (videos, downloads, pages) = (videos?, downloads?, pages?);
        ensure!(is_heard, "nothing of the call came back");
        Ok(Seen {
            browser: version,
            pages,
            videos,
            downloads,
            call: Call::of(&echoes),
            call_beside_download: Call::of(&beside),
        })
    })
}

/// The state that all parts of a plan share.
struct Household<'a> {
    plan: &'a Plan,
    start: Instant,
    over: AtomicBool,
}

impl Household<'_> {
    /// Seconds since the start.
    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Waits until that time. False if another part has failed.
    fn wait(&self, at_s: f64) -> bool {
        const POLL_INTERVAL: Duration = Duration::from_millis(200);
        while !self.over.load(Ordering::Relaxed) {
            let left = Duration::from_secs_f64((at_s - self.now_s()).max(0.0));
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
        false
    }

    /// The result of `work`; an error ends all parts.
    fn unless_it_fails<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let result = work();
        if result.is_err() {
            self.over.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Visits one page after another.
    fn browse(&self, tab: &Tab) -> Result<Vec<Page>> {
        self.unless_it_fails(|| {
            let mut pages = Vec::new();
            let mut minute = 0.0;
            for (number, visit) in self.plan.visits.iter().enumerate() {
                if !self.wait(visit.at_s) || self.now_s() >= self.plan.seconds {
                    break;
                }
                if self.now_s() >= (minute + 1.0) * MINUTE_S {
                    minute = (self.now_s() / MINUTE_S).floor();
                    let whole = self.plan.seconds / MINUTE_S;
                    eprintln!("  minute {minute} of {whole:.0}: {} pages", pages.len());
                }
                let url = format!("https://{}/page/{number}/{}", visit.host, visit.wait_ms);
                pages.extend(self.visit(tab, &url).context(url)?);
            }
            // The plan's end also ends a page that is still loading.
            self.wait(self.plan.seconds);
            let nothing = pages.iter().all(|page| page.load_s.is_none());
            let why = pages.iter().find_map(|page| page.error.as_deref());
            ensure!(
                !nothing,
                "no page has loaded: {}",
                why.unwrap_or("too slow")
            );
            Ok(pages)
        })
    }

    /// Visits a page. None if the plan ended first, so that its load time is not known.
    fn visit(&self, tab: &Tab, url: &str) -> Result<Option<Page>> {
        let at_s = self.now_s();
        let left_s = self.plan.seconds - at_s;
        let patience = Duration::from_secs_f64(left_s.min(PATIENCE_S));
        let mut page = Page {
            at_s,
            beside_download: self.plan.downloads_at(at_s),
            load_s: None,
            error: None,
            objects: Default::default(),
        };
        let until = Instant::now() + patience;
        let opened = tab
            .open(url, patience)
            .and_then(|()| tab.wait_for(LOADED, until.saturating_duration_since(Instant::now())));
        match opened {
            Ok(loaded) => {
                page.load_s = loaded["load_s"].as_f64();
                page.objects = serde_json::from_value(loaded["objects"].clone())?;
                let other = &page.objects.other;
                ensure!(other.is_empty(), "not by HTTP/3: {}", other.join(", "));
                Ok(Some(page))
            }
            Err(error) if error.is::<Late>() => {
                tab.stop();
                Ok((left_s > PATIENCE_S).then_some(page))
            }
            Err(error) if error.is::<Unreachable>() => {
                page.error = Some(error.to_string());
                Ok(Some(page))
            }
            Err(error) => Err(error),
        }
    }

    /// Watches one video after another.
    fn watch(&self, tab: &Tab) -> Result<Vec<Video>> {
        self.unless_it_fails(|| {
            let mut videos = Vec::new();
            for (number, video) in self.plan.videos.iter().enumerate() {
                if !self.wait(video.at_s) {
                    break;
                }
                let weights = json!(video.weights);
                let ask = |now_s, left_s| format!("play({number}, {now_s}, {left_s}, {weights})");
                let until_s = video.at_s + video.watched_s;
                let name = "player";
                let mut seen: Video = self
                    .page_of(tab, VIDEO_HOST, name, until_s, ask)?
                    .unwrap_or_default();
                // The user waits for its page, too.
                seen.started_s = seen.started_s.map(|waited_s| waited_s - video.at_s);
                videos.push(seen);
            }
            Ok(videos)
        })
    }

    /// Runs one download after another.
    fn download(&self, tab: &Tab) -> Result<Vec<Download>> {
        self.unless_it_fails(|| {
            let mut downloads = Vec::new();
            for (number, download) in self.plan.downloads.iter().enumerate() {
                if !self.wait(download.at_s) {
                    break;
                }
                let ask = |_, left_s| format!("download({number}, {left_s})");
                let name = "download";
                let seen = self.page_of(tab, FILES_HOST, name, download.until_s, ask)?;
                downloads.push(Download {
                    // The time before its page was there counts, too.
                    seconds: download.until_s - download.at_s,
                    ..seen.unwrap_or_default()
                });
            }
            Ok(downloads)
        })
    }

    /// Opens the page of that name, and returns its answer to the expression of `ask`, which gets the time and the
    /// seconds left until `until_s`. None if the page did not open by then.
    fn page_of<T: serde::de::DeserializeOwned>(
        &self,
        tab: &Tab,
        host: &str,
        name: &str,
        until_s: f64,
        ask: impl FnOnce(f64, f64) -> String,
    ) -> Result<Option<T>> {
        let left = |of: &Self| Duration::from_secs_f64((until_s - of.now_s()).max(0.0));
        let url = format!("https://{host}/page/{name}/0");
        loop {
            let opened = tab
                .open(&url, left(self))
                .and_then(|()| tab.wait_for(COMPLETE, left(self)));
            match opened {
                Ok(_) => break,
                Err(error) if error.is::<Late>() => return Ok(None),
                Err(error) if error.is::<Unreachable>() => {}
                Err(error) => return Err(error.context(url)),
            }
            let again_s = self.now_s() + RETRY_S;
            if again_s >= until_s || !self.wait(again_s) {
                return Ok(None);
            }
        }
        let left_s = left(self);
        let told = tab
            .evaluate(&ask(self.now_s(), left_s.as_secs_f64()), left_s + SLACK)
            .with_context(|| url.clone())?;
        serde_json::from_value(told).map(Some).context(url)
    }
}
