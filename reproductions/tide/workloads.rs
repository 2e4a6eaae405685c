//! What the hosts do.

use tidegate_scenario::{Direction, Workload, WorkloadKind};

/// A download that takes what it can get, from the start of the run to its end.
pub fn download() -> Workload {
    bulk("download", Direction::Down)
}

/// An upload that takes what it can get, from `start_s` to `stop_s`.
pub fn upload(start_s: f64, stop_s: f64) -> Workload {
    Workload {
        start_s,
        stop_s: Some(stop_s),
        ..bulk("upload", Direction::Up)
    }
}

/// Objects of these sizes in turn, from `start_s` on, with a pause after each.
pub fn fetches(sizes: &[u64], start_s: f64, pause_s: f64) -> Workload {
    let objects = WorkloadKind::Web {
        object_bytes: sizes.to_vec(),
        pause_s,
    };
    Workload {
        start_s,
        ..Workload::new(format!("objects from {start_s} s"), objects)
    }
}

fn bulk(name: &str, direction: Direction) -> Workload {
    let bulk = WorkloadKind::Bulk {
        direction,
        bytes: None,
        flows: 1,
    };
    Workload::new(name, bulk)
}
