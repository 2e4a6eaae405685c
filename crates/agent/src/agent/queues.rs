//! Reading what the programs know of queues: a path for each direction of each interface.

use super::Agent;
use super::records::value;
use crate::skeleton::types::{tg_histograms, tg_path};
use crate::{AgentError, Direction, FlowView, Histograms, PathView, Reason, tally};
use libbpf_rs::{MapCore, MapFlags};
use std::sync::PoisonError;

impl Agent {
    /// Every path; `flows` are those of [`Agent::flows`].
    pub fn paths(&self, flows: &[FlowView], now_us: u64) -> Vec<PathView> {
        let view = |((direction, ifindex), mut path): (_, tg_path)| {
            let tallies = self.tallies_of(ifindex);
            let traffic = tally::carried(direction, &tallies);
            path.measured += tally::passed(direction, &tallies);
            PathView::new(direction, ifindex, &path, flows, traffic, now_us)
        };
        self.path_records().map(view).collect()
    }

    /// Payload bytes of TCP that were measured on all interfaces that it is on, by [`Direction::ALL`].
    pub fn measured_bytes(&self) -> [u64; 2] {
        let mut sums = [0; 2];
        for ((direction, ifindex), path) in self.path_records() {
            let passed = tally::passed(direction, &self.tallies_of(ifindex));
            sums[direction as usize] += path.measured + passed;
        }
        sums
    }

    /// The paths by direction and interface, each as it was at one moment.
    pub(super) fn path_records(&self) -> impl Iterator<Item = ((Direction, u32), tg_path)> {
        let maps = &self.skeleton.maps;
        [
            (Direction::Down, &maps.paths),
            (Direction::Up, &maps.uplinks),
        ]
        .into_iter()
        .flat_map(|(direction, map)| {
            map.keys().filter_map(move |key| {
                let path = map.lookup(&key, MapFlags::LOCK).ok()??;
                Some(((direction, value::<u32>(&key)), value::<tg_path>(&path)))
            })
        })
    }

    /// How queueing delays and windows were distributed, by [`Direction::ALL`], with the packets that passed on the
    /// fast path since its last measurements (`bpf/tcp/fast_path.h`). A measurement between reading the two would miss
    /// some packets, so no reported count is less than the one before.
    ///
    /// # Errors
    /// If the kernel cannot be asked.
    pub fn histograms(&self) -> Result<[Histograms; 2], AgentError> {
        let mut now = self.counted_histograms()?;
        for (_, place) in self.passed(Reason::Measured) {
            now[Direction::Down as usize].count_passed(&place);
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for (told, now) in told.iter_mut().zip(&now) {
            told.raise_to(now);
        }
        Ok(told.clone())
    }

    /// The same without the packets on the fast path.
    fn counted_histograms(&self) -> Result<[Histograms; 2], AgentError> {
        let of = |direction: Direction| {
            let key = (direction as u32).to_ne_bytes();
            let map = &self.skeleton.maps.histograms;
            let per_cpu = map
                .lookup_percpu(&key, MapFlags::ANY)
                .map_err(AgentError::Map)?;
            let records = per_cpu.iter().flatten().map(|v| value::<tg_histograms>(v));
            Ok(Histograms::sum(records))
        };
        Ok([of(Direction::Down)?, of(Direction::Up)?])
    }
}
