//! Two hosts joined by an emulated link, for traffic that belongs to no scenario.

use crate::address::{IpVersion, address};
use crate::clock::Clock;
use crate::emulator::{Emulator, Record};
use crate::hosts::{Host, Settings};
use anyhow::{Result, anyhow};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use tidegate_link::{Config, Instant};
use tidegate_linux::netns::{Namespace, panic_text};
use tidegate_measure::{Demand, LinkRecord, Window};
use tidegate_scenario::{EcnMode, FlowControl, Side};

/// Two hosts with the kernel's TCP and the link between them, until dropped.
pub struct EmulatedHosts {
    ends: Arc<[Host; 2]>,
    halt: Arc<AtomicBool>,
    emulator: Option<JoinHandle<Result<Record>>>,
}

impl EmulatedHosts {
    /// The device's name, in both namespaces.
    pub const INTERFACE: &str = "tg0";

    /// Makes the hosts and the link, `down` towards the client and `up` from it.
    ///
    /// # Errors
    /// Without root or a TUN driver.
    pub fn new(down: Config, up: Config, seed: u64) -> Result<Self> {
        let settings = Settings {
            congestion_control: "cubic".into(),
            rmem_max: None,
            timestamps: true,
            sack: true,
            initial_window: None,
            slow_start_after_idle: true,
            window: None,
            flow_control: FlowControl::Linux,
            ecn: EcnMode::Off,
            own_tcp: Vec::new(),
            kernel_congestion_control: "cubic".into(),
            seed,
        };
        let ends = [Side::Client, Side::Server].map(|side| Host::new(side, &settings, 1));
        let [client, server] = ends;
        let ends = Arc::new([client?, server?]);
        let halt = Arc::new(AtomicBool::new(false));
        let (held, stop) = (ends.clone(), halt.clone());
        let emulator = thread::Builder::new()
            .name("emulator".into())
            .spawn(move || carry(&held, down, up, seed, &stop))?;
        Ok(Self {
            ends,
            halt,
            emulator: Some(emulator),
        })
    }

    /// The host that connects.
    pub fn client(&self) -> &Namespace {
        &self.ends[0].namespace
    }

    /// The host that listens.
    pub fn server(&self) -> &Namespace {
        &self.ends[1].namespace
    }

    /// The server's address.
    pub fn server_address(version: IpVersion) -> IpAddr {
        address(Side::Server, version)
    }

    /// The client's address.
    pub fn client_address(version: IpVersion) -> IpAddr {
        address(Side::Client, version)
    }

    /// Ends the link. Returns the packets that it has carried, and those that it has lost on purpose.
    ///
    /// # Errors
    /// When the emulator failed on the way.
    pub fn finish(mut self) -> Result<[u64; 2]> {
        let record = self.halt()?;
        let lanes = [record.down.link.at_end, record.up.link.at_end];
        Ok([
            lanes.iter().map(|l| l.delivered_packets).sum(),
            lanes.iter().map(|l| l.lost).sum(),
        ])
    }

    fn halt(&mut self) -> Result<Record> {
        self.halt.store(true, Ordering::Relaxed);
        let emulator = self.emulator.take().expect("ended once");
        let ended = emulator.join();
        ended.unwrap_or_else(|panic| Err(anyhow!("the emulator: {}", panic_text(&*panic))))
    }
}

impl Drop for EmulatedHosts {
    fn drop(&mut self) {
        if self.emulator.is_some() {
            let _ = self.halt();
        }
    }
}

/// Carries packets between the ends until `stop`.
fn carry(
    ends: &[Host; 2],
    down: Config,
    up: Config,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Record> {
    let window = Window {
        warmup: Instant::ZERO,
        end: Instant::MAX,
    };
    let unseen = |link| (link, LinkRecord::new(window, Demand::default(), false));
    let ports = (ends[0].port(), ends[1].port());
    let links = (unseen(down), unseen(up));
    Emulator::new(ports, links, seed, Clock::start(), window).run(stop)
}
