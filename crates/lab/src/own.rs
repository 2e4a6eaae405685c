//! Hosts with our own TCP: the workloads that they can run, and the caller's own congestion controls and laws there.

use crate::hosts::Settings;
use crate::run::Options;
use anyhow::{Result, ensure};
use tidegate_scenario::{Run, Side, Workload, WorkloadKind};
use tidegate_tcp::cc::{Algorithm, Factory};
use tidegate_tcp::steer::LawFactory;

/// Refuses workloads that need a kernel at a host with our own TCP: echoes, commands, UDP and MPTCP.
pub fn check(own: &[Side], workloads: &[Workload]) -> Result<()> {
    for workload in workloads {
        let needs_kernel = match &workload.does {
            WorkloadKind::Ping { .. } | WorkloadKind::Mpath(_) | WorkloadKind::Mptcp { .. } => {
                !own.is_empty()
            }
            WorkloadKind::Command { side, .. } => own.contains(side),
            _ => workload.windowless && !own.is_empty(),
        };
        ensure!(
            !needs_kernel,
            "workload \"{}\" needs the kernel's network, expected no own_tcp beside it",
            workload.name
        );
    }
    Ok(())
}

/// The congestion control with which a host of our own TCP sends the workload's data, if it is not the host's: the
/// caller's own, or the one that the workload names.
///
/// # Errors
/// When the data's sender would not use the caller's own, since it has the kernel's TCP.
pub fn sender(
    workload: &Workload,
    settings: &Settings,
    options: &Options,
) -> Result<Option<Factory>> {
    let side = workload.sender();
    let is_ours = settings.own_tcp.contains(&side);
    if let Some(own) = options.senders.and_then(|senders| senders(workload)) {
        ensure!(
            is_ours,
            "workload \"{}\" has a congestion control of the caller's own, expected own_tcp = [\"{}\"], the host that \
             sends its data",
            workload.name,
            side.name()
        );
        return Ok(Some(own));
    }
    let named = workload.congestion_control.as_ref().filter(|_| is_ours);
    Ok(named
        .map(|name| name.parse::<Algorithm>().map(Factory::from))
        .transpose()?)
}

/// The caller's own law for the workload's data, at the host that receives them.
///
/// # Errors
/// When that host would not use it, since it has the kernel's TCP.
pub fn law(
    workload: &Workload,
    run: &Run,
    settings: &Settings,
    options: &Options,
) -> Result<Option<LawFactory>> {
    let side = workload.sender().opposite();
    let law = asked(workload, run, options);
    ensure!(
        law.is_none() || settings.own_tcp.contains(&side),
        "workload \"{}\" has a law of the caller's own, expected own_tcp = [\"{}\"], the host that receives its data",
        workload.name,
        side.name()
    );
    Ok(law)
}

fn asked(workload: &Workload, run: &Run, options: &Options) -> Option<LawFactory> {
    let can_be = workload.steered && run.gives_window(workload);
    let laws = options.laws.filter(|_| can_be)?;
    laws(workload)
}

/// The names of the caller's own laws at client and server, each once, in the workloads' order.
pub fn law_names(workloads: &[Workload], run: &Run, options: &Options) -> [Option<String>; 2] {
    [Side::Client, Side::Server].map(|side| {
        let mut names: Vec<String> = Vec::new();
        let received = workloads.iter().filter(|w| w.sender().opposite() == side);
        for law in received.filter_map(|workload| asked(workload, run, options)) {
            if !names.iter().any(|name| name == law.name()) {
                names.push(law.name().to_owned());
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    })
}
