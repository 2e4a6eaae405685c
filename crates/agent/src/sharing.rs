//! Which flows share a queue, as `tide` has found, and how it sees that queue.

use crate::FlowView;
use crate::skeleton::types::{tg_flow, tg_interface, tg_tide};
use crate::view::{STALE_US, is_stale};
use serde::{Deserialize, Serialize};
use tidegate_laws::PathState;
use tidegate_laws::sys::TG_TIDE_Q;

/// How `tide` sees a queue: that of a group of flows, or of one flow alone.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct RecordView {
    /// What `tide` is doing.
    pub state: PathState,
    /// H in µs: the round trip without the forward queue.
    pub lag_us: u32,
    /// Forward queueing delay of the last packet, in µs.
    pub queue_us: u32,
    /// Forecast of the bytes that the link carries in one lag.
    pub forecast_bytes: u64,
    /// Mean error of that forecast, near and far, in bytes.
    pub error_bytes: [u64; 2],
    /// Flows that want more than they get, by weight.
    pub bottlenecked_flows: u32,
    /// How often the law has probed whether the queue is its own.
    pub questions: u32,
    /// Since when another machine fills the queue, in µs of CLOCK_MONOTONIC; absent if none does.
    pub competing_since_us: Option<u64>,
}

/// Flows that share a queue, and steer by one record.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct GroupView {
    /// Its number, which no other group of its interface and direction ever has.
    pub group: u32,
    /// Where the programs keep it; a later group may reuse the place.
    pub place: u32,
    /// How many flows are in it.
    pub flows: u32,
    /// How `tide` sees its queue.
    #[serde(flatten)]
    pub record: RecordView,
}

impl RecordView {
    fn new(tide: &tg_tide) -> Self {
        let bytes = |rate: i64| ((rate as u128 * u128::from(tide.h_us)) >> TG_TIDE_Q) as u64;
        Self {
            state: PathState::of(tide.state),
            lag_us: tide.h_us,
            queue_us: tide.queue_us,
            forecast_bytes: bytes(tide.m),
            error_bytes: [bytes(tide.d1), bytes(tide.d2)],
            bottlenecked_flows: tide.bottlenecked_flows,
            questions: tide.questions,
            competing_since_us: (tide.state == PathState::Competing as u32)
                .then_some(tide.competing_us),
        }
    }
}

/// The groups that one of the flows is in; the flows are of that interface and direction.
pub(crate) fn groups(interface: &tg_interface, flows: &[&FlowView], now_us: u64) -> Vec<GroupView> {
    let group = |(place, group): (usize, &crate::skeleton::types::tg_group)| {
        let members = || flows.iter().filter(|f| f.group == Some(group.name));
        let mut record = RecordView::new(&group.record);
        if members().all(|f| is_stale(f, now_us)) {
            record.queue_us = 0;
        }
        let flows = members().count() as u32;
        (flows > 0).then_some(GroupView {
            group: group.name,
            place: place as u32,
            flows,
            record,
        })
    };
    interface
        .group
        .iter()
        .enumerate()
        .filter_map(group)
        .collect()
}

/// The number of the group that the flow is in (`tg_group_has` in `laws/tide/group.h`).
pub(crate) fn group_of(flow: &tg_flow, interface: &tg_interface) -> Option<u32> {
    let sharing = &flow.member.sharing;
    let group = interface.group.get(sharing.place as usize)?;
    (sharing.joined != 0 && sharing.name == group.name).then_some(group.name)
}

/// The evidence for the flow's group; for a flow in no group, the strongest evidence that it shares a queue with
/// another. None: it was not compared yet.
pub(crate) fn score_of(flow: &tg_flow, interface: &tg_interface) -> Option<i32> {
    let sharing = &flow.member.sharing;
    let is_member = group_of(flow, interface).is_some();
    let comparisons = interface.group.iter().zip(&sharing.comparisons).enumerate();
    let current = comparisons.filter(|(place, (group, look))| {
        let own = *place == sharing.place as usize && sharing.name == group.name;
        group.name != 0 && look.name == group.name && own == is_member
    });
    current.map(|(_, (_, look))| i32::from(look.score)).max()
}

/// The flow's own record, while it is in no group; none if no data have arrived for five seconds.
pub(crate) fn record_of(flow: &tg_flow, interface: &tg_interface) -> Option<RecordView> {
    let told_us = flow.member.own.arrived_us;
    let seen = told_us != 0 && told_us + STALE_US >= flow.arrived_us;
    (seen && group_of(flow, interface).is_none()).then(|| RecordView::new(&flow.member.own))
}

#[cfg(test)]
mod tests;
