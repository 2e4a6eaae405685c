//! Workloads of the hosts.

use tidegate_scenario::{Direction, Workload, WorkloadKind};

/// The median home page of 2024 (HTTP Archive, Web Almanac 2024, "Page Weight", desktop): kilobytes
/// and number of objects of each type. It gives no numbers of fonts and style sheets; those are ours.
const PAGE: [(u64, u64); 5] = [(18, 1), (78, 8), (613, 24), (131, 4), (1054, 18)];

/// A bulk download, from the start of the run to its end.
pub fn download() -> Workload {
    bulk("download", Direction::Down, None, 1)
}

/// A bulk upload, from `start_s` to `stop_s`.
pub fn upload(start_s: f64, stop_s: f64) -> Workload {
    Workload {
        start_s,
        stop_s: Some(stop_s),
        ..bulk("upload", Direction::Up, None, 1)
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

/// The median home page of the HTTP Archive (Web Almanac 2024), and the next one `pause_s` seconds
/// after it: 55 objects, 1.9 MB, over six connections.
pub fn median_page(pause_s: f64) -> WorkloadKind {
    let objects = |(kilobytes, count)| (0..count).map(move |_| kilobytes * 1000 / count);
    WorkloadKind::Page {
        object_bytes: PAGE.into_iter().flat_map(objects).collect(),
        connections: 6,
        request_bytes: 16,
        pause_s,
    }
}

/// A bulk flow, over that many connections.
pub fn bulk(name: &str, direction: Direction, bytes: Option<u64>, flows: u64) -> Workload {
    let bulk = WorkloadKind::Bulk {
        direction,
        bytes,
        flows,
    };
    Workload::new(name, bulk)
}

/// Echoes in IP packets of that many bytes, at that interval.
pub const fn ping(interval_ms: f64, packet_bytes: u64) -> WorkloadKind {
    WorkloadKind::Ping {
        interval_ms,
        packet_bytes,
    }
}
