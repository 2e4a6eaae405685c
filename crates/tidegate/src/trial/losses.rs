//! Signs of loss in the kernel's counters of the network namespace: segments that arrived behind a gap, and segments
//! that were retransmitted. The counters do not say which connection they belong to.

use std::fs::read_to_string;

/// The count so far.
pub fn losses() -> u64 {
    let read =
        |file: &str| read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
    let behind_gaps = counter(&read("netstat"), "TcpExt:", "TCPOFOQueue");
    let again = counter(&read("snmp"), "Tcp:", "RetransSegs");
    behind_gaps.unwrap_or(0) + again.unwrap_or(0)
}

/// Reads a counter: one line holds the names, the next the values.
fn counter(text: &str, of: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(of));
    let names = lines.next()?.split_whitespace();
    let place = names.into_iter().position(|known| known == name)?;
    lines.next()?.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_below_their_names() {
        let text = "Ip: A B\nIp: 1 2\nTcp: A RetransSegs C\nTcp: -1 7 3\n";
        assert_eq!(counter(text, "Tcp:", "RetransSegs"), Some(7));
        assert_eq!(counter(text, "Tcp:", "None"), None);
        assert_eq!(counter("", "Tcp:", "A"), None);
    }

    #[test]
    fn this_kernel_has_them() {
        let netstat = read_to_string("/proc/thread-self/net/netstat").unwrap();
        assert!(counter(&netstat, "TcpExt:", "TCPOFOQueue").is_some());
        let snmp = read_to_string("/proc/thread-self/net/snmp").unwrap();
        assert!(counter(&snmp, "Tcp:", "RetransSegs").is_some());
    }
}
