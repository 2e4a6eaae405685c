//! A verdict in plain words.

use super::slot::CutShort;
use super::verdict::{Because, Finding, NOTICEABLE_MS, Verdict};
use tidegate_agent::Direction;

/// What to do if steering helps.
const AND_NOW: &str = "`sudo tidegate run` steers until you end it (Ctrl-C); `sudo systemctl enable --now tidegate` steers from \
    now on, also after the machine has started anew.";

/// Rates that differ by less are never told apart, however similar the slots were.
const LEAST_TOLD: f64 = 0.05;

/// The verdict in one sentence.
pub fn headline(finding: &Finding) -> String {
    let delays = finding.loaded_ms.map(|loaded| {
        let (without, with) = (ms(loaded.without), ms(loaded.with));
        format!("under load the delay {{}} from {without} to {with}")
    });
    let moved = |how: &str| delays.clone().unwrap_or_default().replace("{}", how);
    match (finding.verdict, &finding.because) {
        (Verdict::Helps, _) => format!("Steering helps here: {}.", moved("falls")),
        (Verdict::Hurts, Some(because)) => format!("Steering hurts here: {}.", short(because)),
        (Verdict::Hurts, None) => format!("Steering hurts here: {}.", moved("rises")),
        (Verdict::NoDifference, because) => format!(
            "Steering makes no difference here: {}.",
            because.as_ref().map_or(String::new(), short)
        ),
        (Verdict::Undecided, because) => format!(
            "This trial cannot tell: {}.",
            because.as_ref().map_or(String::new(), short)
        ),
    }
}

/// The reason as a clause.
fn short(because: &Because) -> String {
    match because {
        Because::Windowless(kind) => {
            format!("the traffic is {kind}, which has no window to steer, and was not held")
        }
        Because::LeftAlone => "the agent leaves the load's connections alone".into(),
        Because::ServerLimited => "the load does not fill the link, its server is the limit".into(),
        Because::NotSaturated => "the load pauses, and does not keep the link busy".into(),
        Because::GivesWay => "your load gives its share of the link to others".into(),
        Because::ManagedQueue => "the queue is kept short already".into(),
        Because::NoQueue => "no queue builds up under this load".into(),
        Because::OthersQueue => {
            "there is a queue, but steering this load hardly shortens it".into()
        }
        Because::TooVariable => "the delay varies too much".into(),
        Because::TooFewPairs => "too few slots had enough answers".into(),
        Because::NoLoad => "no load was seen on the link".into(),
        Because::TooMuchData => "it would take more data than it may".into(),
    }
}

/// Further sentences.
pub fn sentences(finding: &Finding, cut_short: Option<CutShort>) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(certainty(finding));
    if finding.held > 0.0 {
        said.push(format!(
            "{} of the load has no window, and was within the hold's reach: its acknowledgements wait here when its sender has more in flight than it should.",
            percent(finding.held)
        ));
    }
    if let Some(because) = &finding.because {
        said.push(long(because, finding, cut_short));
    }
    said.extend(of_the_rate(finding));
    said.extend(of_others(finding));
    if matches!(finding.verdict, Verdict::Helps) {
        said.push(AND_NOW.into());
    }
    said
}

/// The load's rate, and what it shows.
fn of_the_rate(finding: &Finding) -> Option<String> {
    let (bps, part) = (finding.bps?, finding.rate_would_have_shown?);
    let concluded = match finding.rate_lost_percent() {
        Some([least, most]) => {
            format!("It loses {least:.0} to {most:.0} % of its rate.")
        }
        None => format!(
            "So short a trial tells rates apart only if they differ by more than {}.",
            told_apart(part)
        ),
    };
    Some(format!(
        "Your load carried {} with steering and {} without. {concluded}",
        rate(bps.with),
        rate(bps.without)
    ))
}

/// Whether others load the link, too: then steering here is not enough.
fn of_others(finding: &Finding) -> Option<String> {
    let (idle, least) = (ms(finding.idle_ms), ms(finding.least_ms));
    let seen = match finding.others_load {
        true => format!(
            "Others load this link: before your load began its delay was {idle}, and {least} at best."
        ),
        false if finding.idle_ms >= LONG_MS => format!(
            "Before your load began the delay was {idle} already. Unless the host is that far away, or the link goes by \
             satellite, others load the link."
        ),
        false => return None,
    };
    Some(format!("{seen} {REMEDY}"))
}

/// Advice if other machines fill the queue.
const REMEDY: &str = "Only a machine that all of them pass can keep its queue short: install Tidegate on the router.";

/// Few hosts on the same continent have a longer delay without a queue, in ms.
const LONG_MS: f64 = 150.0;

/// The size of the difference, and its confidence.
fn certainty(finding: &Finding) -> Option<String> {
    let (test, [least, most]) = (finding.tested?, finding.saved_percent?);
    let (low, high, what) = match finding.verdict {
        Verdict::Helps => (least, most, "shorter"),
        Verdict::Hurts if finding.because.is_none() => (-most, -least, "longer"),
        _ => return None,
    };
    Some(format!(
        "Over {} pairs of slots it is {low:.0} to {high:.0} % {what} ({:.0} % confidence). Chance alone would make such a \
         difference in {} of 100 trials.",
        test.pairs,
        test.confidence * 100.0,
        match test.p * 100.0 {
            less if less < 1.0 => "less than 1".into(),
            of_100 => format!("{:.0}", of_100.ceil()),
        }
    ))
}

/// What the reason means, and what to do.
fn long(because: &Because, finding: &Finding, cut_short: Option<CutShort>) -> String {
    let rise = finding.rise_ms().unwrap_or(0.0).max(0.0);
    let adds = format!(
        "load adds {} to a delay of {}",
        ms(rise),
        ms(finding.base_ms())
    );
    match because {
        Because::Windowless(_) => format!(
            "Without steering {adds}. It has no receive window that could be lowered, and was not held{}. `tidegate run \
             --udp fallback` turns QUIC away, so that it comes over TCP.",
            match finding.unheld {
                Some(state) => format!(": {}", state.words()),
                None => "; `tidegate check` says what that takes".into(),
            }
        ),
        Because::LeftAlone => format!(
            "Without steering {adds}. `sudo tidegate top --filter alone` says why connections are left alone; most often \
             they have no TCP timestamps (`tidegate run --stampless`)."
        ),
        Because::ServerLimited => "Twice the load carried more, so the link had room. Try a server that is faster, or \
             several --url at once: this trial says nothing of a full link."
            .into(),
        Because::NotSaturated => "A queue builds up only while the link is full. Try a larger file: this trial says nothing of \
             a full link."
            .into(),
        Because::GivesWay => format!(
            "Others fill the queue, and take what your load leaves. {REMEDY} Where you cannot, `tidegate run` is not for this link."
        ),
        Because::ManagedQueue => format!(
            "With the link full {adds}, and packets were dropped or marked: the queue in front of the link is managed (as \
             fq_codel, CAKE or PIE do it) or small. There is nothing to gain."
        ),
        Because::NoQueue => format!(
            "Without steering {adds}, nothing was dropped, and twice the load carried no more. Either the sender keeps the \
             queue short by itself (BBR), or something beyond this link is the limit."
        ),
        Because::OthersQueue => format!(
            "Without steering {adds}, and with it as much. Others may fill the queue, or another direction's traffic. {REMEDY} \
             `tidegate probe` looks closer."
        ),
        Because::TooVariable => format!(
            "Without steering {adds}, with swings so large that a gain would not have shown. Try more pairs (--pairs 16), or \
             at another time of the day."
        ),
        Because::TooFewPairs => "The place that was asked for round trips answered too seldom. Name another with --ping.".into(),
        Because::NoLoad => "The load uses another interface (--iface), or brings next to nothing.".into(),
        Because::TooMuchData => match cut_short.and_then(CutShort::would_take) {
            Some(bytes) => format!(
                "At the rate of the first pair it would take about {}: --max-data allows more, shorter slots (--slot 5) take less.",
                data(bytes)
            ),
            None => "All that --max-data allows was used up.".into(),
        },
    }
}

/// A duration: 0.4 ms, 41 ms, 1.2 s.
pub fn ms(ms: f64) -> String {
    match ms {
        ms if !ms.is_finite() => "unknown".into(),
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1e3),
    }
}

/// A rate in Mbit/s, or in kbit/s if Mbit/s would show no digit.
pub fn rate(bps: f64) -> String {
    let mbps = bps / 1e6;
    if mbps < 0.95 {
        format!("{:.0} kbit/s", bps / 1e3)
    } else if mbps < 9.95 {
        format!("{mbps:.1} Mbit/s")
    } else {
        format!("{mbps:.0} Mbit/s")
    }
}

/// A part in percent, rounded up, since smaller differences could not have been detected.
pub fn percent(part: f64) -> String {
    match (part * 100.0).ceil() {
        percent if percent < 100.0 => format!("{:.0} %", percent.max(1.0)),
        _ => format!("a factor of {:.0}", (1.0 + part).ceil()),
    }
}

/// By how much rates must differ for the trial to tell them apart: by `part`, and at least by [`LEAST_TOLD`].
pub fn told_apart(part: f64) -> String {
    percent(part.max(LEAST_TOLD))
}

/// An amount of data.
pub fn data(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 9.5e6 => format!("{:.0} MB", bytes / 1e6),
        bytes if bytes >= 999.5e3 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.0} kB", bytes / 1e3),
    }
}

/// The direction of the load, in one word.
pub fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "download",
        Direction::Up => "upload",
    }
}

/// Below which difference there is no verdict.
pub fn threshold() -> String {
    format!("differences below {} are not called one", ms(NOTICEABLE_MS))
}
