//! The agent's errors, in one sentence each; the cause is the error's source.

use libbpf_rs::ErrorKind;

/// Why the agent cannot run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// Not enough privilege.
    #[error(
        "the agent needs root, or the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, to load its programs into the kernel; missing: {0}"
    )]
    NotPrivileged(String),
    /// A container's runtime refuses the system call that loads programs.
    #[error(
        "bpf(2) is refused to this process although it has the capabilities, expected a seccomp profile that allows it to CAP_BPF (docs/containers.md; with Podman: --security-opt seccomp=unconfined)"
    )]
    BpfRefused,
    /// The kernel is too old.
    #[error("this kernel is Linux {0}, the agent needs 5.15 or later")]
    TooOld(String),
    /// No such interface.
    #[error("there is no network interface \"{0}\" here; `ip link` lists those that exist")]
    NoInterface(String),
    /// An interface whose frames are not understood.
    #[error("interface \"{name}\" has link-layer type {kind}, expected Ethernet or plain IP")]
    LinkLayer {
        /// Its name.
        name: String,
        /// Its ARPHRD number.
        kind: u16,
    },
    /// More interfaces than the programs can tell apart.
    #[error("more interfaces than the agent can be on, expected at most {0}")]
    TooManyInterfaces(usize),
    /// More rules than the programs look through.
    #[error("{0} rules (each port and prefix of a list is one), expected at most {most}", most = crate::Rules::MOST)]
    TooManyRules(usize),
    /// The kernel does not tell a packet's control group.
    #[error(
        "this kernel does not tell a packet's cgroup (CONFIG_SOCK_CGROUP_DATA), expected rules without `cgroup`"
    )]
    NoCgroups,
    /// Nowhere to pin.
    #[error(
        "no BPF file system is mounted at /sys/fs/bpf, expected one (mount -t bpf -o mode=700 bpf /sys/fs/bpf)"
    )]
    NoBpfFileSystem,
    /// The directions are fixed when the programs are loaded.
    #[error("the directions cannot be changed while the agent runs; start it anew")]
    OtherDirections,
    /// So are the shares.
    #[error(
        "whether shares are by flow or by device cannot change while the agent runs, expected the `fair` that it was started with; restart it to change this"
    )]
    OtherShares,
    /// So are the tables.
    #[error(
        "the tables' size ({0} connections) cannot be changed while the agent runs; start it anew"
    )]
    OtherTables(u32),
    /// The number of connections is out of range.
    #[error("tables for {0} connections, expected {least} to {most}", least = crate::CONNECTIONS.start(), most = crate::CONNECTIONS.end())]
    Connections(u32),
    /// The kernel has no memory for the tables.
    #[error(
        "the kernel has no memory for tables of {connections} connections, {megabytes} MB, expected fewer connections"
    )]
    NoMemory {
        /// Connections asked for.
        connections: u32,
        /// Memory that they would need.
        megabytes: u64,
    },
    /// The kernel refused to load the program.
    #[error("the kernel refused to load the agent's program")]
    Load(#[source] libbpf_rs::Error),
    /// The kernel refused to attach the program.
    #[error("cannot attach to interface \"{interface}\"")]
    Attach {
        /// Which interface.
        interface: String,
        /// Why not.
        source: libbpf_rs::Error,
    },
    /// A map could not be read or written.
    #[error("cannot reach the agent's state in the kernel")]
    Map(#[source] libbpf_rs::Error),
    /// A system call failed.
    #[error("cannot {what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl AgentError {
    /// Whether the kernel has no hook for programs: its module is missing.
    pub fn is_no_hook(&self) -> bool {
        matches!(self, Self::Attach { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}
