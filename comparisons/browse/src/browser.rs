//! A browser without a screen: Debian's Chromium, driven by the DevTools protocol over a pair of pipes.
//!
//! <https://chromedevtools.github.io/devtools-protocol/>

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Programs that can be driven, the smallest first.
const PROGRAMS: [&str; 3] = ["chromium-headless-shell", "chromium", "chromium-browser"];

/// Hands the pipes over as descriptors 3 and 4, as `--remote-debugging-pipe` expects.
const HAND_OVER: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// The longest wait for commands that do not need the network.
const PROMPTLY: Duration = Duration::from_secs(60);

/// The awaited answers, by the command's number. None once the browser has ended.
type Waiting = Arc<Mutex<Option<HashMap<u64, Sender<Value>>>>>;

/// A browser; it ends with this value.
pub struct Browser {
    child: Child,
    to: Mutex<ChildStdin>,
    waiting: Waiting,
    asked: AtomicU64,
}

/// A page of the browser.
pub struct Tab<'a> {
    browser: &'a Browser,
    session: String,
}

/// Where the browser finds hosts, and which certificates it trusts.
pub struct Network<'a> {
    /// Names and addresses.
    pub hosts: &'a [(String, String)],
    /// The hash of the certificates' key.
    pub trust: &'a str,
}

/// An answer did not come in time.
#[derive(Debug)]
pub struct Late;

impl std::fmt::Display for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no answer in time")
    }
}

impl std::error::Error for Late {}

/// An error of the network, in the browser's words.
#[derive(Debug)]
pub struct Unreachable(pub String);

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreachable {}

impl Browser {
    /// Starts a browser that speaks HTTP/3 from the first packet, with an empty cache.
    pub fn start(profile: &Path, network: &Network) -> Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", HAND_OVER, "sh", program()?])
            .args(["--headless", "--remote-debugging-pipe", "--no-first-run"])
            // Root cannot use the sandbox, and the pages are our own.
            .args(["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--disable-extensions"])
            // Timers of pages in the background must not slow down.
            .arg("--disable-background-timer-throttling")
            .arg("--disable-renderer-backgrounding")
            .arg("--disable-backgrounding-occluded-windows")
            .args(network.flags())
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("a shell")?;
        let to = child.stdin.take().context("a pipe")?;
        let from = BufReader::new(child.stdout.take().context("a pipe")?);
        let waiting = Waiting::new(Mutex::new(Some(HashMap::new())));
        let hear = Arc::clone(&waiting);
        std::thread::spawn(move || listen(from, &hear));
        Ok(Self {
            child,
            to: Mutex::new(to),
            waiting,
            asked: AtomicU64::new(0),
        })
    }

    /// Name and version.
    pub fn version(&self) -> Result<String> {
        let version = self.ask(None, "Browser.getVersion", json!({}), PROMPTLY)?;
        let product = version["product"].as_str().context("no version")?;
        Ok(product.to_owned())
    }

    /// An empty page.
    pub fn tab(&self) -> Result<Tab<'_>> {
        let nothing = json!({ "url": "about:blank" });
        let page = self.ask(None, "Target.createTarget", nothing, PROMPTLY)?;
        let to = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.ask(None, "Target.attachToTarget", to, PROMPTLY)?;
        let session = attached["sessionId"].as_str().context("no session")?;
        Ok(Tab {
            browser: self,
            session: session.to_owned(),
        })
    }

    /// Sends a command of the protocol, and returns its answer.
    fn ask(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value> {
        let id = self.asked.fetch_add(1, Ordering::Relaxed);
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        let (answer, answered) = channel();
        lock(&self.waiting)
            .as_mut()
            .context("the browser has ended")?
            .insert(id, answer);
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        lock(&self.to).write_all(&bytes).context("the browser")?;
        let mut said = answered.recv_timeout(patience).map_err(|why| match why {
            RecvTimeoutError::Timeout => anyhow!(Late),
            RecvTimeoutError::Disconnected => anyhow!("the browser has ended"),
        })?;
        let error = &said["error"];
        ensure!(error.is_null(), "{method}: {error}");
        Ok(said["result"].take())
    }
}

impl Tab<'_> {
    /// Opens a page, and returns when its first bytes have come. Requests of the previous page are cancelled.
    pub fn open(&self, url: &str, patience: Duration) -> Result<()> {
        let opened = self.ask("Page.navigate", json!({ "url": url }), patience)?;
        match opened["errorText"].as_str() {
            Some(error) => Err(anyhow!(Unreachable(error.to_owned()))),
            None => Ok(()),
        }
    }

    /// The value of an expression; of a promise, its result.
    pub fn evaluate(&self, expression: &str, patience: Duration) -> Result<Value> {
        let ask = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.ask("Runtime.evaluate", ask, patience)?;
        let thrown = &answer["exceptionDetails"];
        ensure!(thrown.is_null(), "{expression}: {thrown}");
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression has a value.
    pub fn wait_for(&self, expression: &str, patience: Duration) -> Result<Value> {
        const POLL_INTERVAL: Duration = Duration::from_millis(100);
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            ensure!(!left.is_zero(), Late);
            let value = self.evaluate(expression, left)?;
            if !value.is_null() {
                return Ok(value);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Cancels the page's requests.
    pub fn stop(&self) {
        // Between two pages the browser has nothing to stop, and opening the next page cancels them as well.
        let _ = self.ask("Page.stopLoading", json!({}), PROMPTLY);
    }

    fn ask(&self, method: &str, params: Value, patience: Duration) -> Result<Value> {
        let session = Some(self.session.as_str());
        self.browser.ask(session, method, params, patience)
    }
}

impl Network<'_> {
    fn flags(&self) -> [String; 3] {
        let joined = |text: fn(&(String, String)) -> String| {
            let texts: Vec<String> = self.hosts.iter().map(text).collect();
            texts.join(",")
        };
        let rules = joined(|(name, address)| format!("MAP {name} {address}"));
        let quic = joined(|(name, _)| format!("{name}:443"));
        [
            format!("--host-resolver-rules={rules}"),
            format!("--origin-to-force-quic-on={quic}"),
            format!("--ignore-certificate-errors-spki-list={}", self.trust),
        ]
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> Result<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|f| f.join(name).is_file());
    match PROGRAMS.into_iter().find(is_there) {
        Some(program) => Ok(program),
        None => bail!("there is no browser (Debian package chromium-headless-shell)"),
    }
}

/// Hands the browser's answers to the threads that wait for them. Events that it reports by itself are ignored.
fn listen(mut from: BufReader<ChildStdout>, waiting: &Waiting) {
    let mut bytes = Vec::new();
    while from
        .read_until(0, &mut bytes)
        .is_ok_and(|length| length > 0)
    {
        bytes.pop();
        if let Ok(said) = serde_json::from_slice::<Value>(&bytes)
            && let Some(id) = said["id"].as_u64()
            && let Some(answer) = lock(waiting).as_mut().and_then(|all| all.remove(&id))
        {
            // The waiting thread may have given up.
            let _ = answer.send(said);
        }
        bytes.clear();
    }
    *lock(waiting) = None;
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
