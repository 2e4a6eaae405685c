//! Looks for what a gate may have left in the kernel.

use std::fs::read_to_string;
use std::io::ErrorKind;
use tidegate_lab::Namespace;
use tidegate_linux::netfilter::{Family, Table};

/// The number of netfilter queues that are served in the namespace.
pub fn queues(host: &Namespace) -> usize {
    let read = || {
        let path = "/proc/thread-self/net/netfilter/nfnetlink_queue";
        Ok(read_to_string(path)?.lines().count())
    };
    host.run(read).unwrap()
}

/// The name of the table of a process's gate.
pub fn gate_table(process: u32) -> String {
    format!("tidegate-gate-{process}")
}

/// Whether the namespace has a table of that name: then another cannot be made.
pub fn has_table(host: &Namespace, name: &str) -> bool {
    let make = || {
        let table = Table::new(Family::Inet, name)?;
        Ok(table.commit(&[table.create()]))
    };
    match host.run(make).unwrap() {
        Ok(()) => false,
        // For a table of another owner the kernel may return either error.
        Err(error) => match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::PermissionDenied => true,
            _ => panic!("{error}"),
        },
    }
}

pub fn is_alive(process: u32) -> bool {
    // A process that nobody has waited for stays as a zombie.
    let stat = read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
