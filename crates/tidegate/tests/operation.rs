//! What an administrator does with the agent on the command line, each in its own network namespace. Needs root, and
//! says so if it is skipped.

#[path = "operation/meeting.rs"]
mod meeting;

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_agent::{Agent, Config, Hook, Interface, leftovers};
use tidegate_lab::Namespace;
use tidegate_testing::{Stranger, has_program, has_tun, hide, is_root, own_bpf_file_system};

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

const DENIES: &str =
    "interfaces = [\"lo\"]\nlaw = \"tide\"\n\n[[rule]]\nremote_port = 22\naction = \"deny\"\n";

/// A network namespace with a configuration, and a BPF file system to pin in.
struct Host {
    namespace: Namespace,
    folder: TempDir,
}

impl Host {
    /// A host; none without root.
    fn new() -> Option<Self> {
        if !is_root() {
            return None;
        }
        own_bpf_file_system();
        let host = Self {
            namespace: Namespace::new().unwrap(),
            folder: TempDir::new().unwrap(),
        };
        host.configure(DENIES);
        Some(host)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("tidegate.toml")
    }

    fn configure(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(TIDEGATE);
        command.args(args);
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        let run = || Ok(self.command(args).output()?);
        self.namespace.run(run).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.output(args).stdout).unwrap()
    }

    fn sh(&self, script: &str) {
        let run = || Ok(Command::new("sh").args(["-ec", script]).status()?.success());
        assert!(self.namespace.run(run).unwrap(), "{script}");
    }

    /// Leaves an agent's filters on `lo`, as if it had been killed.
    fn leave_filters(&self) {
        let leave = || {
            let config = Config {
                interfaces: vec![Interface::find("lo")?],
                hook: Hook::Clsact,
                ..Config::default()
            };
            std::mem::forget(Agent::start(&config)?);
            Ok(())
        };
        self.namespace.run(leave).unwrap();
    }

    /// Starts `tidegate run` with the configuration; returns once it steers.
    fn start(&self, more: &[&str]) -> Running {
        let file = self.file();
        let spawn = || {
            let mut command = self.command(&["run", "--config", file.to_str().unwrap()]);
            // Agents of other namespaces run at the same time and share the file system.
            let socket = file.with_file_name("agent.sock");
            command.args(["--socket", socket.to_str().unwrap()]);
            command.args(more);
            Ok(command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()?)
        };
        let mut child = self.namespace.run(spawn).unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        let err = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut running = Running { child, out, err };
        running.expect_out("lo with");
        running.expect_out("agent.sock");
        running
    }

    fn left(&self) -> Vec<String> {
        let left = || Ok(leftovers()?.iter().map(ToString::to_string).collect());
        self.namespace.run(left).unwrap()
    }
}

struct Running {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    err: Lines<BufReader<ChildStderr>>,
}

impl Running {
    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    fn signal(&self, signal: i32) {
        // SAFETY: plain numbers; the child has not been waited for.
        assert_eq!(unsafe { libc::kill(self.pid(), signal) }, 0);
    }

    /// The next line on standard output.
    fn expect_out(&mut self, word: &str) {
        let line = self.out.next().expect("a line").unwrap();
        assert!(line.contains(word), "no \"{word}\" in: {line}");
    }

    /// The next line on standard error.
    fn expect_err(&mut self, words: &[&str]) {
        let line = self.err.next().expect("a line").unwrap();
        for word in words {
            assert!(line.contains(word), "no \"{word}\" in: {line}");
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it in order. Returns the rest of its output.
    fn end(mut self) -> Vec<String> {
        self.signal(libc::SIGTERM);
        let said = self.out.by_ref().map(Result::unwrap).collect();
        assert!(self.child.wait().unwrap().success());
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Needed if a test has failed; otherwise it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_second_agent_is_refused_with_the_first_ones_number() {
    let Some(host) = Host::new() else { return };
    let first = host.start(&[]);
    let second = host.output(&["run", "--iface", "lo", "--seconds", "0"]);
    let said = text(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains(&first.pid().to_string()), "{said}");
    // In another namespace there may be another agent.
    let elsewhere = Host::new().unwrap();
    elsewhere.start(&[]).end();
    // A killed agent leaves nothing that keeps the next from starting.
    first.kill();
    host.start(&[]).end();
}

/// The lock file of the namespace.
fn lock_file() -> PathBuf {
    let namespace = tidegate_agent::network_namespace().unwrap();
    PathBuf::from(format!("/run/tidegate-locks/{namespace}.lock"))
}

/// After a crash the lock file exists and nobody holds the lock: any user who can open the file could take it.
#[test]
fn a_stranger_keeps_no_agent_from_starting_after_a_crash() {
    let Some(host) = Host::new() else { return };
    let file = host.namespace.run(|| Ok(lock_file())).unwrap();
    host.start(&[]).kill();
    // As an older version and a service's first lines have made it: every user may read the folder.
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(file.parent().unwrap(), open).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let refused = Stranger::locks(&file).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    // An older version left the file so that a stranger could open it.
    let plant = || {
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        Stranger::locks(&file).unwrap()
    };
    let stranger = plant();
    let check = host.json(&["check", "--json"]);
    let findings = check["findings"].as_array().unwrap().iter();
    let agent = findings.filter(|f| f["name"] == "agent");
    let said: Vec<_> = agent.map(|f| f["found"].as_str().unwrap()).collect();
    assert_eq!(
        said,
        ["none runs here"],
        "the stranger is {}",
        stranger.pid()
    );
    let stopped = host.output(&["stop", "--json"]);
    assert!(stopped.status.success(), "{}", text(&stopped.stderr));
    let stopped: Value = serde_json::from_slice(&stopped.stdout).unwrap();
    assert_eq!(stopped["agent"], Value::Null);
    // Without an agent, `top` watches by itself.
    let top = host.output(&["top", "--once", "--json", "--iface", "lo"]);
    assert!(top.status.success(), "{}", text(&top.stderr));
    drop(stranger);
    let _stranger = plant();
    let running = host.start(&[]);
    let second = host.output(&["run", "--iface", "lo", "--seconds", "0"]);
    let said = text(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(
        said.contains(&format!("process id {};", running.pid())),
        "{said}"
    );
    running.end();
    assert!(!file.exists());
}

/// A BPF file system that every user may write to: a stranger's symbolic link in place of the pins could make root
/// remove its target.
#[test]
fn what_a_stranger_has_put_among_the_pins_is_left_alone() {
    let Some(host) = Host::new() else { return };
    let folder = host
        .namespace
        .run(|| Ok(tidegate_agent::pin_folder()?))
        .unwrap();
    let parent = folder.parent().unwrap().to_owned();
    let victim = TempDir::new().unwrap();
    fs::write(victim.path().join("valuable"), "kept").unwrap();
    let (to, made, link) = (victim.path().to_owned(), parent.clone(), folder.clone());
    let planted = Stranger::does(move || {
        nix::unistd::mkdir(&made, nix::sys::stat::Mode::S_IRWXU)?;
        nix::unistd::symlinkat(&to, nix::fcntl::AT_FDCWD, &link)
    });
    let _stranger = planted.unwrap();
    let stopped = host.output(&["stop"]);
    let said = text(&stopped.stdout);
    assert!(
        said.contains("nothing to stop"),
        "{said}{}",
        text(&stopped.stderr)
    );
    host.start(&[]).end();
    let pinned = host.output(&["run", "--iface", "lo", "--pin", "--seconds", "0"]);
    let said = text(&pinned.stderr);
    assert_eq!(pinned.status.code(), Some(1), "{said}");
    let place = parent.display().to_string();
    assert!(
        said.contains(&place) && said.contains("remove it"),
        "{said}"
    );
    let kept = fs::read_to_string(victim.path().join("valuable")).unwrap();
    assert_eq!(kept, "kept");
}

#[test]
fn a_file_is_read_again_and_a_bad_one_is_refused() {
    let Some(host) = Host::new() else { return };
    let mut running = host.start(&[]);
    host.configure(&DENIES.replace("22", "[22, 700000]"));
    running.signal(libc::SIGHUP);
    running.expect_err(&["tidegate.toml:5:", "700000", "expected", "stays as it was"]);
    host.configure(&DENIES.replace("tide", "drwa"));
    running.signal(libc::SIGHUP);
    running.expect_out("downloads on lo with drwa");
    // A setting that the kernel refuses is handled like an invalid one.
    host.configure(&format!("only = \"downloads\"\n{DENIES}"));
    running.signal(libc::SIGHUP);
    running.expect_err(&["tidegate.toml", "directions"]);
    host.configure(DENIES);
    running.signal(libc::SIGHUP);
    running.expect_out("downloads and uploads on lo with tide");
    running.end();
    assert_eq!(host.left(), [] as [&str; 0]);
}

#[test]
fn the_command_line_goes_before_the_file() {
    let Some(host) = Host::new() else { return };
    let mut running = host.start(&["--law", "drwa"]);
    running.signal(libc::SIGHUP);
    running.expect_out("with drwa");
    running.end();
}

#[test]
fn stop_ends_the_agent_and_says_so() {
    let Some(host) = Host::new() else { return };
    let running = host.start(&["--on-exit", "stay"]);
    let pid = running.pid();
    // Someone must wait for the process, or it stays as a zombie.
    let waits = std::thread::spawn(move || {
        let mut running = running;
        running.child.wait().unwrap()
    });
    let stopped = host.json(&["stop", "--json"]);
    assert!(waits.join().unwrap().success());
    assert_eq!(stopped["agent"], pid);
    assert_eq!(stopped["removed"].as_array().unwrap().len(), 1, "{stopped}");
    assert_eq!(host.left(), [] as [&str; 0]);
    let said = text(&host.output(&["stop"]).stdout);
    assert!(said.contains("nothing to stop"), "{said}");
}

#[test]
fn stop_removes_what_a_killed_agent_has_left() {
    let Some(host) = Host::new() else { return };
    host.start(&["--pin"]).kill();
    host.leave_filters();
    let said = text(&host.output(&["stop"]).stdout);
    for word in [
        "/sys/fs/bpf/tidegate",
        "link-1-leaves",
        "clsact filter on lo (arrives)",
    ] {
        assert!(said.contains(word), "no \"{word}\" in: {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
    assert_eq!(host.left(), [] as [&str; 0]);
}

#[test]
fn the_next_agent_takes_the_place_of_what_is_pinned() {
    let Some(host) = Host::new() else { return };
    let said = host.start(&["--pin"]).end();
    assert!(said[1].contains("left attached"), "{said:?}");
    assert_eq!(host.left().len(), 1);
    let said = host.start(&["--pin", "--on-exit", "detach"]).end();
    assert!(said[1].contains("detached"), "{said:?}");
    assert_eq!(host.left(), [] as [&str; 0]);
}

/// And what an agent has left stays, if a new one cannot pin either.
#[test]
fn without_a_place_to_pin_an_agent_that_should_is_refused() {
    let Some(host) = Host::new() else { return };
    hide("/sys/fs/bpf");
    host.leave_filters();
    let left = host.left();
    assert!(!left.is_empty());
    let file = host.file();
    let output = host.output(&["run", "--pin", "--config", file.to_str().unwrap()]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("mount -t bpf -o mode=700 bpf /sys/fs/bpf"),
        "{said}"
    );
    assert_eq!(host.left(), left);
    let report = host.json(&["check", "--json", "--config", file.to_str().unwrap()]);
    let findings = report["findings"].as_array().unwrap();
    let pinning = findings.iter().find(|f| f["name"] == "pinning").unwrap();
    assert!(pinning["found"].as_str().unwrap().contains("not mounted"));
    host.output(&["stop"]);
}

#[test]
fn check_says_whether_run_would_work() {
    let Some(host) = Host::new() else { return };
    let file = host.file();
    let with_file = ["check", "--json", "--config", file.to_str().unwrap()];
    let output = host.output(&with_file);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &report["works"]),
        (Some(0), &true.into()),
        "{report}"
    );
    assert_eq!(report["use"]["interfaces"][0], "lo");
    assert_eq!(report["use"]["rules"], 1);
    // There is no default route yet.
    let output = host.output(&["check"]);
    assert_eq!(output.status.code(), Some(0));
    let short = text(&output.stdout);
    assert!(short.contains("`run` waits for a default route"));
    // Everything is listed only with --verbose.
    let all = text(&host.output(&["check", "--verbose"]).stdout);
    let is_of_kinds = |said: &str| said.contains("QUIC, known by its handshake");
    assert!(!is_of_kinds(&short) && is_of_kinds(&all), "{short}{all}");
    assert!(short.lines().count() < 12, "{short}");
    assert!(all.lines().count() > 25, "{all}");
    let report = host.json(&["check", "--json", "--iface", "lo"]);
    assert_eq!(report["use"]["interfaces"], serde_json::json!(["lo"]));
    host.configure("interfaces = [\"lo\"]\nlaw = \"tied\"\n");
    let output = host.output(&["check", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("tidegate.toml:2:"));
    // The check leaves nothing behind, and finds what is there.
    assert_eq!(host.left(), [] as [&str; 0]);
    host.configure(DENIES);
    let running = host.start(&["--pin"]);
    let report = host.json(&with_file);
    let found = |name: &str| {
        let findings = report["findings"].as_array().unwrap();
        let finding = findings.iter().find(|f| f["name"] == name).unwrap();
        finding["found"].as_str().unwrap().to_owned()
    };
    assert!(found("agent").contains(&running.pid().to_string()));
    assert!(found("leftovers").contains("link-1-arrives"));
    running.kill();
    host.output(&["stop"]);
}

/// The macvlan device stands for a port that leads out of the machine.
#[test]
fn check_tells_a_router_from_a_machine_with_containers() {
    if !has_program("ip", "iproute2") {
        return;
    }
    let Some(host) = Host::new() else { return };
    let file = host.file();
    let found = || {
        let report = host.json(&["check", "--json", "--config", file.to_str().unwrap()]);
        let findings = report["findings"].as_array().unwrap();
        let named = |name: &str| {
            let finding = findings.iter().find(|f| f["name"] == name);
            finding.map_or(String::new(), |f| f["found"].as_str().unwrap().into())
        };
        ["shares", "containers", "router", "bridge"].map(named)
    };
    let [shares, containers, router, _] = found();
    assert!(shares.contains("by flow, as this machine forwards for nobody"));
    assert_eq!([containers, router], ["", ""]);
    host.sh("echo 1 > /proc/sys/net/ipv4/ip_forward
             ip link add docker0 type bridge && ip address add 172.17.0.1/16 dev docker0
             ip link add c0 type veth peer name c1 && ip link set c0 master docker0
             ip link set docker0 up");
    let [shares, containers, router, _] = found();
    assert!(shares.contains("by flow, as this machine forwards for none but its containers"));
    assert!(containers.contains("docker0"), "{containers}");
    assert_eq!(router, "");
    // An unplugged port has no address.
    host.sh("ip link add lan0 link c1 type macvlan && ip link set lan0 up");
    assert!(found()[0].contains("by flow"));
    host.sh("ip address add 10.0.0.1/24 dev lan0");
    let [shares, containers, router, _] = found();
    assert!(shares.contains("by device, as this machine forwards for others"));
    assert!(router.contains("this machine forwards"), "{router}");
    assert_eq!(containers, "");
    // As a port of the bridge, it makes the bridge the devices' side.
    host.sh("ip address flush dev lan0 && ip link set lan0 master docker0");
    host.configure("interfaces = [\"docker0\"]\n");
    let [shares, _, router, bridge] = found();
    assert!(shares.contains("by device"), "{shares}");
    assert!(router.contains("this machine forwards"), "{router}");
    assert!(bridge.contains("docker0 is a bridge"), "{bridge}");
}

#[test]
fn check_names_a_tunnel_that_no_default_route_leads_to() {
    if !has_program("ip", "iproute2") || !has_tun() {
        return;
    }
    let Some(host) = Host::new() else { return };
    let tunnels = || {
        let report = host.json(&["check", "--json"]);
        let findings = report["findings"].as_array().unwrap().clone();
        let tunnels = findings.into_iter().filter(|f| f["name"] == "tunnel");
        tunnels.collect::<Vec<_>>()
    };
    host.sh(
        "ip link add wlan0 type veth peer name far && ip address add 192.0.2.1/24 dev wlan0
             ip link set wlan0 up && ip link set far up && ip route add default dev wlan0
             ip tuntap add tun0 mode tun && ip link set tun0 up",
    );
    assert!(tunnels().is_empty(), "one that is not in use");
    host.sh("ip address add 10.8.0.2/24 dev tun0 && ip route add 10.0.0.0/8 dev tun0");
    let found = tunnels();
    assert_eq!(found.len(), 1);
    assert!(found[0]["found"].as_str().unwrap().contains("tunnel tun0"));
    let advice = found[0]["advice"].as_str().unwrap();
    assert!(
        advice.starts_with("--iface tun0 --iface wlan0 "),
        "{advice}"
    );
    // The advice works.
    host.configure("interfaces = [\"tun0\", \"wlan0\"]\n");
    let file = host.file();
    let report = host.json(&["check", "--json", "--config", file.to_str().unwrap()]);
    assert_eq!(report["use"]["interfaces"], json!(["tun0", "wlan0"]));
    host.sh("ip route add 0.0.0.0/1 dev tun0");
    assert!(tunnels().is_empty(), "one that is followed");
    // A VPN server: there are devices behind it.
    host.sh("ip route del 0.0.0.0/1 dev tun0
             ip link add lan0 link far type macvlan && ip address add 10.0.0.1/24 dev lan0
             echo 1 > /proc/sys/net/ipv4/ip_forward");
    assert!(tunnels().is_empty(), "one of a router");
}

#[test]
fn a_dry_run_says_what_it_would_do() {
    if !has_program("ip", "iproute2") {
        return;
    }
    let Some(host) = Host::new() else { return };
    let up = || {
        let status = Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status()?;
        assert!(status.success());
        Ok(())
    };
    host.namespace.run(up).unwrap();
    let mut running = host.start(&["--dry-run"]);
    // Some traffic for a second or two, over the loopback device.
    let talk = || {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let mut client = std::net::TcpStream::connect(listener.local_addr()?)?;
        let (mut server, _) = listener.accept()?;
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(2_500) {
            server.write_all(&[0; 1_000])?;
            client.read_exact(&mut [0; 1_000])?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    };
    host.namespace.run(talk).unwrap();
    running.expect_out("would steer");
    running.expect_out("; not steered: ");
    let said = running.end().join("\n");
    for word in ["would have steered", "of 2 flows", "the queue stood at"] {
        assert!(said.contains(word), "no \"{word}\" in: {said}");
    }
}
