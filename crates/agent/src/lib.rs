//! The live agent: loads the kernel program, attaches it to interfaces, and shows what it sees.
//!
//! The law runs in the kernel, on every packet (`bpf/tcp/downloads.h`, `bpf/tcp/uploads.h`). User space sets parameters
//! and reads state; it is not in the loop. When an [`Agent`] is dropped, or its process dies, the kernel is as it was.

mod agent;
mod attach;
mod capabilities;
mod cgroup;
mod devices;
mod direction;
mod error;
mod explain;
mod held;
mod histogram;
mod holding;
mod interface;
mod leftovers;
mod meter;
mod namespace;
#[cfg(feature = "static")]
mod packed;
mod pin;
mod rules;
mod sharing;
mod support;
mod tables;
mod tally;
mod units;
mod view;
mod windowless;
mod words;

pub use agent::{Agent, Config, Cost, begin_tally, configure, count_program_time, set_rules};
pub use attach::{Hook, Place, Rank, Way};
pub use capabilities::drop_capabilities;
pub use cgroup::Cgroup;
pub use devices::{Device, Owners};
pub use direction::Directions;
pub use error::AgentError;
pub use explain::{Limit, Situation};
pub use held::{Candidate, Doorbell, HoldPrograms, Lease, Records};
pub use histogram::{Histogram, Histograms};
pub use holding::{HoldView, Holding};
pub use interface::{Interface, LinkLayer};
pub use leftovers::{Leftover, leftovers};
pub use meter::Meter;
pub use namespace::network_namespace;
pub use pin::{pin_folder, require_bpf_file_system};
pub use rules::{Prefix, Rule, Rules, Verdict};
pub use sharing::{GroupView, RecordView};
pub use support::{BTF, has_btf, require, sees_cgroups, sees_users};
pub use tables::{CONNECTIONS, TableView, connections, table_bytes};
pub use tally::{Carried, Count};
pub use tidegate_laws::Direction;
pub use units::{Manager, Units};
pub use view::{Clock, Endpoint, FlowView, LeftView, PathView};
pub use windowless::{Marks, WindowlessView};
pub use words::{Ecn, Kind, Origin, Reason, ScaleState};

/// The kernel program's skeleton, generated from its source.
#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
pub mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/agent.skel.rs"));
}

/// The skeleton of the program that runs one step of the laws inside the kernel, for tests.
#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
pub mod step {
    include!(concat!(env!("OUT_DIR"), "/step.skel.rs"));
}

/// The skeleton of the programs that turn a link into a VLAN trunk, for tests.
#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
pub mod trunk {
    include!(concat!(env!("OUT_DIR"), "/trunk.skel.rs"));
}

/// The skeleton of the program that delays UDP, for tests.
#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
pub mod wait {
    include!(concat!(env!("OUT_DIR"), "/wait.skel.rs"));
}

/// The skeleton of the programs that count what a control group carries.
#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
mod meter_skeleton {
    include!(concat!(env!("OUT_DIR"), "/meter.skel.rs"));
}

/// The skeleton of the hold's programs for uploads.
#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
pub mod hold_up {
    include!(concat!(env!("OUT_DIR"), "/hold_up.skel.rs"));
}

/// The skeleton of the hold's programs for downloads.
#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
pub mod hold {
    include!(concat!(env!("OUT_DIR"), "/hold.skel.rs"));
}
