//! The verdict in plain words, which a page shows first.

use tidegate_probe::analysis::gain::Gain;
use tidegate_probe::analysis::latency::Grade;
use tidegate_probe::results::Results;
use tidegate_report::mbps;

/// A headline, and the sentences below it.
pub struct Verdict {
    /// How bad it is; absent if nothing was measured under load.
    pub grade: Option<Grade>,
    /// One sentence.
    pub headline: String,
    /// One sentence each.
    pub lines: Vec<String>,
}

/// A load that fills the link, and the delay that other traffic meets meanwhile.
struct Load {
    who: &'static str,
    idle_ms: f64,
    busy_ms: f64,
    grade: Grade,
}

impl Load {
    fn longer_ms(&self) -> f64 {
        (self.busy_ms - self.idle_ms).max(0.0)
    }

    fn words(&self) -> String {
        format!(
            "While {} fills the link a round trip takes {} instead of {}: grade {}.",
            self.who,
            time(self.busy_ms),
            time(self.idle_ms),
            self.grade.name()
        )
    }
}

impl Verdict {
    /// The verdict on these results.
    pub fn of(results: &Results) -> Self {
        let loads = loads(results);
        let worst = loads
            .iter()
            .max_by(|a, b| a.longer_ms().total_cmp(&b.longer_ms()));
        let lines = loads.iter().map(Load::words);
        let lines = lines
            .chain(under_tcp(results))
            .chain(beside(results))
            .chain(gains(results));
        Self {
            grade: worst.map(|load| load.grade),
            headline: worst.map_or_else(nothing, headline),
            lines: lines.collect(),
        }
    }
}

fn nothing() -> String {
    "How long packets wait while this link is full was not measured.".into()
}

fn headline(worst: &Load) -> String {
    match worst.grade {
        Grade::APlus | Grade::A => "This link answers quickly, also while it is full.".into(),
        Grade::B => format!(
            "While {} fills this link, everything else waits a little: {} longer.",
            worst.who,
            time(worst.longer_ms())
        ),
        Grade::C | Grade::D | Grade::F => format!(
            "While {} fills this link, everything else waits {} longer.",
            worst.who,
            time(worst.longer_ms())
        ),
    }
}

fn loads(results: &Results) -> Vec<Load> {
    let of = |who, latency: Option<tidegate_probe::analysis::latency::LoadedLatency>| {
        latency.map(|latency| Load {
            who,
            idle_ms: latency.idle_ms,
            busy_ms: latency.loaded_ms,
            grade: latency.grade,
        })
    };
    let down = results.down.as_ref().and_then(|way| way.latency);
    let up = results.up.as_ref().and_then(|way| way.latency);
    let both = results.both.as_ref().and_then(|both| both.latency);
    let loads = [
        of("a download", down),
        of("an upload", up),
        // The upload beside a download, if no upload was measured alone.
        of("an upload", both).filter(|_| up.is_none()),
    ];
    loads.into_iter().flatten().collect()
}

fn under_tcp(results: &Results) -> Option<String> {
    let scores = results
        .responsiveness
        .as_ref()?
        .each_ref()
        .map(|way| way.score);
    let each = ["down", "up"]
        .into_iter()
        .zip(scores)
        .filter_map(|(name, score)| Some(format!("{:.0} {name}", score?.rpm)));
    let each: Vec<_> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "Responsiveness under load by TCP, in round trips a minute: {}.",
            each.join(", ")
        )
    })
}

fn beside(results: &Results) -> Option<String> {
    let both = results.both.as_ref()?;
    (both.alone_bps > 0.0).then(|| {
        format!(
            "Beside an upload a download keeps {:.0}\u{a0}% of its rate.",
            100.0 * both.beside_bps / both.alone_bps
        )
    })
}

/// The predicted gains, marked as predictions.
fn gains(results: &Results) -> Vec<String> {
    let ways = [("downloads", &results.down), ("uploads", &results.up)];
    let gain = |way: &Option<tidegate_probe::results::Way>| way.as_ref().and_then(|way| way.gain);
    let known = ways
        .into_iter()
        .filter_map(|(name, way)| Some((name, gain(way)?)));
    known
        .map(|(name, gain)| format!("Steering {name} (tidegate run): {}.", predicted(&gain)))
        .collect()
}

fn predicted(gain: &Gain) -> String {
    let Gain { linux, steered } = gain;
    format!(
        "{} a round trip instead of {}, at {} instead of {}\u{a0}Mbit/s, as the simulator predicts for one transfer",
        time(steered.rtt_ms),
        time(linux.rtt_ms),
        megabits(steered.goodput_bps),
        megabits(linux.goodput_bps)
    )
}

/// A rate in everyday words.
fn megabits(bps: f64) -> String {
    match bps {
        bps if bps >= 0.95e6 => format!("{:.1}", bps / 1e6),
        bps => mbps(bps),
    }
}

/// A delay in everyday words.
fn time(ms: f64) -> String {
    match ms {
        ms if ms >= 999.5 => format!("{:.1}\u{a0}s", ms / 1e3),
        ms if ms >= 9.95 => format!("{ms:.0}\u{a0}ms"),
        ms => format!("{ms:.1}\u{a0}ms"),
    }
}
