//! Turns a run's records into its result.

mod accuracy;
mod flows;
mod series;
mod transfers;

use accuracy::rtt_accuracy;

use crate::emulator::{LaneRecord, Record, Ways};
use crate::sample::Samples;
use crate::workload::Applications;
use std::collections::BTreeMap;
use std::net::IpAddr;
use tidegate_link::{Capacity, Config};
use tidegate_measure::{Durations, Window};
use tidegate_scenario::{Health, Hop, HopResult, LinkInputs, Run, RunResult};

/// Above this 99th percentile of the timing error a run does not count. The packets of a cell's burst are due at once,
/// and can only be written one after another, 20 µs each. This is twice the time for the largest bursts, and a fraction
/// of any round trip.
const TIMING_ERROR_LIMIT_MS: f64 = 1.0;

/// Above this share of a core the emulator may have been the bottleneck.
const EMULATOR_LIMIT: f64 = 0.95;

/// Above this share of the machine the hosts may have been the bottleneck.
const MACHINE_LIMIT: f64 = 0.95;

/// Everything that was recorded in a run.
pub struct RunRecord {
    /// The emulator's record.
    pub record: Record,
    /// The sampler's record.
    pub samples: Samples,
    /// The workloads' logs.
    pub applications: Applications,
    /// Which part of the run counts.
    pub window: Window,
    /// The addresses of the server that an agent's flows lead to, and the links that packets of each address cross.
    pub ways: BTreeMap<IpAddr, Ways>,
    /// Packets that devices and sockets lost.
    pub plumbing_losses: u64,
    /// Share of the machine that was busy after the warm-up.
    pub machine_cpu: f64,
    /// Problems that did not end the run.
    pub warnings: Vec<String>,
}

impl RunRecord {
    /// The outcome in the schema's terms, with its curves if `series`.
    pub fn result(
        &self,
        run: &Run,
        congestion_control: &str,
        (hops, inputs): (&[Hop], &LinkInputs),
        series: bool,
    ) -> RunResult {
        let Record {
            down, up, counted, ..
        } = &self.record;
        let lanes = self.record.hops.iter().zip(&inputs.hops);
        let hop = |(hop, (lane, config)): (&Hop, (&LaneRecord, &Config))| HopResult {
            name: hop.name.clone(),
            link: lane.link.result(config, *counted),
        };
        let curves = || {
            let mut down = Capacity::new(&inputs.down.rate);
            let mut all = series::all(self, &mut down);
            let transfers = self.applications.transfers.iter();
            all.extend(transfers.flat_map(|log| transfers::series(log)));
            all
        };
        RunResult {
            name: run.name.clone(),
            law: run.law,
            congestion_control: congestion_control.into(),
            flows: flows::flow_results(self),
            fetches: flows::fetch_results(self),
            link: down.link.result(&inputs.down, *counted),
            uplink: up.link.result(&inputs.up, *counted),
            hops: hops.iter().zip(lanes).map(hop).collect(),
            transfers: self
                .applications
                .transfers
                .iter()
                .map(|log| transfers::result(log))
                .collect(),
            cake: None,
            own_law: None,
            own_server_law: None,
            arrivals: Vec::new(),
            videos: Vec::new(),
            held: flows::held_results(self),
            health: self.health(),
            agent_rtt: rtt_accuracy(
                (&self.record, &self.ways),
                &self.samples.agent,
                self.window.warmup,
            ),
            series: if series { curves() } else { Vec::new() },
        }
    }

    fn health(&self) -> Health {
        let Record { down, up, .. } = &self.record;
        let mut timing_error = Durations::new();
        timing_error.add(&down.timing_error);
        timing_error.add(&up.timing_error);
        for hop in &self.record.hops {
            timing_error.add(&hop.timing_error);
        }
        let mut health = Health {
            timing_error_ms: timing_error.quantiles_ms(),
            plumbing_losses: self.plumbing_losses + self.record.refused,
            emulator_cpu: self.record.cpu_share,
            machine_cpu: self.machine_cpu,
            warnings: self.warnings.clone(),
        };
        health.warnings.extend(complaints(&health));
        health
    }
}

/// Why a run with that health should not be counted.
fn complaints(health: &Health) -> Vec<String> {
    let mut complaints = Vec::new();
    if health.plumbing_losses > 0 {
        complaints.push(format!(
            "the laboratory itself lost {} packets, expected none",
            health.plumbing_losses
        ));
    }
    if health.timing_error_ms.p99 > TIMING_ERROR_LIMIT_MS {
        complaints.push(format!(
            "packets were late: 99th percentile {:.2} ms, at most {TIMING_ERROR_LIMIT_MS} ms expected; \
             the machine was {:.0} % busy",
            health.timing_error_ms.p99,
            health.machine_cpu * 100.0
        ));
    }
    for (what, share, limit) in [
        ("the emulator used", health.emulator_cpu, EMULATOR_LIMIT),
        ("the machine was busy at", health.machine_cpu, MACHINE_LIMIT),
    ] {
        if share > limit {
            complaints.push(format!(
                "{what} {:.0} %, at most {:.0} % expected",
                share * 100.0,
                limit * 100.0
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests;
