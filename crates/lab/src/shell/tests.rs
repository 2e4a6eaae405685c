use super::link_shell;
use crate::address::{IpVersion, address};
use crate::clock::Clock;
use crate::emulator::Emulator;
use crate::hosts::{Host, Settings};
use crate::sysctl;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::io::Write;
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_link::Config;
use tidegate_measure::{Demand, LinkRecord, Window};
use tidegate_scenario::{FlowControl, Side};
use tidegate_testing::{has_tun, skipped};

/// The caller's namespace, and a host beyond it that knows no way to anybody but the caller.
struct World {
    caller: Host,
    beyond: Host,
}

impl World {
    /// None without root, which is said aloud.
    fn new() -> Option<Self> {
        if !has_tun() {
            return None;
        }
        let settings = Settings {
            congestion_control: "reno".into(),
            rmem_max: None,
            timestamps: true,
            initial_window: None,
            slow_start_after_idle: true,
            window: None,
            flow_control: FlowControl::Linux,
            own_tcp: Vec::new(),
            kernel_congestion_control: "reno".into(),
            seed: 1,
        };
        let host = |side| Host::new(side, &settings, 1).unwrap();
        Some(Self {
            caller: host(Side::Client),
            beyond: host(Side::Server),
        })
    }

    /// Calls `test` on a thread of the caller's while the world turns.
    fn run<T: Send>(&self, test: impl FnOnce() -> Result<T> + Send) -> T {
        let ports = (self.caller.port(), self.beyond.port());
        let window = Window {
            warmup: tidegate_link::Instant::ZERO,
            end: tidegate_link::Instant::MAX,
        };
        let link = || {
            (
                Config::default(),
                LinkRecord::new(window, Demand::default(), false),
            )
        };
        let emulator = Emulator::new(ports, (link(), link()), 1, Clock::start(), window);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| emulator.run(&stop).unwrap());
            let result = self.caller.namespace.run(test);
            stop.store(true, Ordering::Relaxed);
            result.unwrap()
        })
    }

    /// A server beyond that greets one client and says who it was.
    fn greeter(&self, version: IpVersion) -> (u16, thread::JoinHandle<IpAddr>) {
        let listen = || {
            let at = (address(Side::Server, version), 0);
            TcpListener::bind(at).context("listen")
        };
        let listener = self.beyond.namespace.run(listen).unwrap();
        let port = listener.local_addr().unwrap().port();
        let greet = move || {
            let (mut stream, peer) = listener.accept().unwrap();
            stream.write_all(b"hello\n").unwrap();
            peer.ip()
        };
        (port, thread::spawn(greet))
    }
}

/// A link of 30 ms each way.
fn slow() -> Config {
    Config {
        delay: Duration::from_millis(30).into(),
        ..Config::default()
    }
}

fn bash(script: &str) -> Result<ExitStatus> {
    let command = ["bash", "-c", script].map(OsString::from);
    link_shell(slow(), slow(), &command, None)
}

/// Writes what the greeter says to `file` and exits with 7.
fn greet_script(to: IpAddr, port: u16, file: &Path) -> String {
    format!(
        "exec 3<>/dev/tcp/{to}/{port} && cat <&3 >{} && exit 7",
        file.display()
    )
}

#[test]
fn a_command_reaches_what_the_caller_reaches_under_the_callers_address() {
    let Some(world) = World::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    for version in [IpVersion::V4, IpVersion::V6] {
        let switch = "ipv6/conf/all/force_forwarding";
        if version == IpVersion::V6 && !sysctl::path(switch).exists() {
            skipped("IPv6 needs Linux 6.17");
            continue;
        }
        let file = folder.path().join("greeting");
        let (port, greeter) = world.greeter(version);
        let script = greet_script(address(Side::Server, version), port, &file);
        let began = Instant::now();
        let status = world.run(|| bash(&script));
        assert_eq!(status.code(), Some(7), "{version:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello\n");
        assert_eq!(greeter.join().unwrap(), address(Side::Client, version));
        // To connect takes one round trip at least.
        assert!(began.elapsed() >= Duration::from_millis(60));
    }
}

#[test]
fn nothing_is_left_behind() {
    let Some(world) = World::new() else { return };
    let left = world.run(|| {
        // Twice, as a table or device left behind would be in the way of the second.
        for _ in 0..2 {
            assert!(bash("true")?.success());
        }
        let interfaces = nix::net::if_::if_nameindex()?;
        let names = interfaces
            .iter()
            .map(|i| i.name().to_string_lossy().into_owned());
        let forwarding = sysctl::read("ipv4/conf/tg0/forwarding")?;
        Ok((names.collect::<Vec<_>>(), forwarding))
    });
    assert_eq!(left, (vec!["lo".into(), "tg0".into()], "0".into()));
}

#[test]
fn links_run_beside_each_other_and_the_first_to_end_leaves_the_other_its_way_out() {
    let Some(world) = World::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("greeting");
    let (port, greeter) = world.greeter(IpVersion::V4);
    let script = greet_script(address(Side::Server, IpVersion::V4), port, &file);
    let codes = world.run(|| {
        thread::scope(|scope| {
            let short = scope.spawn(|| bash("sleep 0.3; exit 5"));
            let long = scope.spawn(|| bash(&format!("sleep 0.8; {script}")));
            Ok([short, long].map(|run| run.join().unwrap().unwrap().code()))
        })
    });
    assert_eq!(codes, [Some(5), Some(7)]);
    greeter.join().unwrap();
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let Some(world) = World::new() else { return };
    let error = world.run(|| {
        let command = [OsString::from("/nonesuch")];
        Ok(format!(
            "{:#}",
            link_shell(slow(), slow(), &command, None).unwrap_err()
        ))
    });
    assert!(error.contains("cannot run \"/nonesuch\""), "{error}");
}
