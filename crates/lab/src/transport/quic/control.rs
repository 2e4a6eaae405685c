//! The congestion controls that quinn has, by their names in scenarios.

use crate::run::Refused;
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use std::sync::Arc;
use strum::{EnumString, VariantNames};
use tidegate_scenario::{Hosts, Run, Step, Workload, WorkloadKind};

/// Payload of a UDP datagram before a path is known to take more (RFC 9000 §14.1).
const DATAGRAM: u64 = 1200;

/// A congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Control {
    /// RFC 9438.
    Cubic,
    /// NewReno (RFC 9002).
    Reno,
    /// The first version of BBR.
    Bbr,
}

/// Whether that workload's streams use QUIC: they do if it is windowless and would otherwise use TCP. Other windowless
/// workloads use UDP anyway.
pub fn takes_quic(run: &Run, workload: &Workload) -> bool {
    use WorkloadKind::{Command, Mpath, Mptcp, Ping, Sprout};
    let is_stream = !matches!(
        workload.does,
        Command { .. } | Mpath(_) | Mptcp { .. } | Ping { .. } | Sprout(_)
    );
    is_stream && !run.gives_window(workload)
}

impl Control {
    /// The congestion control of a workload's senders: its own, else the run's, else the hosts'.
    ///
    /// # Errors
    /// When quinn has none with that name.
    pub fn of(hosts: &Hosts, run: &Run, workload: &Workload) -> Result<Self, Refused> {
        let named = |list, name: &str| vec![Step::Key(list), Step::Named(name.into())];
        let own = workload.congestion_control.as_ref();
        let own = own.map(|word| (word, named("workload", &workload.name)));
        let of_run = run.congestion_control.as_ref();
        let of_run = of_run.map(|word| (word, named("run", &run.name)));
        let of_hosts = || (&hosts.congestion_control, vec![Step::Key("hosts")]);
        let (word, mut place) = own.or(of_run).unwrap_or_else(of_hosts);
        place.push(Step::Key("congestion_control"));
        word.parse().map_err(|_| Refused {
            place,
            value: word.clone(),
            message: format!(
                "workload \"{}\" has no window and is carried by QUIC, which has no congestion control \"{word}\" here, \
                 expected {}",
                workload.name,
                Self::VARIANTS.join(", ")
            ),
        })
    }

    /// A factory for connections with that initial window in bytes; absent: quinn's default.
    pub fn factory(self, initial_window: Option<u64>) -> Arc<dyn ControllerFactory + Send + Sync> {
        macro_rules! configured {
            ($config:ty) => {{
                let mut config = <$config>::default();
                if let Some(bytes) = initial_window {
                    config.initial_window(bytes);
                }
                Arc::new(config)
            }};
        }
        match self {
            Self::Cubic => configured!(CubicConfig),
            Self::Reno => configured!(NewRenoConfig),
            Self::Bbr => configured!(BbrConfig),
        }
    }
}

/// The bytes of `packets`.
pub fn initial_window(packets: u32) -> u64 {
    u64::from(packets) * DATAGRAM
}
