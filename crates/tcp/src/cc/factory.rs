//! What makes a connection's congestion control.

use super::{Algorithm, CongestionControl};
use std::fmt;
use std::sync::Arc;

/// Makes a congestion control for each connection: one of this crate's, or one of the caller's own.
///
/// A window that never changes, whatever is lost:
///
/// ```
/// use tidegate_tcp::cc::{CongestionControl, Factory, Window};
/// use tidegate_tcp::send::Flight;
/// use tidegate_tcp::{Config, Connection, Instant};
///
/// /// So many segments.
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
    Own(Arc<Build>),
}

/// Makes a congestion control for a connection. The number is of what it does at random: another for each connection, and the
/// same whenever the same is run ([`Config::seed`](crate::Config::seed)).
pub type Build = dyn Fn(u64) -> Box<dyn CongestionControl> + Send + Sync;

impl Factory {
    /// One of the caller's own; `build` is called once for each connection, with the seed of what it does at random.
    pub fn new(build: impl Fn(u64) -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Self {
        Self::Own(Arc::new(build))
    }

    /// A fresh one, for one connection; `seed` is of what it does at random.
    pub fn build(&self, seed: u64) -> Box<dyn CongestionControl> {
        match self {
            Self::Algorithm(algorithm) => algorithm.build(seed),
            Self::Own(build) => build(seed),
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
            Self::Own(_) => f.write_str("Own"),
        }
    }
}
