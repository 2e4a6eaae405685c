//! The real-time laboratory: runs a [`Scenario`] over the kernel's own TCP, between two network
//! namespaces that an emulated link joins.
//!
//! ```text
//!  client namespace                 this process                  server namespace
//!  workloads ─ TCP ─ tg0 ─▶ TUN ─▶ Link (up)   ─▶ TUN ─▶ tg0 ─ TCP ─ workloads
//!              ▲     tg0 ◀─ TUN ◀─ Link (down) ◀─ TUN ◀─ tg0
//!          the agent
//! ```
//!
//! Namespaces and devices have no name and no mount, so the laboratory ends with the process, however that ends. Every
//! byte that a workload receives is checked, every packet's lateness is measured, and the result says if the machine
//! was too busy.
//!
//! [`Scenario`]: tidegate_scenario::Scenario

mod address;
mod capability;
mod child;
mod clock;
mod confine;
mod emulated;
mod emulator;
mod hosts;
mod laboratory;
mod machine;
mod netlink;
mod outcome;
mod own;
mod port;
pub mod quic_ends;
mod run;
mod sample;
mod shell;
mod site;
mod steer;
mod sysctl;
mod tcp_info;
mod term;
mod transport;
mod tun;
mod veth;
mod workload;

pub use address::IpVersion;
pub use capability::{Capability, IDLE_RTT_MS, capability};
pub use child::die_with_parent;
pub use confine::{Caller, Rights};
pub use emulated::EmulatedHosts;
pub use emulator::{LaneRecord, Record};
pub use run::{
    Commands, Laws, Options, Progress, Refused, Senders, check, commands_of, run_scenario,
};
pub use shell::{
    Cause, Guest, Masquerade, Obstacle, Resolver, Uplinks, Way, check_passage, link_shell,
};
pub use steer::{HeldFlow, Steer, SteeredFlow, Steering};
pub use tcp_info::TcpInfo;
pub use tidegate_linux::netns::Namespace;
pub use transport::use_congestion_control;
pub use veth::{Offload, Veth};
pub use workload::{CommandOutput, Pattern};
