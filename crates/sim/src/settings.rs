//! Turns a scenario's hosts into an endpoint's settings.

use crate::run::Unsupported;
use tidegate_laws::Params;
use tidegate_scenario::{EcnMode, FlowControl, Hosts, Run, Side, Udp, Workload};
use tidegate_tcp::cc::{Algorithm, Factory};
use tidegate_tcp::{Config, ReceiveBuffer};

/// Largest send buffer, in bytes: as in the laboratory, twice the largest window of Linux 6.16 and later, so that a
/// sender waits for its congestion window or its peer's window, never for its own buffer.
pub const SEND_BUFFER: u64 = 64 << 20;

/// Congestion control of a run's senders.
pub fn congestion_control<'a>(hosts: &'a Hosts, run: &'a Run) -> &'a str {
    let own = run.congestion_control.as_deref();
    own.unwrap_or(&hosts.congestion_control)
}

/// The settings of every endpoint of a run.
///
/// # Errors
/// When there is no such congestion control.
pub fn config(hosts: &Hosts, run: &Run) -> Result<Config, Unsupported> {
    let defaults = Config::default();
    Ok(Config {
        congestion_control: algorithm(congestion_control(hosts, run))?.into(),
        timestamps: hosts.timestamps,
        sack: hosts.sack,
        initial_window: hosts.initial_window.unwrap_or(defaults.initial_window),
        slow_start_after_idle: hosts.slow_start_after_idle,
        send_buffer: SEND_BUFFER,
        // As the laboratory sets its sockets.
        nodelay: true,
        receive_buffer: match (run.window, run.rmem_max.or(hosts.rmem_max)) {
            (Some(window), _) => ReceiveBuffer::Fixed(window),
            (None, Some(max)) => limited(max),
            (None, None) => defaults.receive_buffer,
        },
        flow_control: flow_control(run.flow_control),
        ecn: ecn(run.ecn),
        ..defaults
    })
}

/// The settings of a workload's endpoints in a run; `others` are those of all other endpoints. Traffic without a
/// window is paced, as nearly every QUIC is, unless it is blocked and falls back to TCP.
///
/// # Errors
/// When there is no such congestion control.
pub fn of_workload(others: &Config, workload: &Workload, run: &Run) -> Result<Config, Unsupported> {
    let own = workload.congestion_control.as_deref().map(algorithm);
    let own = own.transpose()?.map(Factory::from);
    Ok(Config {
        congestion_control: own.unwrap_or_else(|| others.congestion_control.clone()),
        flow_control: workload
            .flow_control
            .map_or(others.flow_control, flow_control),
        timestamps: workload.timestamps.unwrap_or(others.timestamps),
        ecn: workload.ecn.map_or(others.ecn, ecn),
        paced: workload.windowless && run.udp != Udp::Fallback,
        ..others.clone()
    })
}

fn ecn(mode: EcnMode) -> tidegate_tcp::EcnMode {
    match mode {
        EcnMode::Off => tidegate_tcp::EcnMode::Off,
        EcnMode::Classic => tidegate_tcp::EcnMode::Classic,
        EcnMode::Accurate => tidegate_tcp::EcnMode::Accurate,
    }
}

fn flow_control(kind: FlowControl) -> tidegate_tcp::FlowControl {
    match kind {
        FlowControl::Linux => tidegate_tcp::FlowControl::Linux,
        FlowControl::Classic => tidegate_tcp::FlowControl::Classic,
        FlowControl::Adaptive => tidegate_tcp::FlowControl::Adaptive,
    }
}

/// Linux's buffer with another limit, which bounds its initial size too.
fn limited(limit: u64) -> ReceiveBuffer {
    match ReceiveBuffer::default() {
        ReceiveBuffer::Autotuned { initial, .. } => ReceiveBuffer::Autotuned {
            initial: initial.min(limit),
            max: limit,
        },
        fixed @ ReceiveBuffer::Fixed(_) => fixed,
    }
}

fn algorithm(name: &str) -> Result<Algorithm, Unsupported> {
    name.parse().map_err(|_| {
        let known: Vec<_> = Algorithm::ALL.iter().map(|a| a.name()).collect();
        Unsupported(format!(
            "the simulator has no congestion control \"{name}\", it has {}",
            known.join(", ")
        ))
    })
}

/// A workload's own law with the run's parameters, and the host where its data arrive.
pub fn own_law(workload: &Workload, run: &Run) -> Option<(Side, Params)> {
    let side = workload.sender().opposite();
    let params = Params {
        law: workload.law?,
        ..run.params_of(side)
    };
    Some((side, params))
}

/// The laws at the client's and the server's edge, if any, and whether each also steers what its host sends.
pub fn laws(run: &Run) -> [Option<(Params, bool)>; 2] {
    let steered = |side, uploads| {
        let params = run.params_of(side);
        (!params.law.is_none()).then_some((params, uploads))
    };
    [
        steered(Side::Client, run.steers_uploads()),
        steered(Side::Server, false),
    ]
}
