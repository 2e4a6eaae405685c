//! Compares every number of `top`, of its JSON and of the page with the packets that have passed the link, with flows
//! of every kind at once.

use crate::everybody::{
    CLOCKLESS, CONFIG, DENIED, Everybody, FORWARDED, MISSED, OLD, QUIC, STEERED, UNSTAMPED,
};
use crate::ledger::{Ledger, Packet, now_us};
use crate::running::{Running, TIDEGATE};
use crate::stamps::{BYTES_PER_S, DEVICE};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tidegate_gate::Mechanisms;
use tidegate_testing::{has_program, has_tun, is_root, skipped};

/// On a busy machine a look is taken this much later than it says,
const LATE_US: u64 = 150_000;
/// and a packet is recorded this much before it arrives.
const NOTED_US: u64 = 20_000;
/// How far a shown queue may be from the delays of packets at that time.
const NEAR_US: u64 = 40_000;
/// How long a sender may pace before it answers.
const SENDER_US: u64 = 100_000;
/// The round trip without a queue.
const ROUND_US: u64 = 20_000;
const PACKET: u64 = 1_500;
const SECOND_US: u64 = 1_000_000;
/// No sum of rates exceeds this, whatever the times of the looks.
const MOST_BPS: f64 = 1.1 * 8.0 * BYTES_PER_S as f64;

/// Flows whose queue is measured.
const MEASURED: [u16; 5] = [QUIC, STEERED, FORWARDED, CLOCKLESS, OLD];
/// Width of the histogram's slots, as a ratio.
const SLOT: f64 = 1.25;

/// What arrived, and when, according to the link.
struct Truth<'a> {
    ledger: &'a Ledger,
    /// Whether all flows that fill the link are steered. A flow that meets other flows' queue may take it for a longer
    /// path.
    all_steered: bool,
}

impl Truth<'_> {
    /// Bounds of the bytes that arrived between two looks, each taken within the given time.
    fn bounds(&self, from: [u64; 2], to: [u64; 2], bytes: impl Fn(&Packet) -> u64) -> [f64; 2] {
        let sum = |from_us: u64, to_us: u64| {
            let packets = self.ledger.between(from_us, to_us);
            packets.iter().map(&bytes).sum::<u64>() as f64
        };
        let near = |us: u64| us.saturating_sub(NOTED_US);
        [
            sum(from[1] + LATE_US, near(to[0])),
            sum(near(from[0]), to[1] + LATE_US),
        ]
    }

    /// Bounds from the start until a look.
    fn until(&self, at_us: u64, bytes: impl Fn(&Packet) -> u64) -> [f64; 2] {
        self.bounds([0; 2], [at_us; 2], bytes)
    }

    /// Bounds as a rate in bit/s, rounded, by the looks' own clock.
    fn rates(&self, from: [u64; 2], to: [u64; 2], bytes: impl Fn(&Packet) -> u64) -> [f64; 2] {
        let [least, most] = self.bounds(from, to, bytes);
        let rate = |bytes: f64, us: u64| bytes * 8e6 / us as f64;
        [
            rate(least, to[1] - from[0]) - 1.0,
            rate(most + PACKET as f64, to[0] - from[1]) + 1.0,
        ]
    }

    /// Queueing delays of packets of these ports, in ascending order.
    fn queues(&self, ports: &[u16], from_us: u64, to_us: u64) -> Vec<u64> {
        let packets = self.ledger.between(from_us, to_us).into_iter();
        let of = packets.filter(|p| p.payload > 0 && ports.contains(&p.port));
        let mut queues: Vec<_> = of.map(|p| p.queue_us).collect();
        queues.sort_unstable();
        queues
    }

    /// The shortest and longest delay of recent packets, echoes included, as far as the agent can know them.
    fn queue(&self, at_us: u64) -> Option<[f64; 2]> {
        let packets = self.ledger.between(at_us - SECOND_US, at_us + LATE_US);
        let queues = packets.iter().map(|p| p.queue_us);
        let (least, most) = (queues.clone().min()?, queues.max()?);
        let least = if self.all_steered { least } else { 0 };
        Some([least as f64, most as f64])
    }
}

fn payload_of(port: u16) -> impl Fn(&Packet) -> u64 {
    move |packet| match packet.port == port {
        true => packet.payload,
        false => 0,
    }
}

#[track_caller]
fn within(what: &str, shown: f64, [least, most]: [f64; 2], off: f64) {
    assert!(
        shown >= least - off && shown <= most + off,
        "{what}: {shown}, expected {least} to {most}, give or take {off}"
    );
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name}: {of}"))
}

fn list(of: &Value) -> &Vec<Value> {
    of.as_array().unwrap_or_else(|| panic!("no list: {of}"))
}

/// `top --json`, line after line.
struct Top {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Drop for Top {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Top {
    fn start(agent: &Running) -> Self {
        let mut child = Command::new(TIDEGATE)
            .args(["top", "--json", "--all", "--interval", "1", "--socket"])
            .arg(&agent.socket)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn look(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }
}

/// The page's data, and when the last request began and ended.
struct Page {
    address: String,
    asked: [u64; 2],
    told: String,
}

impl Page {
    /// The next answer: within a second the agent repeats the last one.
    fn ask(&mut self) -> Value {
        loop {
            let begin_us = now_us();
            let body = self.get();
            let end_us = now_us();
            if body != self.told {
                self.asked = [begin_us, end_us];
                self.told = body;
                return serde_json::from_str(&self.told).unwrap();
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn get(&self) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET /now.json HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

/// An agent on the client, whose page is requested in its namespace.
struct Watched {
    all: Everybody,
    agent: Running,
    top: Top,
    page: Page,
    began_us: u64,
}

impl Watched {
    fn start(all: Everybody) -> Self {
        let folder = TempDir::new().unwrap();
        let config = folder.path().join("tidegate.toml");
        std::fs::write(&config, CONFIG).unwrap();
        let args = ["--iface", DEVICE, "--page", "127.0.0.1:0", "--config"];
        let args = [&args[..], &[config.to_str().unwrap()]].concat();
        let began_us = now_us();
        let start = || Ok(Running::start_by(Command::new(TIDEGATE), &args));
        let agent = all.hosts.client.run(start).unwrap();
        let address = agent.event("page")["address"].as_str().unwrap().to_owned();
        agent.event("serving");
        let asked = [began_us; 2];
        let told = String::new();
        let page = Page {
            address,
            asked,
            told,
        };
        Self {
            top: Top::start(&agent),
            all,
            agent,
            page,
            began_us,
        }
    }

    /// Compares all output with the truth for this many seconds.
    fn hold_against_truth(&mut self, seconds: usize, all_steered: bool) {
        let client = &self.all.hosts.client;
        let mut before_us = self.top.look()["at_us"].as_u64().unwrap();
        client.run(|| Ok(self.page.ask())).unwrap();
        for _ in 0..seconds {
            let look = self.top.look();
            let at_us = look["at_us"].as_u64().unwrap();
            let asked = self.page.asked;
            let page = client.run(|| Ok(self.page.ask())).unwrap();
            // Packets that came just then are in the ledger by now.
            thread::sleep(Duration::from_micros(LATE_US));
            let truth = Truth {
                ledger: &self.all.hosts.ledger,
                all_steered,
            };
            top_is_true(&look, before_us, self.began_us, &truth);
            page_is_true(&page, asked, self.page.asked, &truth);
            before_us = at_us;
        }
    }
}

/// A flow of any table, identified by the server's port.
fn top_is_true(look: &Value, before_us: u64, began_us: u64, truth: &Truth) {
    let at_us = look["at_us"].as_u64().unwrap();
    for (table, bytes) in [
        ("flows", "received_bytes"),
        ("left", "bytes"),
        ("windowless", "bytes"),
    ] {
        let down = list(&look[table])
            .iter()
            .filter(|f| f["direction"] == "down");
        for flow in down.filter(|f| f["remote"]["port"] != 0) {
            let port = flow["remote"]["port"].as_u64().unwrap() as u16;
            let all = truth.until(at_us, payload_of(port));
            let what = |what: &str| format!("{what} of {flow}");
            // Of a flow that is older than the agent, the first data were not measured.
            within(
                &what("bytes"),
                number(flow, bytes),
                all,
                2.0 * PACKET as f64,
            );
            let rates = truth.rates([before_us; 2], [at_us; 2], payload_of(port));
            within(&what("rate"), number(flow, "rate_bps"), rates, 0.0);
            flow_is_true(flow, port, at_us, truth);
        }
    }
    for path in list(&look["paths"])
        .iter()
        .filter(|p| p["direction"] == "down")
    {
        path_is_true(path, look, before_us, truth);
    }
    account_is_true(&look["account"], began_us, at_us, truth);
}

/// Its queue, its round trip and its limit.
fn flow_is_true(flow: &Value, port: u16, at_us: u64, truth: &Truth) {
    let limit = flow["limit"].as_str().unwrap();
    let expected = match port {
        DENIED => "denied",
        MISSED => "no_scale",
        UNSTAMPED => "no_timestamps",
        _ => limit,
    };
    assert_eq!(limit, expected, "{flow}");
    let told = if port == QUIC { &flow["hold"] } else { flow };
    queue_is_true(told, port, at_us, truth);
    if let (Some(rtt_us), Some([least, most])) = (told["rtt_us"].as_f64(), truth.queue(at_us)) {
        let round = ROUND_US as f64;
        // The round trip includes the sender's own delay.
        let met = [round + least, round + most + SENDER_US as f64];
        within(
            &format!("round trip of {flow}"),
            rtt_us,
            met,
            NEAR_US as f64,
        );
        assert!(number(told, "rtt_min_us") <= rtt_us, "{flow}");
        assert!(number(told, "rtt_min_us") >= round, "{flow}");
    }
}

fn queue_is_true(told: &Value, port: u16, at_us: u64, truth: &Truth) {
    let (Some(queue_us), Some([least, most])) = (told["queue_us"].as_f64(), truth.queue(at_us))
    else {
        return;
    };
    assert!(
        ![UNSTAMPED, DENIED, MISSED].contains(&port),
        "who knows it? {told}"
    );
    within(
        &format!("queue of {told}"),
        queue_us,
        [least, most],
        NEAR_US as f64,
    );
}

fn path_is_true(path: &Value, look: &Value, before_us: u64, truth: &Truth) {
    let at_us = look["at_us"].as_u64().unwrap();
    let traffic: f64 = list(&path["traffic"])
        .iter()
        .map(|c| number(c, "bytes"))
        .sum();
    within(
        &format!("bytes of {path}"),
        traffic,
        truth.until(at_us, |p| p.bytes),
        PACKET as f64,
    );
    let rate: f64 = list(&path["kinds"])
        .iter()
        .map(|k| number(k, "rate_bps"))
        .sum();
    within(
        &format!("rate of {path}"),
        rate,
        truth.rates([before_us; 2], [at_us; 2], |p| p.bytes),
        0.0,
    );
    let longest = truth.queue(at_us).map_or(0.0, |[_, most]| most);
    within(
        &format!("queue of {path}"),
        number(path, "queue_us"),
        [0.0, longest],
        NEAR_US as f64,
    );
    for group in list(&path["groups"]) {
        let of = |table: &str, number_of: &dyn Fn(&Value) -> Value| {
            let rows = list(&look[table])
                .iter()
                .filter(|f| f["direction"] == "down");
            let members = rows.filter(|f| number_of(f) == group["group"]);
            members.map(|f| number(f, "rate_bps")).sum::<f64>()
        };
        let members = of("flows", &|f| f["group"].clone())
            + of("windowless", &|f| f["hold"]["group"].clone());
        within(
            &format!("rate of {group}"),
            number(group, "rate_bps"),
            [members; 2],
            10.0,
        );
    }
}

/// The account since the start, as the test is short.
fn account_is_true(account: &Value, began_us: u64, at_us: u64, truth: &Truth) {
    let elapsed_us = number(account, "elapsed_us");
    assert!(
        elapsed_us <= (at_us + LATE_US - began_us) as f64,
        "{account}"
    );
    let Some(way) = list(&account["ways"])
        .iter()
        .find(|w| w["direction"] == "down")
    else {
        return;
    };
    let all = truth.until(at_us, |p| p.bytes);
    within(
        &format!("{account}"),
        number(way, "bytes"),
        all,
        PACKET as f64,
    );
    let parts: f64 = list(&way["kinds"]).iter().map(|k| number(k, "bytes")).sum();
    assert_eq!(parts, number(way, "bytes"), "{account}");
    let queues = truth.queues(&MEASURED, 0, at_us);
    if queues.len() < 1000 {
        return;
    }
    let queue = &way["queue"];
    for (name, part) in [("median_us", 0.5), ("p95_us", 0.95)] {
        let at = |part: f64| queues[((queues.len() - 1) as f64 * part) as usize] as f64;
        // Within the resolution of the histogram's slots, and of the few echoes that stand for packets.
        let met = [0.7 * at(part - 0.04), 1.3 * at(part + 0.04)];
        within(
            &format!("{name} of {account}"),
            number(queue, name),
            met,
            NEAR_US as f64 / 2.0,
        );
    }
}

fn page_is_true(page: &Value, before: [u64; 2], at: [u64; 2], truth: &Truth) {
    let down = &page["ways"][0];
    let at_us = at[1];
    let rates = truth.rates(before, at, |p| p.bytes);
    within(
        &format!("rate of {down}"),
        number(down, "rate_bps"),
        rates,
        0.0,
    );
    let queues = truth.queues(&MEASURED, at_us - 3 * SECOND_US, at_us);
    if let (Some(queue_us), Some(most)) = (down["queue_us"].as_f64(), queues.last()) {
        within(
            &format!("{down}"),
            queue_us,
            [0.0, *most as f64],
            NEAR_US as f64,
        );
        let p95_us = down["p95_us"].as_f64().unwrap_or(queue_us);
        within(
            &format!("{down}"),
            p95_us,
            [queue_us, SLOT * *most as f64],
            NEAR_US as f64,
        );
    }
    assert!(
        page["verdict"]["queue_us"].is_null() || page["verdict"]["queue_us"] == down["queue_us"]
    );
    let mut sum = 0.0;
    for flow in list(&page["flows"])
        .iter()
        .filter(|f| f["direction"] == "down")
    {
        let port = flow["remote"]
            .as_str()
            .unwrap()
            .rsplit_once(':')
            .unwrap()
            .1
            .parse()
            .unwrap();
        let rates = truth.rates(before, at, payload_of(port));
        let rate = number(flow, "rate_bps");
        within(&format!("rate of {flow}"), rate, rates, 0.0);
        sum += rate;
        queue_is_true(flow, port, at_us, truth);
    }
    assert!(sum <= MOST_BPS, "{sum} of {page}");
    samples_are_true(page, at_us, truth);
}

/// The curves: none exceeds the link's rate, and the area below equals the bytes that arrived.
fn samples_are_true(page: &Value, at_us: u64, truth: &Truth) {
    let samples = list(&page["seconds"]);
    let mut bytes = 0.0;
    let mut before_s = samples.first().map_or(0, |s| s[0].as_u64().unwrap() + 1);
    for sample in samples {
        let (age_s, bps) = (sample[0].as_u64().unwrap(), sample[3].as_f64().unwrap());
        assert!(bps <= MOST_BPS, "{bps}: {samples:?}");
        bytes += bps / 8.0 * (before_s - age_s) as f64;
        before_s = age_s;
        // The age is rounded, and a late sample covers the seconds before it, too.
        let ended_us = at_us - age_s * SECOND_US;
        let queues = truth.queues(&MEASURED, ended_us - 6 * SECOND_US, ended_us + SECOND_US);
        if let (Some(p95_us), Some(most)) = (sample[2][1].as_f64(), queues.last()) {
            let met = [0.0, SLOT * *most as f64];
            within(&format!("{sample}"), p95_us, met, NEAR_US as f64);
        }
    }
    let all = truth.until(at_us, |p| p.bytes);
    let second = BYTES_PER_S as f64;
    within("bytes below the curve", bytes, all, 0.1 * all[1] + second);
}

/// The output of `top --once`: no rate exceeds the link's, no queue is longer, and the summary shows a queue.
fn table_is_true(table: &str) {
    for line in table.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(value) = pair[0].parse::<f64>() else {
                continue;
            };
            let unit = pair[1].trim_end_matches([',', ';']);
            let most = match unit {
                "b/s" | "kb/s" => 1e3,
                "Mb/s" => MOST_BPS / 1e6,
                "Gb/s" => 0.0,
                "ms" => 1e3,
                "s" if !line.starts_with("last ") => 0.7,
                _ => continue,
            };
            assert!(value <= most, "{value} {unit} in {line}");
        }
    }
    let down = table
        .lines()
        .find(|l| l.starts_with("last ") && l.contains(" down "));
    let down = down.unwrap_or_else(|| panic!("{table}"));
    assert!(
        down.contains("(median)") && !down.contains("no queue"),
        "{table}"
    );
}

#[test]
fn every_number_is_held_against_the_link() {
    if !is_root() || !has_program("ip", "iproute2") || !has_tun() {
        return;
    }
    let all = Everybody::new();
    let known = all.hosts.client.run(|| Ok(Mechanisms::here()?));
    if !known.is_ok_and(|known| known.queue.is_some()) {
        return skipped("needs nfnetlink_queue and nft_queue or xt_NFQUEUE");
    }
    let older = [OLD, MISSED].map(|port| all.connect(port));
    let mut watched = Watched::start(all);
    watched.all.download_quic();
    watched.hold_against_truth(6, true);
    table_is_true(&String::from_utf8_lossy(&watched.agent.top(&[]).stdout));
    for port in [STEERED, FORWARDED] {
        let ends = watched.all.connect(port);
        watched.all.download(ends);
    }
    watched.hold_against_truth(6, true);
    for port in [DENIED, UNSTAMPED, CLOCKLESS] {
        let ends = watched.all.connect(port);
        watched.all.download(ends);
    }
    older
        .into_iter()
        .for_each(|ends| watched.all.download(ends));
    watched.hold_against_truth(12, false);
    table_is_true(&String::from_utf8_lossy(&watched.agent.top(&[]).stdout));
    // After a late sample there is none that covers no time.
    watched.agent.signal(Signal::SIGSTOP);
    thread::sleep(Duration::from_millis(3_200));
    watched.agent.signal(Signal::SIGCONT);
    thread::sleep(Duration::from_secs(2));
    watched.hold_against_truth(3, false);
}
