//! Observations of a connection while it is in use.

use super::State;
use crate::connection::{PathStatus, Status};
use std::net::SocketAddr;

impl State {
    /// The state of the paths.
    pub fn status(&self) -> Status {
        let info = self.sender.info();
        Status {
            paths: self.sender.paths().count(),
            usable_proxies: info.usable_proxies,
            retransmits: info.retransmits,
            round_trip: info.direct_rtt,
            window: info.window,
            packet_bytes: self.mtu.size(),
            waiting_bytes: self.receiver.waiting() as usize * self.payload(),
            proxies: self.proxies(),
        }
    }

    /// Every path in use.
    pub fn paths(&self) -> Vec<PathStatus> {
        let path = |path: tidegate_mpath::PathInfo| PathStatus {
            proxy: path.proxy.and_then(|id| Some(self.relays.get(id)?.address)),
            window: path.window,
            delivered: path.delivered,
        };
        self.sender.paths().map(path).collect()
    }

    /// The protocol's own numbers.
    pub fn info(&self) -> tidegate_mpath::Info {
        self.sender.info()
    }

    fn proxies(&self) -> Vec<(SocketAddr, u64)> {
        let paths = self.sender.paths();
        let proxied = paths.filter_map(|path| {
            let relay = self.relays.get(path.proxy?)?;
            Some((relay.address, path.delivered))
        });
        proxied.collect()
    }
}
