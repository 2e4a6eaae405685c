//! Reading what the programs know of connections: those that are steered, those without a window, those left alone.

use super::Agent;
use super::records::{records, value};
use crate::skeleton::types::{
    tg_connection, tg_fast_path, tg_fast_path_set, tg_flow, tg_key, tg_left, tg_left_key, tg_path,
    tg_record, tg_upload_record, tg_windowless, tg_windowless_key,
};
use crate::tables::TableView;
use crate::view::endpoints;
use crate::{AgentError, Direction, Endpoint, FlowView, LeftView, Reason, WindowlessView};
use libbpf_rs::{MapCore, MapFlags};
use std::collections::HashMap;

/// An interface, with this machine's end of a connection and the far one.
type Ends = (u32, (Endpoint, Endpoint));

impl Agent {
    /// Every flow in the tables, in no particular order.
    pub fn flows(&self) -> Vec<FlowView> {
        let maps = &self.skeleton.maps;
        let paths: HashMap<_, _> = self.path_records().collect();
        // An interface that has gone may have left flows behind.
        let nothing = tg_path::default();
        let view = |direction, key: &tg_key, flow: &tg_flow, connection: &tg_connection| {
            let path = paths.get(&(direction, key.ifindex)).unwrap_or(&nothing);
            FlowView::new(direction, key, flow, connection, &path.interface)
        };
        let downloads = records::<tg_key, tg_record>(&maps.flows)
            .map(|(key, r)| view(Direction::Down, &key, &r.flow, &r.connection));
        let uploads = records::<tg_key, tg_upload_record>(&maps.uploads)
            .map(|(key, r)| view(Direction::Up, &key, &r.upload.flow, &r.connection));
        let mut flows: Vec<_> = downloads.chain(uploads).collect();
        self.add_passed(&mut flows);
        flows
    }

    /// Adds bytes and packets of downloads that passed since a program last looked at them (`bpf/tcp/fast_path.h`).
    fn add_passed(&self, flows: &mut [FlowView]) {
        let passed: HashMap<_, _> = self.passed(Reason::Measured).collect();
        for flow in flows.iter_mut().filter(|f| f.direction == Direction::Down) {
            let key = (flow.ifindex, (flow.local, flow.remote));
            flow.received_bytes += passed.get(&key).map_or(0, |s| u64::from(s.bytes));
        }
    }

    /// Packets of downloads that passed on the fast path since the last look, and count under `reason`: by interface
    /// and ends.
    pub(super) fn passed(&self, reason: Reason) -> impl Iterator<Item = (Ends, tg_fast_path)> {
        let map = &self.skeleton.maps.fast_path;
        // One system call for all: a look at every place would be thousands.
        let sets = map.lookup_batch(map.max_entries(), MapFlags::ANY, MapFlags::ANY);
        let sets = sets.into_iter().flatten();
        let passed = sets.flat_map(|(_, set)| value::<tg_fast_path_set>(&set).of);
        let passed = passed.filter(move |s| s.packets + s.answers > 0 && s.reason == reason as u32);
        passed.map(|s| ((s.key.ifindex, endpoints(&s.key)), s))
    }

    /// The tables of the directions that are served; `flows` are those of [`Agent::flows`].
    pub fn tables(&self, flows: &[FlowView]) -> Result<Vec<TableView>, AgentError> {
        let served = Direction::ALL.into_iter();
        let served = served.filter(|direction| self.directions.include(*direction));
        let view = |direction: Direction| {
            let key = (direction as u32).to_ne_bytes();
            let cpus = self.skeleton.maps.made.lookup_percpu(&key, MapFlags::ANY);
            let cpus = cpus.map_err(AgentError::Map)?;
            let made: u64 = cpus.iter().flatten().map(|cpu| value::<u64>(cpu)).sum();
            let used = flows.iter().filter(|f| f.direction == direction).count();
            Ok(TableView {
                direction,
                size: self.connections,
                used: used as u32,
                pushed_out: made.saturating_sub(used as u64),
            })
        };
        served.map(view).collect()
    }

    /// Every flow that has no window, in each direction that has had packets, in no particular order.
    pub fn windowless(&self) -> Vec<WindowlessView> {
        records::<tg_windowless_key, tg_windowless>(&self.skeleton.maps.windowless)
            .flat_map(|(key, flow)| WindowlessView::both(&key, &flow))
            .filter(|way| way.packets.sum() > 0)
            .collect()
    }

    /// Every TCP connection whose data are left alone, in no particular order.
    pub fn left(&self) -> Vec<LeftView> {
        let mut left: Vec<_> = records::<tg_left_key, tg_left>(&self.skeleton.maps.left)
            .map(|(key, left)| LeftView::new(&key, &left))
            .collect();
        let passed: HashMap<_, _> = self.passed(Reason::Denied).collect();
        for view in left.iter_mut().filter(|l| l.direction == Direction::Down) {
            if let Some(more) = passed.get(&(view.ifindex, (view.local, view.remote))) {
                view.packets += u64::from(more.packets);
                view.bytes += u64::from(more.bytes);
            }
        }
        left
    }
}
