//! A browser without a screen, for tests of pages: Debian's Chromium, driven by the DevTools protocol over a pair of
//! pipes.
//!
//! <https://chromedevtools.github.io/devtools-protocol/>

use crate::skipped;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Programs that can be driven, the smallest first.
const PROGRAMS: [&str; 3] = ["chromium-headless-shell", "chromium", "chromium-browser"];

/// Hands the pipes over as descriptors 3 and 4, as `--remote-debugging-pipe` expects.
const HAND_OVER: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// The script that audits a page.
const AUDIT: &str = include_str!("browser/audit.js");

/// The longest wait for a page: other tests may take the processors.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A browser with one page; it ends with this value.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    asked: u64,
    requests: Vec<String>,
    problems: Vec<String>,
    _profile: TempDir,
}

/// The screen on which a page is shown.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// Whether dark colours are preferred.
    pub dark: bool,
}

impl Screen {
    /// A phone and a desk, in light and dark colours.
    pub const ALL: [Self; 4] = [
        Self::new(400, 800, false),
        Self::new(400, 800, true),
        Self::new(1280, 900, false),
        Self::new(1280, 900, true),
    ];

    const fn new(width: u32, height: u32, dark: bool) -> Self {
        Self {
            width,
            height,
            dark,
        }
    }

    /// Its name, for files.
    #[must_use]
    pub fn name(self) -> String {
        format!(
            "{}-{}",
            self.width,
            if self.dark { "dark" } else { "light" }
        )
    }
}

impl Browser {
    /// Starts a browser in the calling thread's namespace. None if none is installed; then says that the test is
    /// skipped.
    ///
    /// # Panics
    /// If a browser is installed but does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |name: &&str| std::env::split_paths(&path).any(|f| f.join(name).is_file());
        let Some(program) = PROGRAMS.into_iter().find(is_there) else {
            skipped("needs a browser (Debian package chromium-headless-shell)");
            return None;
        };
        let profile = TempDir::new().expect("a folder");
        let mut child = Command::new("sh")
            .args(["-c", HAND_OVER, "sh", program])
            .args(["--headless", "--remote-debugging-pipe", "--no-first-run"])
            // Root cannot use the sandbox, and the pages are our own.
            .args(["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut browser = Self {
            to: child.stdin.take().expect("it was asked for"),
            from: BufReader::new(child.stdout.take().expect("it was asked for")),
            child,
            session: None,
            asked: 0,
            requests: Vec::new(),
            problems: Vec::new(),
            _profile: profile,
        };
        let page = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let to = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", to)["sessionId"].clone();
        browser.session = session.as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sets the screen for pages from now on.
    pub fn look_at(&mut self, screen: Screen) {
        let Screen {
            width,
            height,
            dark,
        } = screen;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700 });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// Opens that page, and waits until it has loaded. Forgets earlier requests and problems.
    ///
    /// # Panics
    /// If it cannot be opened.
    pub fn open(&mut self, url: &str) {
        self.requests.clear();
        self.problems.clear();
        let opened = self.ask("Page.navigate", json!({ "url": url }));
        assert!(opened["errorText"].is_null(), "{url}: {opened}");
        self.wait_for("document.readyState === 'complete'");
    }

    /// The value of an expression.
    ///
    /// # Panics
    /// If it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let ask = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.ask("Runtime.evaluate", ask);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {thrown}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// If it does not become true within two minutes.
    pub fn wait_for(&mut self, expression: &str) {
        let until = Instant::now() + TIMEOUT;
        while self.evaluate(expression) != Value::Bool(true) {
            let problems = &self.problems;
            assert!(Instant::now() < until, "not so: {expression}; {problems:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What is wrong with the page as it is shown: too wide, cut off, without a name, hard to read, or an error.
    pub fn audit(&mut self) -> Vec<String> {
        let found = self.evaluate(AUDIT);
        let found = found.as_array().into_iter().flatten();
        let found = found.filter_map(|complaint| complaint.as_str().map(str::to_owned));
        let mut found: Vec<_> = found.collect();
        found.extend(self.problems.iter().cloned());
        found
    }

    /// The page's requests.
    pub fn requests(&self) -> &[String] {
        &self.requests
    }

    /// The browser's complaints: errors of scripts, failed loads, violations of the page's content policy.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Draws the whole page into a PNG file.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn draw(&mut self, path: &Path) {
        let whole = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.ask("Page.captureScreenshot", whole);
        let picture = picture["data"].as_str().unwrap_or_default().as_bytes();
        let picture = data_encoding::BASE64.decode(picture).expect("Base64");
        fs::write(path, picture).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Draws it into the folder of `TIDEGATE_PICTURES`, if that is set.
    pub fn draw_if_wanted(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("TIDEGATE_PICTURES") {
            self.draw(&Path::new(&folder).join(format!("{name}.png")));
        }
    }

    /// Sends a command of the protocol, and returns its answer.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut command = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let mut said = self.hear();
            if said["id"] == self.asked {
                let error = &said["error"];
                assert!(error.is_null(), "{method}: {error}");
                return said["result"].take();
            }
            self.note(&said);
        }
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from
            .read_until(0, &mut bytes)
            .expect("the browser talks");
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// Handles an event that the browser reports by itself.
    fn note(&mut self, said: &Value) {
        let params = &said["params"];
        match said["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_owned());
            }
            "Runtime.exceptionThrown" => {
                let what = &params["exceptionDetails"];
                self.problems.push(format!("exception: {what}"));
            }
            "Runtime.consoleAPICalled" if params["type"] == "error" => {
                self.problems.push(format!("console: {}", params["args"]));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                let entry = &params["entry"];
                self.problems
                    .push(format!("log: {} {}", entry["text"], entry["url"]));
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
