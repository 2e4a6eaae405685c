//! A connection is steered only by its own measurements, whatever other connections' packets have shown to the same
//! programs.

use crate::slow::{drain, median_rtt_ms, on_slow_link, stream};
use crate::transfer::Connection;
use std::thread;
use tidegate_agent::Direction;
use tidegate_lab::IpVersion;

/// In milliseconds: several times the queue of an upload alone, and a fortieth of a thousand packets' queue.
const SHORT_MS: f64 = 60.0;

/// Over an uplink of 5 Mbit/s with room for a thousand packets: a stream of 1 Mbit/s comes from a server without
/// timestamps, whose delay only round trips could tell.
#[test]
fn an_upload_keeps_its_short_queue_beside_a_download_without_timestamps() {
    on_slow_link(Direction::Up, "5mbit", |hosts, _| {
        let upload = Connection::new(hosts, IpVersion::V4);
        let stampless = || Ok(std::fs::write("/proc/sys/net/ipv4/tcp_timestamps", "0")?);
        hosts.server.run(stampless).unwrap();
        let download = Connection::new(hosts, IpVersion::V4);
        let alone_ms = median_rtt_ms(&upload.client, &upload.server, |_| {});
        let beside_ms = median_rtt_ms(&upload.client, &upload.server, |goes_on| {
            thread::scope(|scope| {
                scope.spawn(|| drain(&download.client, goes_on));
                stream(&download.server, 1_000_000, goes_on);
            });
        });
        println!("{alone_ms:.1} ms alone, {beside_ms:.1} beside a stream without timestamps");
        assert!(alone_ms < SHORT_MS && beside_ms < SHORT_MS);
    });
}
