//! The technologies' parameters: the numbers behind [`CellKind`](super::CellKind).

/// Parameters of a technology. Times are in seconds.
#[derive(Debug)]
pub(super) struct Profile {
    /// Bit/s.
    pub(super) mean_bps: f64,
    /// Transmission time interval.
    pub(super) tti: f64,
    pub(super) slow: Walk,
    pub(super) fast: Walk,
    pub(super) fades: Dips,
    pub(super) outages: Dips,
}

/// A mean-reverting (Ornstein-Uhlenbeck) walk.
#[derive(Debug)]
pub(super) struct Walk {
    /// Its standard deviation, in nepers.
    pub(super) deviation: f64,
    /// Correlation time in seconds.
    pub(super) time: f64,
}

/// Dips, times with only `depth` of the rate. A share of (1 + t/`scale`)^−`shape` of them is longer than t; none is
/// longer than `longest`.
#[derive(Debug)]
pub(super) struct Dips {
    pub(super) depth: f64,
    pub(super) per_minute: f64,
    pub(super) scale: f64,
    pub(super) shape: f64,
    pub(super) longest: f64,
}

impl Dips {
    /// The long-run share of a rate that they leave.
    pub(super) fn remainder(&self) -> f64 {
        1.0 - (1.0 - self.depth) * self.per_minute / 60.0 * self.mean()
    }

    /// Mean time from the end of one dip to the start of the next.
    pub(super) fn mean_between(&self) -> f64 {
        60.0 / self.per_minute - self.mean()
    }

    /// Mean length of a dip: the integral of the share of longer ones.
    fn mean(&self) -> f64 {
        let Self { scale, shape, .. } = self;
        let tail = libm::pow(1.0 + self.longest / scale, 1.0 - shape);
        scale / (shape - 1.0) * (1.0 - tail)
    }
}

/// After the LTE traces' variation within and between seconds and, for the outages, AT&T's and
/// Verizon's numbers of gaps.
pub(super) static LTE: Profile = Profile {
    mean_bps: 12e6,
    tti: 0.004,
    slow: Walk {
        deviation: 0.5,
        time: 4.0,
    },
    fast: Walk {
        deviation: 0.4,
        time: 0.15,
    },
    fades: Dips {
        depth: 0.25,
        per_minute: 5.0,
        scale: 3.0,
        shape: 4.0,
        longest: 4.0,
    },
    outages: Dips {
        depth: 0.0,
        per_minute: 300.0,
        scale: 0.03,
        shape: 2.2,
        longest: 1.2,
    },
};

/// After the UMTS trace; its rate is half again as high, as HSPA's was.
pub(super) static HSPA: Profile = Profile {
    mean_bps: 3e6,
    tti: 0.010,
    slow: Walk {
        deviation: 0.6,
        time: 6.0,
    },
    fast: Walk {
        deviation: 0.25,
        time: 0.15,
    },
    fades: Dips {
        depth: 0.15,
        per_minute: 5.0,
        scale: 6.0,
        shape: 4.0,
        longest: 8.0,
    },
    outages: Dips {
        depth: 0.0,
        per_minute: 21.0,
        scale: 0.7,
        shape: 2.8,
        longest: 6.0,
    },
};

/// After the EVDO trace.
pub(super) static EVDO: Profile = Profile {
    mean_bps: 0.6e6,
    tti: 0.010,
    slow: Walk {
        deviation: 0.6,
        time: 4.0,
    },
    fast: Walk {
        deviation: 0.6,
        time: 0.15,
    },
    fades: Dips {
        depth: 0.15,
        per_minute: 5.0,
        scale: 6.0,
        shape: 4.0,
        longest: 8.0,
    },
    outages: Dips {
        depth: 0.0,
        per_minute: 60.0,
        scale: 0.3,
        shape: 2.4,
        longest: 12.0,
    },
};
