//! Names that others have chosen, of files, scenarios, runs, workloads, interfaces and devices, in all output for
//! people: none may control the terminal. The agent's and the laboratory's parts need root, and say so if they are
//! skipped.

#[path = "sight/running.rs"]
mod running;

use crate::running::{Running, TIDEGATE, json};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_lab::{IpVersion, Namespace, Veth};
use tidegate_terminal::is_invisible;
use tidegate_testing::{has_program, has_tun, is_root};

/// Sets the window's title, clears the screen, reverses text and returns to the line's start, by control characters of
/// ASCII, ISO 8859-1 and Unicode.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}cod\u{200b}\r";

/// The same within the 15 bytes of an interface's name.
const INTERFACE: &str = "\u{1b}[31m\u{7}\u{202e}if";

/// The text as a TOML string.
fn quoted(text: &str) -> String {
    let mut spelled = String::from('"');
    for c in text.chars() {
        match c.is_control() || is_invisible(c) {
            true => spelled += &format!("\\u{:04x}", u32::from(c)),
            false => spelled.push(c),
        }
    }
    spelled + "\""
}

fn scenario() -> String {
    let name = quoted(HOSTILE);
    format!(
        r#"
name = {name}
description = {name}
duration_s = 2
down = {{ rate = {{ constant_mbps = 10 }}, delay_ms = 10, queue = {{ packets = 50 }} }}
up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 10 }}
workload = [
    {{ name = {name}, does = {{ bulk = {{}} }} }},
    {{ name = "pings", does = {{ ping = {{ interval_ms = 100 }} }} }},
]
run = [{{ name = {name} }}, {{ name = "tide", law = "tide" }}]
"#
    )
}

/// A folder with the scenario, and a file with the hostile name.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("small.toml"), scenario()).unwrap();
    fs::write(folder.path().join(format!("{HOSTILE}.toml")), "x = 1\n").unwrap();
    folder
}

/// The output contains no control characters, and spells them out instead.
fn assert_tame(bytes: &[u8], what: &str) {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let wild = text
        .chars()
        .find(|c| *c != '\n' && (c.is_control() || is_invisible(*c)));
    assert_eq!(wild, None, "{what}: {text:?}");
}

fn assert_spelled_out(output: &Output, what: &str) {
    assert_tame(&output.stdout, what);
    assert_tame(&output.stderr, what);
    let all = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8(all).unwrap();
    assert!(
        text.contains(r"\u{1b}"),
        "{what} shows no such name: {text}"
    );
}

fn tidegate(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(TIDEGATE);
    command.current_dir(folder).args(args).output().unwrap()
}

#[test]
fn tables_of_the_simulator_obey_no_name() {
    let folder = folder();
    for args in [
        &["sim", "small.toml"][..],
        &["sim", "small.toml", "--seeds", "2"],
        &["sim", "small.toml", "--vary", "down.delay_ms=5,10"],
    ] {
        let output = tidegate(folder.path(), args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        assert_spelled_out(&output, &args.join(" "));
    }
    // JSON for programs contains the name itself.
    let sets = tidegate(folder.path(), &["sim", "small.toml", "--json"]);
    let sets: Value = serde_json::from_slice(&sets.stdout).unwrap();
    let set = sets.get(0).unwrap_or(&sets);
    assert_eq!(set["scenario"], HOSTILE);
}

#[test]
fn tables_of_the_laboratory_obey_no_name() {
    if !has_tun() {
        return;
    }
    let folder = folder();
    fs::create_dir(folder.path().join("set")).unwrap();
    fs::write(folder.path().join("set/small.toml"), scenario()).unwrap();
    for args in [&["lab", "small.toml"][..], &["validate", "set"]] {
        let output = tidegate(folder.path(), args);
        assert_spelled_out(&output, &args.join(" "));
    }
}

/// Errors quote file names, file contents and arguments.
#[test]
fn errors_obey_no_name() {
    let folder = folder();
    let file = format!("{HOSTILE}.toml");
    let missing = format!("{HOSTILE}.none");
    let wrong = format!("{} = 1\n", quoted(HOSTILE));
    fs::write(folder.path().join("wrong.toml"), scenario() + &wrong).unwrap();
    let unread = format!("name = \"{HOSTILE}\n");
    fs::write(folder.path().join("unread.toml"), unread).unwrap();
    let long = format!("name = \"{}\n", "x".repeat(100_000));
    fs::write(folder.path().join("long.toml"), long).unwrap();
    let commands: &[&[&str]] = &[
        &["sim", &file],
        &["sim", &missing],
        &["sim", "wrong.toml"],
        &["sim", "unread.toml"],
        &["sim", "small.toml", "--vary", &missing],
        &["sim", &file, &missing],
        &["lab", &missing],
        &["validate", &missing],
        &["reproduce", &missing],
        &["check", "--config", &file],
        &["link", "--down", &missing, "--", "true"],
        &["probe", "run", &missing],
        &["mpath", "send", &missing, "--token", "x"],
        &["try", "--url", &missing],
        &["top", &missing],
        &[HOSTILE],
    ];
    for args in commands {
        let output = tidegate(folder.path(), args);
        assert!(!output.status.success(), "{args:?}");
        assert_tame(&output.stdout, &format!("{args:?}"));
        assert_tame(&output.stderr, &format!("{args:?}"));
        assert!(
            !output.stderr.is_empty() || !output.stdout.is_empty(),
            "{args:?}"
        );
    }
    let output = tidegate(folder.path(), &["sim", "long.toml"]);
    let longest = String::from_utf8(output.stderr).unwrap();
    let longest = longest.lines().map(|line| line.chars().count()).max();
    assert!(longest.unwrap() < 10_000, "{longest:?}");
}

/// An agent on an interface with a hostile name: its log, its check, its dry run, and `top`.
#[test]
fn the_agent_obeys_no_interface() {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let work = || {
        let ip = |args: &[&str]| assert!(Command::new("ip").args(args).status().unwrap().success());
        ip(&[
            "link", "add", INTERFACE, "type", "veth", "peer", "name", "far",
        ]);
        ip(&["address", "add", "192.0.2.1/24", "dev", INTERFACE]);
        ip(&["link", "set", "far", "up"]);
        ip(&["link", "set", INTERFACE, "up"]);
        ip(&["route", "add", "default", "dev", INTERFACE]);
        let folder = TempDir::new().unwrap();
        for args in [
            &["check", "--verbose"][..],
            &["run", "--socket", "a.sock", "--seconds", "1"],
            &["run", "--socket", "a.sock", "--seconds", "1", "--dry-run"],
            &["run", "--socket", "a.sock", "--iface", "none"],
        ] {
            let mut command = Command::new("timeout");
            command.args(["-s", "INT", "3", TIDEGATE]).args(args);
            let output = command.current_dir(folder.path()).output().unwrap();
            assert_tame(&output.stdout, &format!("{args:?}"));
            assert_tame(&output.stderr, &format!("{args:?}"));
        }
        let mut agent = Running::start_by(Command::new(TIDEGATE), &[]);
        let top = agent.top(&[]);
        assert_spelled_out(&top, "top");
        // JSON for programs contains the name itself.
        let about = &json(&agent.top(&["--json"]))["agent"];
        assert_eq!(about["interfaces"][0]["name"], INTERFACE);
        agent.interrupt();
        Ok(())
    };
    namespace.run(work).unwrap();
}

/// An agent's snapshot after a download.
fn snapshot() -> Option<Value> {
    if !is_root() {
        return None;
    }
    let hosts = Veth::new().unwrap();
    let server = Veth::server_address(IpVersion::V4);
    let listen = || Ok(TcpListener::bind((server, 0))?);
    let listener = hosts.server.run(listen).unwrap();
    let look = || {
        let mut agent = Running::start_by(Command::new(TIDEGATE), &["--iface", Veth::INTERFACE]);
        let mut client = TcpStream::connect(listener.local_addr().unwrap())?;
        let (mut sender, _) = listener.accept()?;
        let sending = thread::spawn(move || sender.write_all(&[7; 300_000]).map(|()| sender));
        client.read_exact(&mut vec![0; 300_000])?;
        let _sender = sending.join().unwrap()?;
        let mut stream = UnixStream::connect(&agent.socket)?;
        stream.write_all(b"{\"get\":\"snapshot\"}\n")?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        agent.interrupt();
        Ok(serde_json::from_str(&line)?)
    };
    Some(hosts.client.run(look).unwrap())
}

/// Answers each client with this snapshot.
fn answer(listener: UnixListener, snapshot: &Value) {
    let line = format!("{snapshot}\n");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut questions = BufReader::new(stream.try_clone().unwrap()).lines();
            let mut stream = stream;
            while questions.next().is_some_and(|q| q.is_ok()) {
                let _ = stream.write_all(line.as_bytes());
            }
        }
    });
}

/// Devices choose the names that they tell a DHCP server; here an agent on a router passes them to `top`.
#[test]
fn what_top_prints_obeys_no_device() {
    let Some(mut snapshot) = snapshot() else {
        return;
    };
    snapshot["agent"]["by_device"] = json!(true);
    for interface in snapshot["agent"]["interfaces"].as_array_mut().unwrap() {
        interface["name"] = json!(HOSTILE);
    }
    for flow in snapshot["flows"].as_array_mut().unwrap() {
        flow["device"] = json!(1);
    }
    snapshot["devices"] = json!([{
        "number": 1, "name": HOSTILE.repeat(20), "mac": null, "address": "192.0.2.7",
        "own": false, "weight": 1,
    }]);
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("agent.sock");
    answer(UnixListener::bind(&socket).unwrap(), &snapshot);
    let mut top = Command::new(TIDEGATE);
    top.args(["top", "--once", "--all", "--interval", "0.2", "--socket"]);
    let child = top
        .arg(&socket)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    thread::sleep(Duration::from_millis(100));
    let output = child.unwrap().wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_spelled_out(&output, "top --once");
    let text = String::from_utf8(output.stdout).unwrap();
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest.unwrap() < 400, "{text}");
}

/// Runs `top --names` with these files in place of the system's.
fn named(socket: &Path, files: &[(&Path, &str)], more: &[&str]) -> Output {
    let mounts = files.iter();
    let mounts = mounts.map(|(file, place)| format!("mount --bind {} {place}; ", file.display()));
    let script = format!("{}exec \"$@\"", mounts.collect::<String>());
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-ec", &script, "sh", TIDEGATE]);
    command.args(["top", "--once", "--all", "--names", "--interval", "0.5"]);
    command.args(more).arg("--socket").arg(socket);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// The owner of an address chooses its name.
#[test]
fn what_top_prints_obeys_no_name_of_an_address() {
    if !has_program("unshare", "util-linux") {
        return;
    }
    let Some(snapshot) = snapshot() else { return };
    let folder = TempDir::new().unwrap();
    let (socket, hosts) = (
        folder.path().join("agent.sock"),
        folder.path().join("hosts"),
    );
    answer(UnixListener::bind(&socket).unwrap(), &snapshot);
    let server = Veth::server_address(IpVersion::V4);
    let called = |name: &str, more: &[&str]| {
        fs::write(&hosts, format!("{server} {name}\n")).unwrap();
        named(&socket, &[(&hosts, "/etc/hosts")], more)
    };
    let output = called(HOSTILE.trim_end(), &[]);
    assert_tame(&output.stdout, "top --names");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r"\u{200b}:"), "{text}");
    let long = format!("{}.example.net", ["x".repeat(60), "y".repeat(60)].join("."));
    let text = String::from_utf8(called(&long, &[]).stdout).unwrap();
    assert!(text.contains("yyy.example.net:"), "{text}");
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest.unwrap() < 400, "{text}");
    let text = String::from_utf8(called("far.example.net", &["--filter", "example.net"]).stdout);
    assert!(text.unwrap().contains("far.example.net:"));
    // JSON for programs contains the name itself.
    let look = json(&called(HOSTILE.trim_end(), &["--json"]));
    assert_eq!(look["flows"][0]["remote_name"], HOSTILE.trim_end());
}

/// Neither the display nor the end waits for a name server.
#[test]
fn top_waits_for_no_name_server() {
    if !has_program("unshare", "util-linux") || !has_program("ip", "iproute2") {
        return;
    }
    let Some(snapshot) = snapshot() else { return };
    let namespace = Namespace::new().unwrap();
    let work = || {
        let up = ["link", "set", "lo", "up"];
        assert!(Command::new("ip").args(up).status()?.success());
        // This server receives queries and never answers.
        let server = UdpSocket::bind("127.0.0.53:53")?;
        server.set_read_timeout(Some(Duration::from_secs(10)))?;
        let folder = TempDir::new()?;
        let [socket, hosts, resolver, order] =
            ["socket", "hosts", "resolv.conf", "nsswitch.conf"].map(|f| folder.path().join(f));
        answer(UnixListener::bind(&socket)?, &snapshot);
        fs::write(&hosts, "127.0.0.1 localhost\n")?;
        fs::write(&resolver, "nameserver 127.0.0.53\n")?;
        fs::write(&order, "hosts: files dns\n")?;
        let files: [(&Path, &str); 3] = [
            (&hosts, "/etc/hosts"),
            (&resolver, "/etc/resolv.conf"),
            (&order, "/etc/nsswitch.conf"),
        ];
        let began = Instant::now();
        let output = named(&socket, &files, &[]);
        let took = began.elapsed();
        let text = String::from_utf8(output.stdout)?;
        let address = Veth::server_address(IpVersion::V4).to_string();
        assert!(text.contains(&address), "{text}");
        server.recv_from(&mut [0; 512]).expect("it is asked");
        assert!(took < Duration::from_secs(4), "{took:?}");
        Ok(())
    };
    namespace.run(work).unwrap();
}
