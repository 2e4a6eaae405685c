//! Scenarios drawn by chance, of all that both the simulator and the laboratory can run.
//!
//! What is drawn is a file's text, not a [`tidegate_scenario::Scenario`]: it can be written down, changed key by key, and
//! read by every other command.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use toml::{Table, Value};

/// Seconds of a drawn run, and those at its start that do not count.
const DURATION_S: f64 = 12.0;
const WARMUP_S: f64 = 2.0;

/// Bytes of a full packet.
const PACKET: f64 = 1500.0;

/// A name that stands for the recording beside the scenario.
pub const TRACE: &str = "bursts.down";

/// A scenario, and the recording that its downlink plays, if it plays one.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The file, key by key.
    pub table: Table,
    /// Lines of [`TRACE`]: milliseconds, each a packet's turn.
    pub trace: Option<String>,
}

/// Draws the scenario of that seed: always the same.
pub fn draw(seed: u64) -> Drawn {
    let mut draw = Draw(Pcg64Mcg::seed_from_u64(seed));
    let mbps = draw.between(0.05, 1000.0);
    let rtt_ms = draw.between(2.0, 400.0);
    let (rate, trace) = draw.rate(mbps);
    let mut down = draw.link(rate, mbps, rtt_ms);
    let up_mbps = draw.between(0.05 * mbps, 2.0 * mbps).clamp(0.05, 1000.0);
    let mut up = draw.link(constant(up_mbps), up_mbps, rtt_ms);
    for link in [&mut down, &mut up] {
        link.insert("delay_ms".into(), Value::Float(rtt_ms / 2.0));
    }
    let mut table = Table::new();
    table.insert("name".into(), format!("random {seed}").into());
    table.insert("duration_s".into(), DURATION_S.into());
    table.insert("warmup_s".into(), WARMUP_S.into());
    table.insert("seed".into(), 1.into());
    table.insert("down".into(), down.into());
    table.insert("up".into(), up.into());
    table.insert("hosts".into(), draw.hosts().into());
    table.insert("workload".into(), draw.workloads(mbps).into());
    table.insert("run".into(), Value::Array(vec![draw.run().into()]));
    Drawn { table, trace }
}

/// `{ key = value }`.
fn single(key: &str, value: impl Into<Value>) -> Table {
    Table::from_iter([(key.to_owned(), value.into())])
}

fn constant(mbps: f64) -> Table {
    single("constant_mbps", mbps)
}

/// Draws of one scenario.
struct Draw(Pcg64Mcg);

impl Draw {
    fn chance(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }

    fn count(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.random_range(0..of.len())]
    }

    /// Each ratio as likely as any other, and of two digits, for people.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        let exponent = libm::log(low) + self.0.random::<f64>() * libm::log(high / low);
        two_digits(libm::exp(exponent)).clamp(low, high)
    }

    /// The downlink's rate, of about that mean.
    fn rate(&mut self, mbps: f64) -> (Table, Option<String>) {
        let rate = match self.count(0, 9) {
            0..=3 => constant(mbps),
            4 => {
                let at_s = self.between(3.0, 9.0);
                let then = self.between(mbps / 10.0, 3.0 * mbps);
                let steps = [[0.0, mbps], [at_s, then]].map(|step| Value::from(step.to_vec()));
                single("steps", steps.to_vec())
            }
            5 => {
                let mut slots = single("slot_s", self.between(0.02, 3.0));
                let rates = [mbps * 1.5, self.between(mbps / 10.0, mbps)];
                slots.insert("mbps".into(), rates.map(two_digits).to_vec().into());
                single("slots", slots)
            }
            6..=7 => {
                let kind = self.one_of(&["lte", "hspa", "evdo"]);
                let mut cell = single("kind", kind);
                cell.insert("mean_mbps".into(), mbps.min(100.0).into());
                // So that the runs of other seeds have the same link.
                cell.insert("seed".into(), self.count(1, 1_000_000).into());
                single("generate", cell)
            }
            _ => {
                let burst_ms = self.between(1.0, 500.0).round();
                let packets = (mbps * 1e3 * burst_ms / (8.0 * PACKET)).round().max(1.0);
                // A burst after each such time, over and over.
                let line = format!("{burst_ms}\n");
                return (single("trace", TRACE), Some(line.repeat(packets as usize)));
            }
        };
        (rate, None)
    }

    /// A link of that rate, without its delay.
    fn link(&mut self, rate: Table, mbps: f64, rtt_ms: f64) -> Table {
        let mut link = single("rate", rate);
        link.insert("queue".into(), self.queue(mbps, rtt_ms).into());
        if self.chance(0.2) {
            let loss = match self.chance(0.5) {
                true => single("random", self.between(1e-5, 0.03)),
                false => {
                    let mut bursty = single("probability", self.between(1e-4, 0.02));
                    bursty.insert("mean_length".into(), self.between(1.0, 8.0).into());
                    single("bursty", bursty)
                }
            };
            link.insert("loss".into(), loss.into());
        }
        if self.chance(0.1) {
            let mut disorder = single("reorder", self.between(1e-4, 0.02));
            disorder.insert("late_ms".into(), self.between(1.0, 30.0).into());
            disorder.insert("duplicate".into(), self.between(1e-5, 0.01).into());
            link.insert("disorder".into(), disorder.into());
        }
        if self.chance(0.1) {
            let mut arq = single("error", self.between(0.001, 0.2));
            arq.insert("retry_ms".into(), self.between(1.0, 20.0).into());
            link.insert("arq".into(), arq.into());
        }
        link
    }

    /// Of a fifth of the bandwidth-delay product to ten seconds.
    fn queue(&mut self, mbps: f64, rtt_ms: f64) -> Table {
        let packets = |ms: f64| (mbps * 1e3 * ms / (8.0 * PACKET)).clamp(4.0, 20_000.0);
        let (least, most) = (packets(rtt_ms / 5.0), packets(10_000.0));
        let limit = self.between(least, most.max(least * 1.01)).round() as i64;
        let mut queue = single("packets", limit);
        if self.chance(0.4) {
            let policy = self.one_of(&["drop-head", "codel", "red", "pie", "fq-codel"]);
            queue.insert("policy".into(), policy.into());
        }
        queue
    }

    fn hosts(&mut self) -> Table {
        let algorithm = self.one_of(&["cubic", "cubic", "reno", "bbr"]);
        let mut hosts = single("congestion_control", algorithm);
        if self.chance(0.15) {
            hosts.insert("timestamps".into(), false.into());
        }
        if self.chance(0.15) {
            let bytes = self.between(100_000.0, 32e6).round() as i64;
            hosts.insert("rmem_max".into(), bytes.into());
        }
        hosts
    }

    fn run(&mut self) -> Table {
        let mut run = single("name", "run");
        let law = self.one_of(&[
            "none", "none", "none", "drs", "drwa", "tide", "tide", "rledbat",
        ]);
        run.insert("law".into(), law.into());
        if self.chance(0.15) {
            run.insert("ecn".into(), "classic".into());
        }
        run
    }

    /// One to three of them, the first of which fills the link.
    fn workloads(&mut self, mbps: f64) -> Vec<Value> {
        let mut workloads = vec![self.workload("bulk", 1, mbps)];
        for nth in 2..2 + self.count(0, 2) {
            let kind = self.one_of(&["bulk", "upload", "web", "chunks", "stream", "reader"]);
            let mut workload = self.workload(kind, nth, mbps);
            workload.insert("start_s".into(), self.between(0.1, 6.0).into());
            if self.chance(0.3) {
                workload.insert("stop_s".into(), self.between(7.0, 11.0).into());
            }
            workloads.push(workload);
        }
        workloads.into_iter().map(Value::Table).collect()
    }

    fn workload(&mut self, kind: &str, nth: i64, mbps: f64) -> Table {
        let does = match kind {
            "bulk" => single("bulk", self.bulk("down", mbps)),
            "upload" => single("bulk", self.bulk("up", mbps)),
            "web" => {
                let sizes: Vec<Value> = (0..self.count(1, 3))
                    .map(|_| Value::from(self.between(1e3, 1e6).round() as i64))
                    .collect();
                let mut web = single("object_bytes", sizes);
                web.insert("pause_s".into(), self.between(0.01, 1.0).into());
                single("web", web)
            }
            "chunks" => {
                let period_s = self.between(0.2, 4.0);
                let bytes = mbps * 1e6 / 8.0 * period_s * self.between(0.05, 0.8);
                let mut chunks = single("chunk_bytes", bytes.max(1e3).round() as i64);
                chunks.insert("period_s".into(), period_s.into());
                single("chunks", chunks)
            }
            "stream" => {
                let rate = two_digits(mbps * self.between(0.02, 0.5)).max(0.01);
                single("constant_rate", single("mbps", rate))
            }
            _ => {
                let mut on_off =
                    single("mbps", two_digits(mbps * self.between(0.2, 2.0)).max(0.01));
                on_off.insert("on_s".into(), self.between(0.2, 3.0).into());
                on_off.insert("off_s".into(), self.between(0.2, 3.0).into());
                single("reader", single("reads", single("on_off", on_off)))
            }
        };
        let mut workload = single("name", format!("{kind} {nth}"));
        workload.insert("does".into(), does.into());
        workload
    }

    /// On slow links fewer flows: each has two segments under way at least.
    fn bulk(&mut self, direction: &str, mbps: f64) -> Table {
        let most = (mbps * 4.0).clamp(1.0, 32.0);
        let mut bulk = single("flows", self.between(1.0, most).round() as i64);
        bulk.insert("direction".into(), direction.into());
        bulk
    }
}

/// Of two digits.
fn two_digits(x: f64) -> f64 {
    format!("{x:.1e}").parse().expect("a number")
}

#[cfg(test)]
mod tests;
