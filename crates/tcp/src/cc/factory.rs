//! Factories of congestion controls.

use super::{Algorithm, CongestionControl};
use crate::Ecn;
use crate::ecn::EcnMode;
use std::fmt;
use std::sync::Arc;

/// Makes a congestion control for each connection: one of this crate's, or one of the caller's own.
///
/// A window that never changes, whatever is lost:
///
/// ```
/// use tidegate_tcp::cc::{CongestionControl, Factory, Flight, Window};
/// use tidegate_tcp::{Config, Connection, Instant};
///
/// /// A window of this many segments.
/// #[derive(Debug)]
/// struct Fixed(u32);
///
/// impl CongestionControl for Fixed {
///     fn init(&mut self, w: &mut Window, _f: &Flight) {
///         w.cwnd = self.0;
///     }
///
///     fn ssthresh(&mut self, _w: &Window, _f: &Flight) -> u32 {
///         self.0
///     }
///
///     fn cong_avoid(&mut self, w: &mut Window, _f: &Flight, _acked: u32) {
///         w.cwnd = self.0;
///     }
/// }
///
/// let config = Config {
///     congestion_control: Factory::new(|_seed| Box::new(Fixed(4))),
///     ..Config::default()
/// };
/// let now = Instant::ZERO;
/// let mut client = Connection::connect(Config::default(), now);
/// let syn = client.transmit(now).expect("the SYN");
/// let mut server = Connection::accept(config, now, &syn).expect("it is a SYN");
/// client.receive(now, &server.transmit(now).expect("the SYN-ACK"));
/// server.receive(now, &client.transmit(now).expect("the ACK"));
///
/// server.write(100_000);
/// let flight: Vec<_> = std::iter::from_fn(|| server.transmit(now)).collect();
/// assert_eq!(flight.len(), 4);
/// assert_eq!(flight.iter().map(|segment| segment.len).sum::<u32>(), 4 * 1448);
/// ```
#[derive(Clone)]
pub enum Factory {
    /// One of this crate's.
    Algorithm(Algorithm),
    /// One of the caller's own ([`Self::new`]).
    Own {
        /// Makes it.
        build: Arc<Build>,
        /// The ECN feedback that it asks for by itself.
        needs_ecn: EcnMode,
        /// The codepoint of its packets.
        ect: Ecn,
    },
}

/// Makes a congestion control for a connection. The number is a seed for its random choices: another one for each
/// connection, and the same ones in the same run ([`Config::seed`](crate::Config::seed)).
pub type Build = dyn Fn(u64) -> Box<dyn CongestionControl> + Send + Sync;

impl Factory {
    /// A congestion control of the caller's own; `build` is called once for each connection, with a seed for its random
    /// choices.
    pub fn new(build: impl Fn(u64) -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Self {
        Self::Own {
            build: Arc::new(build),
            needs_ecn: EcnMode::Off,
            ect: Ecn::Ect0,
        }
    }

    /// Lets it ask for ECN whatever the configuration, and its packets carry `codepoint`. If it needs classic ECN, it
    /// is told each packet's mark, as DCTCP is. No effect on this crate's own algorithms: each knows what it
    /// needs.
    pub fn with_ecn(mut self, needs: EcnMode, codepoint: Ecn) -> Self {
        if let Self::Own { needs_ecn, ect, .. } = &mut self {
            (*needs_ecn, *ect) = (needs, codepoint);
        }
        self
    }

    /// The ECN feedback that it asks for by itself, whatever the configuration (`TCP_CONG_NEEDS_ECN`).
    pub const fn needs_ecn(&self) -> EcnMode {
        match self {
            Self::Algorithm(algorithm) => algorithm.needs_ecn(),
            Self::Own { needs_ecn, .. } => *needs_ecn,
        }
    }

    /// The codepoint of its packets, where ECN is agreed on.
    pub const fn ect(&self) -> Ecn {
        match self {
            Self::Algorithm(algorithm) => algorithm.ect(),
            Self::Own { ect, .. } => *ect,
        }
    }

    /// A new instance for one connection; `seed` is for its random choices.
    pub fn build(&self, seed: u64) -> Box<dyn CongestionControl> {
        match self {
            Self::Algorithm(algorithm) => algorithm.build(seed),
            Self::Own { build, .. } => build(seed),
        }
    }
}

impl Default for Factory {
    fn default() -> Self {
        Algorithm::default().into()
    }
}

impl From<Algorithm> for Factory {
    fn from(algorithm: Algorithm) -> Self {
        Self::Algorithm(algorithm)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Algorithm(algorithm) => algorithm.fmt(f),
            Self::Own { .. } => f.write_str("Own"),
        }
    }
}
