//! Does by hand what a container's runtime does with `packaging/container/daemonset.yaml`, as the manifest says. Needs
//! root, `ip`, and util-linux' `unshare` and `setpriv`, and says so if it is skipped.

#[path = "sight/running.rs"]
mod running;

use crate::running::{Running, TIDEGATE, json};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_yaml_ng::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use tidegate_lab::{IpVersion, Namespace, Veth};
use tidegate_testing::{has_program, is_root, skipped};

/// Bytes that a pod downloads: two and a half seconds on the node's link.
const FILE: usize = 6_000_000;

/// The queue in front of the node, a third of a second deep: long enough that a lower window helps.
const QUEUE: &str = "qdisc add dev tg0 root tbf rate 20mbit burst 10kb limit 800kb";

/// A part of the manifest.
struct Pod {
    spec: Value,
}

impl Pod {
    fn read() -> Self {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/container/daemonset.yaml");
        let text = std::fs::read_to_string(file).unwrap();
        let manifest: Value = serde_yaml_ng::from_str(&text).unwrap();
        assert_eq!(manifest["kind"], "DaemonSet");
        let template = &manifest["spec"]["template"];
        // If they differ, no pod is started.
        let labels = &manifest["spec"]["selector"]["matchLabels"];
        assert_eq!(*labels, template["metadata"]["labels"]);
        Self {
            spec: template["spec"].clone(),
        }
    }

    fn container(&self) -> &Value {
        &self.spec["containers"][0]
    }

    /// Folders of the node, and their places in the container.
    fn volumes(&self) -> Vec<(String, String)> {
        let volumes = self.spec["volumes"].as_sequence().unwrap();
        let mounts = self.container()["volumeMounts"].as_sequence().unwrap();
        let node = |mount: &Value| {
            let volume = volumes.iter().find(|v| v["name"] == mount["name"]).unwrap();
            word(&volume["hostPath"]["path"])
        };
        let pair = |mount: &Value| (node(mount), word(&mount["mountPath"]));
        mounts.iter().map(pair).collect()
    }

    /// The probe that kubelet uses to decide whether the container is ready.
    fn is_ready(&self) -> bool {
        let probe = &self.container()["readinessProbe"]["httpGet"];
        let to = (
            &*word(&probe["host"]),
            probe["port"].as_u64().unwrap() as u16,
        );
        let Ok(mut stream) = TcpStream::connect(to) else {
            return false;
        };
        let path = word(&probe["path"]);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.starts_with("HTTP/1.1 200")
    }

    /// The container's capabilities, as setpriv(1) spells them.
    fn capabilities(&self) -> String {
        let capabilities = &self.container()["securityContext"]["capabilities"];
        assert_eq!(words(&capabilities["drop"]), ["ALL"]);
        let added = words(&capabilities["add"]).into_iter();
        let added = added.map(|name| format!(",+{}", name.to_lowercase()));
        format!("-all{}", added.collect::<String>())
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn words(list: &Value) -> Vec<String> {
    list.as_sequence().unwrap().iter().map(word).collect()
}

/// A container on a node whose folders are below `node`.
struct Container {
    process: Child,
}

impl Container {
    /// The root is read-only. An image contains only the static program; here it uses the node's libraries.
    const MAKE: &str = r#"
        set -e
        mount -t tmpfs root "$NODE/root"
        cd "$NODE/root"
        mkdir usr proc sys run
        for name in lib lib64; do [ ! -L /$name ] || cp -d /$name .; done
        mount --bind /usr usr
        mount -t proc proc proc
        mount --rbind /sys sys
        touch tidegate
        mount --bind "$TIDEGATE" tidegate
        while [ "$1" != -- ]; do
            mkdir -p "$1" ".$2"
            mount --bind "$1" ".$2"
            shift 2
        done
        shift
        mount -o remount,ro,bind "$NODE/root" .
        exec chroot . setpriv --bounding-set "$CAPABILITIES" --inh-caps "$CAPABILITIES" --no-new-privs /tidegate "$@"
    "#;

    /// Starts the pod in the calling thread's network namespace, the node's.
    fn start(pod: &Pod, node: &Path) -> Self {
        assert_eq!(pod.spec["hostNetwork"], true);
        assert_eq!(
            pod.container()["securityContext"]["readOnlyRootFilesystem"],
            true
        );
        assert_eq!(
            pod.container()["securityContext"]["privileged"],
            Value::Null
        );
        std::fs::create_dir_all(node.join("root")).unwrap();
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c"]);
        command.args([Self::MAKE, "sh"]);
        for (of_the_node, inside) in pod.volumes() {
            command.arg(on(node, &of_the_node)).arg(inside);
        }
        command.arg("--").args(words(&pod.container()["args"]));
        command.env("NODE", node).env("TIDEGATE", TIDEGATE);
        command.env("CAPABILITIES", pod.capabilities());
        Self {
            process: command.stderr(Stdio::piped()).spawn().unwrap(),
        }
    }

    /// Process id of the agent, which is the container's first process.
    fn first(&mut self) -> Pid {
        let parent = self.process.id().to_string();
        let all = std::fs::read_dir("/proc").unwrap();
        let mut all = all.filter_map(|file| file.unwrap().file_name().to_str()?.parse().ok());
        let is_first = |&id: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let rest = stat.rsplit_once(')').map(|(_, rest)| rest);
            rest.and_then(|rest| rest.split_whitespace().nth(1)) == Some(&parent)
        };
        let first = all.find(is_first);
        Pid::from_raw(first.unwrap_or_else(|| panic!("{}", self.end())))
    }

    fn is_over(&mut self) -> bool {
        self.process.try_wait().unwrap().is_some()
    }

    /// Its output once it has ended.
    fn end(&mut self) -> String {
        let mut said = String::new();
        let mut errors = self.process.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        self.process.wait().unwrap();
        said
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // The container's processes end with it. It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The locks are at the place where all agents of the machine look; the socket is this test's own.
fn on(node: &Path, path: &str) -> String {
    match path {
        "/run/tidegate-locks" => path.to_owned(),
        path => format!("{}{path}", node.display()),
    }
}

fn ip(args: &str) {
    let status = Command::new("ip").args(args.split(' ')).status().unwrap();
    assert!(status.success(), "ip {args}");
}

/// Runs `tidegate top --once` as on the node.
fn top(node: &Path) -> Output {
    let mut command = Command::new(TIDEGATE);
    command.args(["top", "--once", "--json", "--socket"]);
    command.arg(node.join("run/tidegate/agent.sock"));
    command.output().unwrap()
}

/// A count of the agent: of the data of downloads and their acknowledgements, by reason.
fn counted(node: &Path, reason: &str, what: &str) -> u64 {
    let said: serde_json::Value = serde_json::from_slice(&top(node).stdout).unwrap();
    let mut counts = said["counts"].as_array().unwrap().iter();
    let count = counts.find(|count| count["direction"] == "down" && count["reason"] == reason);
    count.and_then(|count| count[what].as_u64()).unwrap_or(0)
}

/// Makes the far end of the node's link, in the calling thread's namespace, send slowly. False if that is not possible.
fn make_slow() -> anyhow::Result<bool> {
    let tc = Command::new("tc").args(QUEUE.split(' ')).status();
    Ok(tc.is_ok_and(|status| status.success()))
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < Duration::from_secs(30), "no {what}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_node_has_one_agent_which_steers_its_pods_with_what_the_manifest_gives() {
    let here = is_root() && has_program("ip", "iproute2");
    if !here || !has_program("setpriv", "util-linux") {
        return;
    }
    let pod = Pod::read();
    let node = tempfile::tempdir().unwrap();
    let hosts = Veth::new().unwrap();
    if !hosts.server.run(make_slow).unwrap() {
        return skipped("no slow link without tc and its tbf");
    }
    let run = || {
        ip("link set lo up");
        ip("route replace default dev tg0");
        let mut container = Container::start(&pod, node.path());
        wait_for("agent that is ready", || {
            if container.is_over() {
                panic!("{}", container.end());
            }
            pod.is_ready()
        });
        assert_capabilities(container.first());
        download_in_a_pod(&hosts.server);
        // Seen on the interface that the pod's packets leave by, with the node's address.
        wait_for("flow of the pod's", || {
            counted(node.path(), "measured", "bytes") > FILE as u64
        });
        let lowered = counted(node.path(), "rewritten", "packets");
        assert!(lowered > 0, "the pod's download was never steered");
        another_is_refused(node.path());
        let began = Instant::now();
        kill(container.first(), Signal::SIGTERM).unwrap();
        let said = container.end();
        let grace = pod.spec["terminationGracePeriodSeconds"].as_u64().unwrap();
        assert!(began.elapsed() < Duration::from_secs(grace / 2), "{said}");
        assert!(!said.contains("error"), "{said}");
        assert!(!node.path().join("run/tidegate/agent.sock").exists());
        Ok(())
    };
    hosts.client.run(run).unwrap();
}

/// With its programs loaded, the agent keeps two of the manifest's three capabilities.
fn assert_capabilities(agent: Pid) {
    let status = std::fs::read_to_string(format!("/proc/{agent}/status")).unwrap();
    // CAP_NET_ADMIN (12) and CAP_BPF (39).
    for set in ["CapPrm", "CapEff"] {
        let line = status.lines().find(|line| line.starts_with(set)).unwrap();
        assert!(line.ends_with("0000008000001000"), "{line}");
    }
}

/// A pod on the node, behind a veth device and the node's NAT, downloads a file.
fn download_in_a_pod(server: &Namespace) {
    let pod = &Namespace::new().unwrap();
    let address = Veth::server_address(IpVersion::V4);
    let listener = server.run(|| Ok(TcpListener::bind((address, 0))?)).unwrap();
    let to = listener.local_addr().unwrap();
    let sender = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&vec![1; FILE]).unwrap();
    });
    ip("link add cni0 type veth peer name eth0");
    // The namespace is named by the descriptor of a thread inside it.
    let (tell, told) = std::sync::mpsc::channel();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            pod.run(move || {
                // SAFETY: it has no arguments.
                tell.send(unsafe { libc::syscall(libc::SYS_gettid) })?;
                wait.recv()?;
                ip("addr add 10.77.0.2/24 dev eth0");
                ip("link set eth0 up");
                ip("route add default via 10.77.0.1");
                let mut bytes = Vec::new();
                TcpStream::connect(to)?.read_to_end(&mut bytes)?;
                Ok(bytes.len())
            })
        });
        ip(&format!("link set eth0 netns {}", told.recv().unwrap()));
        ip("addr add 10.77.0.1/24 dev cni0");
        ip("link set cni0 up");
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        let _translated =
            tidegate_lab::Masquerade::new("10.77.0.2".parse().unwrap(), "cni").unwrap();
        go.send(()).unwrap();
        assert_eq!(receiver.join().unwrap().unwrap(), FILE);
    });
    sender.join().unwrap();
}

fn another_is_refused(node: &Path) {
    let mut another = Command::new(TIDEGATE);
    another.args(["run", "--socket"]).arg(node.join("another"));
    let output = another.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("an agent runs here already"), "{said}");
}

/// As on Proxmox: a guest has a port of the bridge that the default route leads to. There is neither routing nor NAT.
struct SharedBridge {
    hosts: Veth,
    guest: Namespace,
}

impl SharedBridge {
    /// The link's port is a veth device, like all in this test; `eno1` stands for one that leads out of the machine.
    fn new() -> Self {
        let bridge = Self {
            hosts: Veth::new().unwrap(),
            guest: Namespace::new().unwrap(),
        };
        let (pid, fd) = (std::process::id(), bridge.guest.as_fd().as_raw_fd());
        let peer = format!("eth0 netns /proc/{pid}/fd/{fd}");
        within(
            &bridge.hosts.client,
            &[
                &format!("link add tap0 type veth peer name {peer}"),
                "link add other type veth peer name other-far",
                "link add eno1 link other type macvlan",
                "link add br0 type bridge",
                "link set tg0 master br0",
                "link set tap0 master br0",
                "link set eno1 master br0",
                "link set tap0 up",
                "link set br0 up",
                "address add 10.99.0.3/24 dev br0",
                "route add default via 10.99.0.1",
            ],
        );
        within(&bridge.hosts.server, &["address add 10.99.0.1/24 dev tg0"]);
        within(
            &bridge.guest,
            &["address add 10.99.0.2/24 dev eth0", "link set eth0 up"],
        );
        bridge
    }

    /// Bytes of a guest's download that an agent with these arguments measures, and its first events.
    fn measured(&self, args: &[&str]) -> (u64, Vec<serde_json::Value>) {
        let run = || {
            let mut agent = Running::start_by(Command::new(TIDEGATE), args);
            self.download();
            let paths = json(&agent.top(&["--json"]))["paths"].clone();
            let bytes = paths.as_array().unwrap().iter();
            let bytes = bytes.map(|path| path["measured_bytes"].as_u64().unwrap());
            let bytes = bytes.sum();
            agent.interrupt();
            Ok((bytes, agent.passed.take()))
        };
        self.hosts.client.run(run).unwrap()
    }

    fn download(&self) {
        let listen = || Ok(TcpListener::bind("10.99.0.1:0")?);
        let listener = self.hosts.server.run(listen).unwrap();
        let to = listener.local_addr().unwrap();
        let sender = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&vec![1; FILE]).unwrap();
        });
        let connect = || Ok(TcpStream::connect(to)?);
        let mut bytes = Vec::new();
        let mut stream = self.guest.run(connect).unwrap();
        stream.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len(), FILE);
        sender.join().unwrap();
    }
}

fn within(host: &Namespace, commands: &[&str]) {
    let run = || {
        commands.iter().for_each(|command| ip(command));
        Ok(())
    };
    host.run(run).unwrap();
}

#[test]
fn guests_on_a_bridge_are_seen_at_its_port_and_not_at_the_bridge() {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    let bridge = SharedBridge::new();
    let (bytes, said) = bridge.measured(&[]);
    assert_eq!(bytes, 0, "at the bridge");
    let said = said.iter().find(|e| e["event"] == "bridge").unwrap();
    assert_eq!([&said["interface"], &said["out"][0]], ["br0", "eno1"]);
    let (bytes, said) = bridge.measured(&["--iface", "tg0"]);
    assert!(bytes >= FILE as u64, "{bytes} at the port");
    assert!(said.iter().all(|e| e["event"] != "bridge"), "{said:?}");
    let check = || Ok(Command::new(TIDEGATE).args(["check", "--json"]).output()?);
    let report = json(&bridge.hosts.client.run(check).unwrap());
    let findings = report["findings"].as_array().unwrap();
    let note = findings.iter().find(|f| f["name"] == "bridge").unwrap();
    let [found, advice] = ["found", "advice"].map(|key| note[key].as_str().unwrap());
    assert!(found.contains("br0") && found.contains("tap0"), "{found}");
    assert!(advice.contains("--iface eno1"), "{advice}");
}

/// A runtime's profile may not know CAP_BPF, such as Podman's in Debian 12.
#[test]
fn a_profile_that_refuses_bpf_is_named() {
    if !is_root() {
        return;
    }
    for command in [&["run", "--iface", "lo"][..], &["check"]] {
        let mut tidegate = Command::new(TIDEGATE);
        tidegate.args(command);
        // SAFETY: the child makes two system calls, and allocates nothing.
        unsafe { tidegate.pre_exec(refuse_bpf) };
        let output = tidegate.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.contains("expected a seccomp profile"), "{said}");
        assert_eq!(
            output.status.code(),
            Some(if command[0] == "run" { 2 } else { 1 }),
            "{said}"
        );
    }
}

/// Makes bpf(2) fail with EPERM from now on; all other system calls work as before.
fn refuse_bpf() -> std::io::Result<()> {
    let step = |code: u32, jump: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: jump,
        k,
    };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The system call's number is the first word of the filter's input.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            1,
            libc::SYS_bpf as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, refused),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program and what it points to outlive the calls.
    let status = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            | libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            )
    };
    match status {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
