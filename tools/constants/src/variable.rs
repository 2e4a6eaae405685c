//! The constants as variables: their list, their judges, and the values to try.

use tidegate_laws::tunable::{self, Constant};
use tidegate_mpath::{Odds, set_odds};

/// The factors for a value.
const FACTORS: [f64; 4] = [0.5, 0.75, 4.0 / 3.0, 2.0];

/// Judges by header; the first entry that fits a header or a name counts.
const JUDGES: [(&str, &[&str]); 15] = [
    ("TG_TIDE_FLAT", &["stampless"]),
    ("ROUND_DIVISOR", &["stampless"]),
    ("COMPETING", &["company"]),
    ("MARGIN_EIGHTHS", &["links", "sharing"]),
    ("tide/path.h", &["links"]),
    ("tide/forecast.h", &["links"]),
    ("tide/share.h", &["sharing", "links"]),
    ("tide/whose_queue.h", &["company"]),
    ("tide/question.h", &["company"]),
    ("tide/floors.h", &["changes"]),
    ("tide/", &["sharing"]),
    ("windowed_min.h", &["uploads"]),
    ("hold/upload.h", &["uploads"]),
    ("hold", &["hold"]),
    ("magnitudes.h", &["links", "changes", "sharing", "hold"]),
];

/// The judges of mPath's odds.
const MPATH: [&str; 4] = ["equation-3.7", "fig-3.7", "fig-3.8", "fig-3.10"];

/// All judges of the laws, for mechanisms that are turned off: each is judged by what it is for and by everything else.
const ALL: [&str; 9] = [
    "links",
    "changes",
    "sharing",
    "crowd",
    "devices",
    "hold",
    "uploads",
    "stampless",
    "company",
];

/// The beginning of the comment of a mechanism's switch.
const ABLATION: &str = "ablation: ";

/// A constant that can have other values.
pub struct Variable {
    pub name: &'static str,
    /// Where it is.
    pub place: &'static str,
    pub says: &'static str,
    pub in_use: f64,
    pub judges: &'static [&'static str],
    whole: bool,
    set: Box<dyn Fn(f64)>,
}

impl Variable {
    /// All constants that rest on a sweep: the laws', then mPath's.
    pub fn all() -> Vec<Self> {
        let constants = tunable::constants().iter();
        let swept = constants.filter(|constant| !constant.says.starts_with(ABLATION));
        swept.map(Self::of_laws).chain(of_mpath()).collect()
    }

    /// The switches of mechanisms, which are on.
    pub fn mechanisms() -> Vec<Self> {
        let constants = tunable::constants().iter();
        let switches = constants.filter(|constant| constant.says.starts_with(ABLATION));
        let switch = |constant: &Constant| Self {
            judges: &ALL,
            says: constant.says.trim_start_matches(ABLATION),
            ..Self::of_laws(constant)
        };
        switches.map(switch).collect()
    }

    fn of_laws(constant: &Constant) -> Self {
        let constant = *constant;
        let fits = |word: &str| constant.header.contains(word) || constant.name.contains(word);
        let judges = JUDGES.iter().find(|(word, _)| fits(word));
        Self {
            name: constant.name,
            place: constant.header,
            says: constant.says,
            in_use: constant.in_use() as f64,
            judges: judges.map_or(&[][..], |(_, judges)| *judges),
            whole: true,
            set: Box::new(move |value| constant.set(value as i64)),
        }
    }

    /// Sets its value, while nothing runs.
    pub fn set(&self, value: f64) {
        (self.set)(value);
    }

    /// The values to try: neighbours for a shift, multiples for anything else; whole and not 0 if the value in use is.
    pub fn tried(&self, coarse: bool) -> Vec<f64> {
        if self.place.ends_with("mechanisms.h") {
            return vec![0.0];
        }
        let mut values: Vec<f64> = match self.name.ends_with("SHIFT") {
            true => [-1.0, 1.0].map(|by| self.in_use + by).into(),
            false => {
                let factors = FACTORS
                    .iter()
                    .filter(|&&by| !coarse || by == 0.5 || by == 2.0);
                let multiples = factors.map(|by| self.in_use * by);
                multiples
                    .map(|value| if self.whole { value.round() } else { value })
                    .collect()
            }
        };
        // A share is at most 1.
        values.retain(|&value| {
            value != self.in_use && (value != 0.0 || self.name.ends_with("SHIFT"))
        });
        values.retain(|&value| self.name != "seen" || value < 1.0);
        values.dedup();
        values
    }
}

fn of_mpath() -> Vec<Variable> {
    type Part = fn(&mut Odds) -> &mut f64;
    let parts: [(&str, &str, Part); 4] = [
        (
            "seen",
            "how often a shared queue that overflows is seen to be full",
            |odds| &mut odds.seen,
        ),
        ("rare", "nothing is held for rarer than that", |odds| {
            &mut odds.rare
        }),
        ("certain", "odds of 20 to 1, their logarithm", |odds| {
            &mut odds.certain
        }),
        (
            "most",
            "so far evidence goes at most, as a multiple of that",
            |odds| &mut odds.most,
        ),
    ];
    let variable = |(name, says, part): (&'static str, &'static str, Part)| {
        let mut in_use = Odds::IN_USE;
        Variable {
            name,
            place: "mPath, Odds",
            says,
            in_use: *part(&mut in_use),
            judges: &MPATH,
            whole: false,
            set: Box::new(move |value| {
                let mut odds = Odds::IN_USE;
                *part(&mut odds) = value;
                set_odds(odds);
            }),
        }
    };
    parts.into_iter().map(variable).collect()
}
