//! The work of the virtual machine for a scenario, as assignments of its shell (`packaging/rivals/guest`).

use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write;
use tidegate_scenario::{
    CakeSpec, LinkSpec, QueuePolicy, RateSpec, Run, Scenario, ShapedSpec, WorkloadKind,
};

/// Load in kbit/s from which cake-autorate considers a connection active (`connection_active_thr_kbps`). The script
/// refuses a value above the least rates.
const ACTIVE_KBIT: u64 = 2_000;

/// The assignments.
///
/// # Errors
/// If the scenario needs something that the machine's link or hosts do not have; the error has the key.
pub fn plan(scenario: &Scenario) -> Result<String> {
    hosts(scenario)?;
    let mut text = String::new();
    writeln!(
        text,
        "seconds={}",
        whole(scenario.duration_s, "duration_s")?
    )?;
    for (name, link) in [("down", &scenario.down), ("up", &scenario.up)] {
        let steps = of_link(link).with_context(|| name.to_owned())?;
        writeln!(text, "{name}=\"{}\"", steps.join(" "))?;
        writeln!(
            text,
            "{name}_delay_us={}",
            whole(link.delay_ms * 1e3, "delay_ms")?
        )?;
        let bytes = link.queue.bytes.context("queue.bytes: expected a limit")?;
        writeln!(text, "{name}_queue_bytes={bytes}")?;
    }
    writeln!(text, "active_kbit={}", active_kbit(scenario)?)?;
    let (names, kinds): (Vec<_>, Vec<_>) = scenario
        .runs
        .iter()
        .map(|run| Ok((name(run)?, kind(run)?)))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    writeln!(text, "names=({})", names.join(" "))?;
    writeln!(text, "kinds=({})", kinds.join(" "))?;
    Ok(text)
}

/// One download and one ping over the two links and nothing else.
fn hosts(scenario: &Scenario) -> Result<()> {
    ensure!(
        scenario.hops.is_empty(),
        "hop: expected none: the machine has two links"
    );
    let [download, ping] = &scenario.workloads[..] else {
        bail!("workload: expected a bulk download and a ping");
    };
    ensure!(
        matches!(&download.does, WorkloadKind::Bulk { .. })
            && matches!(&ping.does, WorkloadKind::Ping { .. }),
        "workload: expected a bulk download, and then a ping"
    );
    Ok(())
}

/// Seconds and kbit/s, one after the other.
fn of_link(link: &LinkSpec) -> Result<Vec<String>> {
    let has_more = link.loss.is_some()
        || link.shaper.is_some()
        || link.cell.is_some()
        || link.arq.is_some()
        || link.disorder.is_some()
        || link.middlebox.is_some()
        || link.delay_trace.is_some()
        || !link.delay_steps.is_empty();
    ensure!(
        !has_more,
        "expected rate, delay_ms and queue alone: the machine's link has no more"
    );
    ensure!(
        link.queue.policy == QueuePolicy::DropTail && link.queue.packets.is_none(),
        "queue: expected bytes alone: the machine's queue drops what arrives"
    );
    let steps = match &link.rate {
        RateSpec::ConstantMbps(mbps) => vec![[0.0, *mbps]],
        RateSpec::Steps(steps) => steps.clone(),
        _ => bail!("rate: expected constant_mbps or steps: the machine's link has no others"),
    };
    let words = steps
        .iter()
        .map(|&[second, mbps]| Ok(format!("{} {}", whole(second, "rate.steps")?, kbit(mbps)?)));
    words.collect()
}

/// A run's name for the shell: it names a folder.
fn name(run: &Run) -> Result<&str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    ensure!(
        !run.name.is_empty() && run.name.chars().all(plain),
        "run \"{}\": expected a name of letters, digits and hyphens",
        run.name
    );
    Ok(&run.name)
}

/// `linux`, `cake DOWN UP` or `autorate LEAST BASE MOST LEAST BASE MOST` in kbit/s, down and up.
fn kind(run: &Run) -> Result<String> {
    ensure!(
        run.law.is_none() && run.server_law.is_none(),
        "run \"{}\": expected no law: the machine has none",
        run.name
    );
    let words = match &run.cake {
        None => "linux".to_owned(),
        Some(cake) if !cake.is_steered() => {
            format!("cake {} {}", kbit(cake.down.mbps)?, kbit(cake.up.mbps)?)
        }
        Some(CakeSpec { down, up }) => format!("autorate {} {}", bounds(down)?, bounds(up)?),
    };
    Ok(format!("'{words}'"))
}

fn bounds(shaped: &ShapedSpec) -> Result<String> {
    let words = shaped.bounds().map(|mbps| Ok(kbit(mbps)?.to_string()));
    Ok(words.into_iter().collect::<Result<Vec<_>>>()?.join(" "))
}

/// The script's default, or a value that it accepts with these least rates.
fn active_kbit(scenario: &Scenario) -> Result<u64> {
    let cakes = scenario.runs.iter().filter_map(|run| run.cake);
    let least = cakes.flat_map(|cake| [cake.down, cake.up].map(|shaped| shaped.bounds()[0]));
    least
        .map(kbit)
        .try_fold(ACTIVE_KBIT, |so_far, kbit| Ok(so_far.min(kbit?)))
}

fn kbit(mbps: f64) -> Result<u64> {
    whole(mbps * 1e3, "mbps × 1000")
}

fn whole(value: f64, what: &str) -> Result<u64> {
    let rounded = value.round();
    ensure!(
        (value - rounded).abs() < 1e-6 && rounded >= 0.0,
        "{what} is {value}, expected a whole number: the machine's shell has no others"
    );
    Ok(rounded as u64)
}

#[cfg(test)]
mod tests;
