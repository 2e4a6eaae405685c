//! Changes what loaded programs do: law and parameters, rules, pauses.

use super::Agent;
use super::records::bytes;
use crate::skeleton::AgentSkel;
use crate::{AgentError, Direction, Interface, Rules};
use libbpf_rs::{MapCore, MapFlags};
use tidegate_laws::{Law, Params};

impl Agent {
    /// Sets law and parameters, at any time; see [`configure`].
    pub fn configure(&mut self, params: &Params, dry_run: bool) {
        configure(&mut self.skeleton, params, dry_run);
    }

    /// Applies rules that ask for units to the units that run now. Returns whether any has started or ended since the
    /// last call.
    ///
    /// # Errors
    /// If there are too many, or the kernel refuses; then the rules in force stay until the next change.
    pub fn follow_units(&mut self) -> Result<bool, AgentError> {
        if !self.rules.ask_units() {
            return Ok(false);
        }
        let now = self.rules.with_units();
        let is_news = now != self.followed;
        if is_news {
            self.followed.clone_from(&now);
            set_rules(&mut self.skeleton, &now, &self.interfaces)?;
        }
        Ok(is_news)
    }

    /// Nothing is steered before this time, of `CLOCK_MONOTONIC` in µs: in a pause, or so that the difference can be
    /// measured. Every window passes as the kernel wrote it. Flows go on learning, and afterwards the programs steer
    /// again by themselves.
    pub fn pass_until(&mut self, us: u64) {
        let data = self.skeleton.maps.data_data.as_deref_mut();
        let data = data.expect("the programs have globals");
        data.config.unsteered_until_us = us;
    }
}

/// Sets law and parameters of loaded programs. Flows keep what they have learned, except uploads when a law begins to
/// steer them: the programs have not watched them before, so their records may be of connections that are long over.
pub fn configure(skeleton: &mut AgentSkel<'_>, params: &Params, dry_run: bool) {
    let uploads = &skeleton.maps.uploads;
    let data = skeleton
        .maps
        .data_data
        .as_deref_mut()
        .expect("the programs have globals");
    let law = params.to_sys();
    let before = Law::from_raw(data.config.params.law);
    if params.law.steers_uploads() && !before.is_some_and(Law::steers_uploads) {
        clear(uploads);
        // Live downloads note their scales again.
        clear(&skeleton.maps.scales);
        forget_made(&skeleton.maps.made, Direction::Up);
    }
    data.config.params.lambda_q8 = law.lambda_q8;
    data.config.params.limit = law.limit;
    data.config.params.keep = law.keep;
    data.config.params.stampless = law.stampless;
    data.config.params.law = law.law;
    data.config.dry_run = dry_run.into();
}

/// Forgets every record of a table.
fn clear(table: &impl MapCore) {
    for key in table.keys() {
        // It may have been evicted since.
        let _ = table.delete(&key);
    }
}

/// Resets the count of records that were made.
fn forget_made(made: &impl MapCore, direction: Direction) {
    let key = (direction as u32).to_ne_bytes();
    if let Ok(Some(cpus)) = made.lookup_percpu(&key, MapFlags::ANY) {
        let none = vec![vec![0; size_of::<u64>()]; cpus.len()];
        // If that fails, only the shown number of pushed-out records is wrong.
        let _ = made.update_percpu(&key, &none, MapFlags::ANY);
    }
}

/// Gives loaded programs, which are on the interfaces `attached`, new `rules`, with the units that run now; they are
/// applied to a flow at its next packet that leaves.
pub fn set_rules(
    skeleton: &mut AgentSkel<'_>,
    rules: &Rules,
    attached: &[Interface],
) -> Result<(), AgentError> {
    let rodata = skeleton.maps.rodata_data;
    let sees_cgroups = rodata.expect("the programs have constants").sees_cgroups;
    if rules.ask_cgroups() && !sees_cgroups {
        return Err(AgentError::NoCgroups);
    }
    let data = skeleton.maps.data_data.as_deref_mut();
    let generation = &mut data.expect("the programs have globals").config.rules;
    let next = *generation + 1;
    skeleton
        .maps
        .rule_sets
        .update(
            &(next % 2).to_ne_bytes(),
            bytes(&rules.with_units().to_sys(attached)?),
            MapFlags::ANY,
        )
        .map_err(AgentError::Map)?;
    // Last, so that a program that reads the new generation finds its set complete.
    *generation = next;
    Ok(())
}
