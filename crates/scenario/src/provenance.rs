//! Where a result comes from.

use serde::{Deserialize, Serialize};

/// What a reader needs to have the same result again. It holds no date and nothing of how many cores took part or where the
/// result went: the same command gives the same bytes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Provenance {
    /// Tidegate's version.
    pub version: String,
    /// The commit that it was built from, with `-dirty` if its sources had been changed since; `unknown` where they came
    /// without one.
    pub commit: String,
    /// Release of the running kernel, where it had a part in the result; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The command, as a shell takes it, without what changes no number and without secrets.
    pub command: String,
    /// Seed of everything random; absent where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seeds>,
}

/// The seed of a result, or those that it is a summary of.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(untagged)]
pub enum Seeds {
    /// A single one.
    One(u64),
    /// Several, in ascending order.
    Several(Vec<u64>),
}

impl Seeds {
    /// The different ones among `seeds`; none of none.
    pub fn of(seeds: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut seeds: Vec<u64> = seeds.into_iter().collect();
        seeds.sort_unstable();
        seeds.dedup();
        match seeds.as_slice() {
            [] => None,
            [one] => Some(Self::One(*one)),
            _ => Some(Self::Several(seeds)),
        }
    }

    /// For people: `seed 1`, `seeds 1 to 30`, `seeds 1, 5, 9`.
    pub fn words(&self) -> String {
        match self {
            Self::One(seed) => format!("seed {seed}"),
            Self::Several(seeds) => format!("seeds {}", listed(seeds)),
        }
    }
}

fn listed(seeds: &[u64]) -> String {
    let (first, last) = (seeds[0], seeds[seeds.len() - 1]);
    if last - first + 1 == seeds.len() as u64 {
        return format!("{first} to {last}");
    }
    let all: Vec<_> = seeds.iter().map(u64::to_string).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_told_in_words_and_in_json() {
        let of = |seeds: &[u64]| Seeds::of(seeds.iter().copied());
        assert_eq!(of(&[]), None);
        for (seeds, words, json) in [
            (&[7, 7][..], "seed 7", "7"),
            (&[3, 1, 2], "seeds 1 to 3", "[1,2,3]"),
            (&[9, 1, 5], "seeds 1, 5, 9", "[1,5,9]"),
        ] {
            let seeds = of(seeds).unwrap();
            assert_eq!(seeds.words(), words);
            assert_eq!(serde_json::to_string(&seeds).unwrap(), json);
        }
    }
}
