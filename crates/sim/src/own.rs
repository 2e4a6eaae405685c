//! The caller's own laws and congestion controls, in place of a run's.

use crate::packet::index;
use std::fmt;
use std::sync::Arc;
use tidegate_basics::time::Instant;
use tidegate_laws::Law;
use tidegate_scenario::{RunResult, Side, Workload};
use tidegate_tcp::cc::{CongestionControl, Factory};
use tidegate_tcp::steer::{Arrival, Edge, OwnLaw};
use tidegate_tcp::{Connection, Segment};

/// The caller's own laws and congestion controls, for [`Options::own`](crate::Options::own): asked once a connection.
///
/// Keys of results ([`Keys`](crate::Keys)) do not include it, unless they are computed with a statement of what it is
/// ([`Keys::of_own`](crate::Keys::of_own)).
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use tidegate_scenario::{Scenario, Side};
/// use tidegate_sim::{Arrival, Options, Own, OwnLaw, Place, run_one};
///
/// /// One and a half times what has arrived in the last round trip.
/// #[derive(Debug, Default)]
/// struct Follow {
///     began: Duration,
///     before: u64,
///     window: Option<u32>,
/// }
///
/// impl OwnLaw for Follow {
///     fn arrives(&mut self, arrival: &Arrival) -> Option<u32> {
///         let round = arrival.rtt_min.filter(|&rtt| arrival.now - self.began >= rtt);
///         if let Some(rtt) = round {
///             let rounds = (arrival.now - self.began).as_secs_f64() / rtt.as_secs_f64();
///             let arrived = (arrival.in_order_bytes - self.before) as f64 / rounds;
///             self.window = Some((arrived * 1.5) as u32);
///             (self.began, self.before) = (arrival.now, arrival.in_order_bytes);
///         }
///         self.window
///     }
/// }
///
/// #[derive(Debug)]
/// struct Mine;
///
/// impl Own for Mine {
///     fn law(&self, place: &Place<'_>) -> Option<Box<dyn OwnLaw>> {
///         (place.side == Side::Client).then(|| Box::<Follow>::default() as _)
///     }
///
///     fn law_name(&self, side: Side) -> Option<&str> {
///         (side == Side::Client).then_some("follow")
///     }
/// }
///
/// let scenario = r#"
///     name = "own"
///     duration_s = 10
///     warmup_s = 5
///     down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 1000 } }
///     up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
///     workload = [{ name = "download", does = { bulk = {} } }]
///     run = [{ name = "mine" }]
/// "#;
/// let path = std::path::Path::new("own.toml");
/// let scenario = Scenario::parse(scenario, path)?;
/// let inputs = scenario.link_inputs(path)?;
/// let run = &scenario.runs[0];
/// let linux = run_one(&scenario, &inputs, run, &Options::default())?.expect("nothing stops it");
/// let own = Options {
///     own: Some(Arc::new(Mine)),
///     ..Options::default()
/// };
/// let mine = run_one(&scenario, &inputs, run, &own)?.expect("nothing stops it");
/// assert_eq!(mine.own_law.as_deref(), Some("follow"));
/// assert!(mine.link.queue_delay_ms.p95 < linux.link.queue_delay_ms.p95 / 4.0);
/// assert!(mine.link.utilisation > 0.95);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Own: fmt::Debug + Send + Sync {
    /// The law for the window of the host at which a connection's data arrive; none: the run's law. Not asked for
    /// workloads that name their own law, nor for those that no law steers.
    fn law(&self, _place: &Place<'_>) -> Option<Box<dyn OwnLaw>> {
        None
    }

    /// The congestion control for the sender of a connection's data; none: the run's. Not asked for workloads that
    /// name their own.
    fn congestion_control(&self, _place: &Place<'_>) -> Option<Box<dyn CongestionControl>> {
        None
    }

    /// The name of its law at that host in results, if it has one.
    fn law_name(&self, _side: Side) -> Option<&str> {
        None
    }

    /// The name of its congestion control in results, if it has one.
    fn congestion_control_name(&self) -> Option<&str> {
        None
    }
}

/// The end of a connection for which a law or a congestion control is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The workload's name.
    pub workload: &'a str,
    /// The host: for a law the one where the data arrive, for a congestion control the one that sends them.
    pub side: Side,
}

/// The factory of congestion controls for the senders of a workload's data: the caller's own if there is one, or else
/// `others`.
pub fn factory(own: &Arc<dyn Own>, workload: &Workload, others: &Factory) -> Factory {
    let (own, others) = (Arc::clone(own), others.clone());
    let (workload, side) = (workload.name.clone(), workload.sender());
    Factory::new(move |seed| {
        let place = Place {
            workload: &workload,
            side,
        };
        let control = own.congestion_control(&place);
        control.unwrap_or_else(|| others.build(seed))
    })
}

/// One of the caller's own laws, at the receiver of a connection's data.
#[derive(Debug)]
pub struct Steering {
    side: Side,
    law: Box<dyn OwnLaw>,
}

impl Steering {
    /// The caller's own law for that workload; none if there is none.
    pub fn new(own: &dyn Own, workload: &Workload) -> Option<Box<Self>> {
        let side = workload.sender().opposite();
        let place = Place {
            workload: &workload.name,
            side,
        };
        let law = own.law(&place)?;
        Some(Box::new(Self { side, law }))
    }

    /// The side that it steers.
    pub fn side(&self) -> Side {
        self.side
    }

    /// A segment has arrived at that side's `end` and has been measured at its edge; `before` is the number of round
    /// trips measured before it.
    pub fn arrived(
        &mut self,
        side: Side,
        now: Instant,
        segment: &Segment,
        (end, edge, before): (&Connection, &mut Edge, u32),
    ) {
        if side != self.side || segment.len == 0 {
            return;
        }
        let arrival = Arrival::of(now, segment, end, edge, before);
        edge.want(self.law.arrives(&arrival));
    }
}

/// Names the caller's own law and congestion control in a run's result.
pub fn name(own: &dyn Own, result: &mut RunResult) {
    let [client, server] =
        [Side::Client, Side::Server].map(|side| own.law_name(side).map(str::to_owned));
    if client.is_some() {
        result.law = Law::None;
    }
    (result.own_law, result.own_server_law) = (client, server);
    if let Some(name) = own.congestion_control_name() {
        result.congestion_control = name.to_owned();
    }
}

/// Number of round trips measured at an edge.
pub fn round_trips(edges: &[Option<Box<Edge>>; 2], side: Side) -> u32 {
    edges[index(side)].as_deref().map_or(0, Edge::round_trips)
}
