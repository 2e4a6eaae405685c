//! Checks that a server's memory does not grow.

use super::servers::{Kind, Usage};
use std::time::Duration;

/// How many parts the time is divided into; we compare their peaks.
const PARTS: usize = 12;

/// How much two moments may differ without a leak: the allocator settles, and buffers come and go.
const SLACK_KIB: u64 = 2048;

/// How much a server may take in a few seconds among such clients: buffers and threads for all its places.
const SHORT_KIB: u64 = 200 << 10;

/// In a shorter time memory does not settle.
const LONG: Duration = Duration::from_secs(600);

/// The server's peak memory in each part of the time.
pub struct Flat {
    kind: Kind,
    period: Duration,
    most: [Option<Usage>; PARTS],
}

impl Flat {
    pub fn over(kind: Kind, period: Duration) -> Self {
        Self {
            kind,
            period,
            most: [None; PARTS],
        }
    }

    pub fn note(&mut self, after: Duration, usage: Usage) {
        let part = after.as_secs_f64() / self.period.as_secs_f64() * PARTS as f64;
        let most = &mut self.most[(part as usize).min(PARTS - 1)];
        *most = Some(most.map_or(usage, |most| Usage {
            memory_kib: most.memory_kib.max(usage.memory_kib),
            descriptors: most.descriptors.max(usage.descriptors),
            threads: most.threads.max(usage.threads),
        }));
    }

    /// Prints the peaks.
    ///
    /// # Panics
    /// If the peak of the last quarter of a long run exceeds that of the second, or a short run took more than a server
    /// may need.
    pub fn expect(&self, acts: u64) {
        let kind = self.kind;
        let most: Vec<Usage> = self.most.iter().copied().flatten().collect();
        let row = |of: fn(&Usage) -> u64| {
            most.iter()
                .map(of)
                .map(|n| format!(" {n}"))
                .collect::<String>()
        };
        println!(
            "{kind:?}: {acts} acts in {} s; of each twelfth the most",
            self.period.as_secs()
        );
        println!("{kind:?}: resident KiB{}", row(|usage| usage.memory_kib));
        println!(
            "{kind:?}: descriptors {}",
            row(|usage| usage.descriptors as u64)
        );
        println!("{kind:?}: threads     {}", row(|usage| usage.threads));
        let memory = |part: &[Usage]| part.iter().map(|usage| usage.memory_kib).max().unwrap_or(0);
        assert!(memory(&most) < SHORT_KIB, "{kind:?}");
        if self.period >= LONG {
            let quarter = PARTS / 4;
            let (warm, late) = (
                memory(&most[quarter..2 * quarter]),
                memory(&most[3 * quarter..]),
            );
            assert!(
                late <= warm + SLACK_KIB,
                "{kind:?} had {warm} KiB, and at last {late}"
            );
        }
    }
}
