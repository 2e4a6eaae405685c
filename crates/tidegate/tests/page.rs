//! `tidegate run --page` over an emulated link with a real download: the page's data, and how a browser shows them.
//! Needs root, TUN and `ip`, and says so if it is skipped.

#[path = "sight/running.rs"]
mod running;

use running::{Running, TIDEGATE, json};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_lab::{EmulatedHosts, IpVersion};
use tidegate_link::{Config, Policy, QueueConfig, Rate};
use tidegate_testing::{Browser, Screen, has_program, has_tun};

/// An access link with half a second of buffer.
fn link(bps: f64) -> Config {
    Config {
        rate: Rate::constant(bps),
        delay: Duration::from_millis(20).into(),
        queue: QueueConfig {
            packets: Some(500),
            bytes: None,
            policy: Policy::DropTail,
            ..QueueConfig::default()
        },
        ..Config::default()
    }
}

/// Downloads until the value is dropped.
struct Download {
    over: Arc<AtomicBool>,
    remote: SocketAddr,
}

impl Download {
    fn start(hosts: &EmulatedHosts) -> Self {
        let listen = || Ok(TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?);
        let listener = hosts.server().run(listen).unwrap();
        let port = listener.local_addr().unwrap().port();
        let remote = SocketAddr::new(EmulatedHosts::server_address(IpVersion::V4), port);
        let connect = || Ok(TcpStream::connect(remote)?);
        let mut near = hosts.client().run(connect).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        thread::spawn(move || while far.write_all(&[7; 1 << 16]).is_ok() {});
        thread::spawn(move || {
            let mut room = vec![0; 1 << 16];
            while near.read(&mut room).is_ok_and(|n| n > 0) && !seen.load(Ordering::Relaxed) {}
        });
        Self { over, remote }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body.to_owned()
}

/// The page's data once the condition holds.
fn once(address: SocketAddr, holds: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let now: Value = serde_json::from_str(&get(address, "/now.json")).unwrap();
        if holds(&now) {
            return now;
        }
        assert!(Instant::now() < until, "{now}");
        thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn a_download_over_a_link_is_on_the_page() {
    if !has_tun() || !has_program("ip", "iproute2") {
        return;
    }
    let hosts = EmulatedHosts::new(link(20e6), link(5e6), 1).unwrap();
    let work = hosts.client().run(|| {
        let up = Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status()?;
        assert!(up.success());
        let args = ["--iface", EmulatedHosts::INTERFACE, "--page", "127.0.0.1:0"];
        let mut agent = Running::start_by(Command::new(TIDEGATE), &args);
        let address = agent.event("page")["address"].as_str().unwrap().to_owned();
        let address: SocketAddr = address.parse()?;
        let quiet = once(address, |_| true);
        assert_eq!(quiet["verdict"]["level"], "idle", "{quiet}");

        let download = Download::start(&hosts);
        let now = once(address, |now| {
            let flow = &now["flows"][0];
            let known = flow["steering"] == "steered" && !flow["queue_us"].is_null();
            known && now["ways"][0]["rate_bps"].as_f64().unwrap() > 10e6
        });
        let flow = &now["flows"][0];
        assert_eq!(flow["remote"], download.remote.to_string());
        assert_eq!(flow["direction"], "down");
        assert!(
            ["short", "felt"].contains(&now["verdict"]["level"].as_str().unwrap()),
            "{now}"
        );
        let kinds = now["ways"][0]["kinds"].as_array().unwrap();
        assert_eq!(
            (&kinds[0]["name"], &kinds[0]["steered"]),
            (&"TCP".into(), &true.into())
        );
        // Some consecutive seconds, each with its queue.
        let enough = |now: &Value| {
            let seconds = now["seconds"].as_array().unwrap();
            seconds
                .iter()
                .filter(|s| s[2][0].as_u64().is_some_and(|us| us > 0))
                .count()
                >= 4
        };
        once(address, enough);
        // `top` shows the same flow.
        let top = json(&agent.top(&["--json"]));
        let shown = top["flows"].as_array().unwrap();
        let port = download.remote.port();
        assert!(shown.iter().any(|f| f["remote"]["port"] == port), "{top}");
        let day: Value = serde_json::from_str(&get(address, "/day.json"))?;
        for since in ["day", "week"] {
            let carried = day[since]["ways"][0]["bytes"].as_u64();
            assert!(carried.unwrap() > 1_000_000, "{day}");
        }
        assert_eq!(day["hours"], Value::Array(Vec::new()));

        if let Some(mut browser) = Browser::start() {
            look(&mut browser, address);
        }
        drop(download);
        agent.interrupt();
        assert!(TcpStream::connect(address).is_err());
        Ok(())
    });
    work.unwrap();
}

/// Checks the same in a browser during the download.
fn look(browser: &mut Browser, address: SocketAddr) {
    for screen in [Screen::ALL[0], Screen::ALL[3]] {
        browser.look_at(screen);
        browser.open(&format!("http://{address}/"));
        browser.wait_for("document.getElementById('state').className === 'state live'");
        browser.wait_for("document.querySelector('#flows tbody .pill.steered') !== null");
        browser.wait_for("/^[0-9.]+.m?s$/.test(document.getElementById('queue').textContent.replace(/\\s/g, ' '))");
        browser.draw_if_wanted(&format!("page-real-{}", screen.name()));
        let wrong = browser.audit();
        assert!(wrong.is_empty(), "{screen:?}: {wrong:#?}");
    }
    let curve = "document.querySelector('#queue-chart .curve.down').getAttribute('d')";
    let before = browser.evaluate(curve);
    browser.wait_for(&format!("{curve} !== {before}"));
}
