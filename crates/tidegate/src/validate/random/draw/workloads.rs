//! Draws random workloads.

use super::{perhaps, single, whole};
use tidegate_basics::random::{Draw, two_digits};
use toml::{Table, Value};

/// The kinds of workloads.
const KINDS: [&str; 8] = [
    "bulk", "bulk", "upload", "web", "chunks", "stream", "reader", "ping",
];

/// One to four workloads over a downlink of this rate, where the first fills it; some do not pass the further link, if
/// there is one.
pub fn all(draw: &mut Draw, mbps: f64, hop: bool) -> Vec<Value> {
    let mut workloads = vec![workload(draw, "bulk", 1, mbps)];
    for nth in 2..2 + draw.count(0..=3) {
        let kind = draw.one_of(&KINDS);
        let mut workload = workload(draw, kind, nth, mbps);
        workload.insert("start_s".into(), draw.between(0.1, 6.0).into());
        perhaps(draw, 0.3, &mut workload, "stop_s", |draw| {
            draw.between(7.0, 11.0)
        });
        perhaps(draw, 0.1, &mut workload, "steered", |_| false);
        if kind != "ping" {
            perhaps(draw, 0.25, &mut workload, "congestion_control", |draw| {
                draw.one_of(&["cubic", "reno", "bbr"])
            });
        }
        if hop {
            perhaps(draw, 0.5, &mut workload, "links", |_| {
                vec!["down".to_owned(), "up".to_owned()]
            });
        }
        workloads.push(workload);
    }
    workloads.into_iter().map(Value::Table).collect()
}

fn workload(draw: &mut Draw, kind: &str, nth: usize, mbps: f64) -> Table {
    let does = match kind {
        "bulk" => single("bulk", bulk(draw, "down", mbps)),
        "upload" => single("bulk", bulk(draw, "up", mbps)),
        "web" => single("web", web(draw)),
        "chunks" => single("chunks", chunks(draw, mbps)),
        "stream" => single("constant_rate", stream(draw, mbps)),
        "ping" => single("ping", single("interval_ms", draw.between(10.0, 500.0))),
        _ => single("reader", reader(draw, mbps)),
    };
    let mut workload = single("name", format!("{kind} {nth}"));
    workload.insert("does".into(), does.into());
    workload
}

/// Fewer flows on slow links: each has at least two segments in flight.
fn bulk(draw: &mut Draw, direction: &str, mbps: f64) -> Table {
    let most = (mbps * 4.0).clamp(1.0, 32.0);
    let flows = whole(draw, 1.0, most);
    let mut bulk = single("flows", flows);
    bulk.insert("direction".into(), direction.into());
    perhaps(draw, 0.2, &mut bulk, "bytes", |draw| {
        let all = mbps * 1e6 / 8.0 / flows as f64;
        whole(draw, (all * 0.1).max(1000.0), (all * 5.0).max(2000.0))
    });
    bulk
}

fn web(draw: &mut Draw) -> Table {
    let sizes: Vec<Value> = (0..draw.count(1..=3))
        .map(|_| Value::from(whole(draw, 1e3, 1e6)))
        .collect();
    let mut web = single("object_bytes", sizes);
    web.insert("pause_s".into(), draw.between(0.01, 1.0).into());
    web
}

fn chunks(draw: &mut Draw, mbps: f64) -> Table {
    let period_s = draw.between(0.2, 4.0);
    let bytes = mbps * 1e6 / 8.0 * period_s * draw.between(0.05, 0.8);
    let mut chunks = single("chunk_bytes", bytes.max(1e3).round() as i64);
    chunks.insert("period_s".into(), period_s.into());
    chunks
}

fn stream(draw: &mut Draw, mbps: f64) -> Table {
    let rate = two_digits(mbps * draw.between(0.02, 0.5)).max(0.01);
    let mut stream = single("mbps", rate);
    perhaps(draw, 0.3, &mut stream, "direction", |_| "up");
    stream
}

fn reader(draw: &mut Draw, mbps: f64) -> Table {
    let mut on_off = single("mbps", two_digits(mbps * draw.between(0.2, 2.0)).max(0.01));
    on_off.insert("on_s".into(), draw.between(0.2, 3.0).into());
    on_off.insert("off_s".into(), draw.between(0.2, 3.0).into());
    let mut reader = single("reads", single("on_off", on_off));
    perhaps(draw, 0.3, &mut reader, "direction", |_| "up");
    reader
}
