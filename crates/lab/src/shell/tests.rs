mod passage;

use super::{Guest, Resolver, Uplinks, link_shell};
use crate::address::{IpVersion, address};
use crate::clock::Clock;
use crate::emulator::Emulator;
use crate::hosts::{Host, Settings};
use crate::netlink::Interface;
use crate::sysctl;
use crate::tun::Tun;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::io::Write;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_link::Config;
use tidegate_measure::{Demand, LinkRecord, Window};
use tidegate_scenario::{EcnMode, FlowControl, Side};
use tidegate_testing::{has_tun, skipped};

/// The caller's namespace, and a host beyond it that has a route to the caller only.
struct World {
    caller: Host,
    beyond: Host,
}

impl World {
    /// None without root, with a message.
    fn new() -> Option<Self> {
        if !has_tun() {
            return None;
        }
        let settings = Settings {
            congestion_control: "reno".into(),
            rmem_max: None,
            timestamps: true,
            sack: true,
            initial_window: None,
            slow_start_after_idle: true,
            window: None,
            flow_control: FlowControl::Linux,
            ecn: EcnMode::Off,
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

    /// Calls `test` on a thread in the caller's namespace while the emulator runs.
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

    /// A server beyond that greets one client and returns its address.
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
    Ok(link_shell(slow(), slow(), &guest(&command)?, false)?.0)
}

fn guest(command: &[OsString]) -> Result<Guest<'_>> {
    Ok(Guest {
        command,
        caller: None,
        uplinks: Uplinks::find(&[])?,
        resolver: Resolver::Callers,
        warn: |obstacle| panic!("{obstacle:?}"),
    })
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

/// Names of the interfaces that the calling thread sees.
fn names() -> Result<Vec<String>> {
    let interfaces = nix::net::if_::if_nameindex()?;
    let names = interfaces.iter().map(|i| i.name().to_string_lossy());
    Ok(names.map(Into::into).collect())
}

#[test]
fn nothing_is_left_behind() {
    let Some(world) = World::new() else { return };
    let left = world.run(|| {
        // Twice, since a leftover table or device would make the second one fail.
        for _ in 0..2 {
            assert!(bash("true")?.success());
        }
        // The kernel removes a namespace's devices a little later.
        let until = Instant::now() + Duration::from_secs(10);
        while names()?.len() > 2 && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        Ok((names()?, sysctl::read("ipv4/conf/tg0/forwarding")?))
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
        let error = link_shell(slow(), slow(), &guest(&command)?, false).unwrap_err();
        Ok(format!("{error:#}"))
    });
    assert!(error.contains("cannot run \"/nonesuch\""), "{error}");
}

#[test]
fn how_the_command_ended_is_told() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        assert_eq!(bash("exit 9")?.code(), Some(9));
        assert_eq!(bash("kill -KILL $$")?.signal(), Some(libc::SIGKILL));
        // It sees only the processes of its namespace, and is not the first of them.
        let script = "test $$ -ne 1 && test $(ls /proc | grep -c '^[0-9]') -lt 8";
        assert!(bash(script)?.success());
        Ok(())
    });
}

#[test]
fn names_resolve_by_the_file_that_is_given_and_nobody_else_sees_it() {
    const CONF: &str = "/etc/resolv.conf";
    let Some(world) = World::new() else { return };
    let Ok(before) = std::fs::read_to_string(CONF) else {
        return skipped("there is no /etc/resolv.conf");
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resolv.conf");
    std::fs::write(&file, "nameserver 192.0.2.53\n").unwrap();
    world.run(|| {
        let seen = folder.path().join("seen");
        let script = format!("cat {CONF} >{}", seen.display());
        let command = ["bash", "-c", &script].map(OsString::from);
        let guest = Guest {
            resolver: Resolver::File(file.clone()),
            ..guest(&command)?
        };
        assert!(link_shell(slow(), slow(), &guest, false)?.0.success());
        assert_eq!(std::fs::read_to_string(seen)?, "nameserver 192.0.2.53\n");
        Ok(())
    });
    assert_eq!(std::fs::read_to_string(CONF).unwrap(), before);
}

/// A second network of the caller's, beside that of the host beyond.
struct Neighbour(Tun);

impl Neighbour {
    const OURS: [&str; 2] = ["10.99.0.1", "fd99::1"];
    const ADDRESSES: [&str; 2] = ["10.99.0.2", "fd99::2"];

    /// Has to be called in the caller's namespace.
    fn new() -> Result<Self> {
        let tun = Tun::open("other%d")?;
        let interface = Interface::named(tun.name())?;
        interface.set_up_tun()?;
        interface.add_address(Self::OURS[0].parse()?, 24)?;
        interface.add_address(Self::OURS[1].parse()?, 64)?;
        Ok(Self(tun))
    }

    /// IP versions of the packets that have come for the neighbour's addresses since the last call.
    fn received(&self) -> Vec<u8> {
        let addresses = Self::ADDRESSES.map(|a| a.parse::<IpAddr>().unwrap());
        let mut packet = [0; 2048];
        let mut versions = Vec::new();
        while let Ok(length) = nix::unistd::read(&self.0, &mut packet) {
            let to = match (packet[0] >> 4, &packet[..length]) {
                (4, packet) => <[u8; 4]>::try_from(&packet[16..20]).map(IpAddr::from),
                (_, packet) => <[u8; 16]>::try_from(&packet[24..40]).map(IpAddr::from),
            };
            if to.is_ok_and(|to| addresses.contains(&to)) {
                versions.push(packet[0] >> 4);
            }
        }
        versions.dedup();
        versions
    }
}

impl World {
    /// Sends from the host beyond, whose router is the caller, to each of the addresses, and waits until the packet has
    /// arrived or never will.
    fn intrude(&self, addresses: &[&str]) {
        let send = || {
            for to in addresses {
                let from = match to.contains(':') {
                    true => address(Side::Server, IpVersion::V6),
                    false => address(Side::Server, IpVersion::V4),
                };
                UdpSocket::bind((from, 0))?.send_to(b"let me in", (*to, 9))?;
            }
            Ok(())
        };
        self.beyond.namespace.run(send).unwrap();
        thread::sleep(Duration::from_millis(200));
    }
}

/// Starts a link whose command waits until a file exists and then runs `script`; calls `during` before it makes the
/// file.
fn during_a_link(script: &str, during: impl FnOnce() -> Result<()>) -> Result<ExitStatus> {
    let folder = tempfile::tempdir()?;
    let [ready, go] = ["ready", "go"].map(|name| folder.path().join(name));
    let script = format!(
        "echo >{}; for i in $(seq 600); do test -e {} && break; sleep 0.05; done; {script}",
        ready.display(),
        go.display()
    );
    let uplinks = Uplinks::find(&[])?;
    let here = tidegate_linux::netns::Namespace::current()?;
    thread::scope(|scope| {
        let link = scope.spawn(|| {
            here.run(|| {
                let command = ["bash", "-c", &script].map(OsString::from);
                let guest = Guest {
                    uplinks,
                    ..guest(&command)?
                };
                Ok(link_shell(slow(), slow(), &guest, false)?.0)
            })
        });
        while !ready.exists() && !link.is_finished() {
            thread::sleep(Duration::from_millis(10));
        }
        let done = during();
        std::fs::write(&go, "")?;
        let status = link.join().unwrap();
        done?;
        status
    })
}

const ALL_V4: &str = "ipv4/conf/all/forwarding";

#[test]
fn while_a_link_runs_nothing_is_forwarded_for_strangers() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        let neighbour = Neighbour::new()?;
        let uplink = world.caller.interface().unwrap();
        // Checks that an intrusion would be seen.
        sysctl::write(ALL_V4, "1")?;
        world.intrude(&Neighbour::ADDRESSES[..1]);
        assert_eq!(neighbour.received(), [4]);
        sysctl::write(ALL_V4, "0")?;
        // The kernel counts packets that come for no socket.
        let unasked = "awk '/^Udp:/ { got = $2 + $3 } END { exit got }' /proc/net/snmp";
        let status = during_a_link(unasked, || {
            assert_eq!(
                sysctl::read(&format!("ipv4/conf/{uplink}/forwarding"))?,
                "1"
            );
            assert_eq!(sysctl::read("ipv4/conf/other0/forwarding")?, "0");
            world.intrude(&Neighbour::ADDRESSES);
            world.intrude(&["198.19.0.6", "198.19.0.2"]);
            assert_eq!(neighbour.received(), [0; 0]);
            Ok(())
        })?;
        assert_eq!(status.code(), Some(0), "packets that nobody asked for");
        assert_eq!(
            sysctl::read(&format!("ipv4/conf/{uplink}/forwarding"))?,
            "0"
        );
        Ok(())
    });
}

#[test]
fn a_machine_that_becomes_a_router_meanwhile_is_one_at_once_and_stays_one() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        let neighbour = Neighbour::new()?;
        during_a_link("true", || {
            // As Docker does when it starts.
            sysctl::write(ALL_V4, "1")?;
            let began = Instant::now();
            while neighbour.received().is_empty() {
                assert!(began.elapsed() < Duration::from_secs(10), "it never is");
                world.intrude(&Neighbour::ADDRESSES[..1]);
            }
            Ok(())
        })?;
        let uplink = world.caller.interface().unwrap();
        assert_eq!(sysctl::read(ALL_V4)?, "1");
        assert_eq!(
            sysctl::read(&format!("ipv4/conf/{uplink}/forwarding"))?,
            "1"
        );
        Ok(())
    });
}

#[test]
fn a_link_whose_way_out_moves_follows() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        let _other = Neighbour::new()?;
        let switch = |name: &str| sysctl::read(&format!("ipv4/conf/{name}/forwarding"));
        during_a_link("true", || {
            assert_eq!(
                (switch("tg0")?, switch("other0")?),
                ("1".into(), "0".into())
            );
            let words = "route replace default dev other0".split(' ');
            assert!(
                std::process::Command::new("ip")
                    .args(words)
                    .status()?
                    .success()
            );
            let began = Instant::now();
            while switch("other0")? == "0" {
                assert!(began.elapsed() < Duration::from_secs(10), "it does not");
                thread::sleep(Duration::from_millis(50));
            }
            Ok(())
        })?;
        assert_eq!(
            (switch("tg0")?, switch("other0")?),
            ("0".into(), "0".into())
        );
        Ok(())
    });
}
