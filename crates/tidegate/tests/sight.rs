//! What `tidegate run` reports: to `tidegate top`, to Prometheus, and in its log. Over a pair of devices between two
//! namespaces; needs root, and says so if it is skipped.

#[path = "sight/clocks.rs"]
mod clocks;
#[path = "sight/everybody.rs"]
mod everybody;
#[path = "sight/ledger.rs"]
mod ledger;
#[path = "sight/lint.rs"]
mod lint;
#[path = "sight/running.rs"]
mod running;
#[path = "sight/stamps.rs"]
mod stamps;
#[path = "sight/truth.rs"]
mod truth;

use crate::running::{Running, TIDEGATE, json};
use nix::fcntl::FdFlag;
use nix::poll::{PollFd, PollFlags, poll};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_lab::{IpVersion, Veth};
use tidegate_testing::{has_program, is_root};

/// Bytes of the download, and of each datagram beside it.
const FILE: usize = 3_000_000;
const DATAGRAM: usize = 1200;

/// Starts an agent on the device between the namespaces.
fn start(more: &[&str]) -> Running {
    let args = [&["--iface", Veth::INTERFACE], more].concat();
    Running::start_by(Command::new(TIDEGATE), &args)
}

/// A download beside datagrams on QUIC's port. Returns the client's address.
fn traffic(hosts: &Veth) -> (IpAddr, TcpStream, TcpStream) {
    let server = Veth::server_address(IpVersion::V4);
    let listeners = hosts.server.run(|| {
        Ok((
            TcpListener::bind((server, 0))?,
            UdpSocket::bind((server, 443))?,
        ))
    });
    let (listener, quic) = listeners.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut sender, address) = listener.accept().unwrap();
    let datagrams = UdpSocket::bind((address.ip(), 0)).unwrap();
    // The start of a server's Initial (RFC 9001, appendix A.3).
    let mut datagram = [0; DATAGRAM];
    datagram[..8].copy_from_slice(&[0xc1, 0, 0, 0, 1, 0, 8, 0xf0]);
    for _ in 0..100 {
        quic.send_to(&datagram, datagrams.local_addr().unwrap())
            .unwrap();
    }
    let sending = thread::spawn(move || {
        sender.write_all(&vec![7; FILE]).unwrap();
        sender
    });
    let mut file = vec![0; FILE];
    client.read_exact(&mut file).unwrap();
    (address.ip(), client, sending.join().unwrap())
}

fn scrape(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("application/openmetrics-text"), "{head}");
    body.to_owned()
}

fn metric(text: &str, series: &str) -> f64 {
    let value = text.lines().find_map(|line| line.strip_prefix(series));
    let value = value.unwrap_or_else(|| panic!("no {series} in\n{text}"));
    value.trim().parse().unwrap()
}

#[test]
fn what_the_agent_sees_is_shown_to_people_to_programs_and_to_prometheus() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = hosts.client.run(|| {
        let mut agent = start(&["--metrics", "0.0.0.0:0", "--udp", "leave"]);
        let metrics: SocketAddr = agent.event("metrics")["address"]
            .as_str()
            .unwrap()
            .parse()?;
        agent.event("serving");
        let mode = std::fs::metadata(&agent.socket)?.permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        let (address, client, _sender) = traffic(&hosts);
        let port = client.local_addr()?.port();

        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["agent"]["law"], "tide");
        let flows = look["flows"].as_array().unwrap();
        let flow = flows.iter().find(|f| f["local"]["port"] == port);
        let flow = flow.unwrap_or_else(|| panic!("no flow in {look}"));
        assert_eq!(flow["direction"], "down");
        assert!(
            flow["received_bytes"].as_u64().unwrap() >= FILE as u64,
            "{flow}"
        );
        assert!(
            flow["rate_bps"].is_f64() && flow["why"].is_string(),
            "{flow}"
        );
        // No other flow shares its queue.
        assert!(flow["group"].is_null() && flow["score"].is_null(), "{flow}");
        assert!(flow["why_group"].is_string(), "{flow}");
        assert!(flow["record"]["state"].is_string(), "{flow}");
        let quic = &look["windowless"]
            .as_array()
            .unwrap()
            .iter()
            .find(|l| l["limit"] == "quic");
        let quic = quic.unwrap_or_else(|| panic!("no QUIC in {look}"));
        assert_eq!(quic["bytes"], 100 * DATAGRAM as u64);
        assert_eq!(quic["packets"]["not_ect"], 100);
        assert_eq!(quic["remote"]["port"], 443);
        let down = |p: &&Value| p["direction"] == "down";
        let down = look["paths"].as_array().unwrap().iter().find(down).unwrap();
        let kinds: Vec<_> = down["traffic"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| &c["kind"])
            .collect();
        assert_eq!(kinds[..2], ["tcp", "quic"], "{down}");
        let table = agent.top(&["--filter", "left udp"]);
        let table = String::from_utf8_lossy(&table.stdout).into_owned();
        assert!(
            table.contains("LIMITED BY") && table.contains("QUIC"),
            "{table}"
        );
        assert!(table.contains("Not-ECT"), "{table}");
        assert!(!table.contains(&port.to_string()), "{table}");

        let text = hosts
            .server
            .run(|| Ok(scrape(SocketAddr::new(address, metrics.port()))))?;
        lint::check(&text);
        assert!(lint::samples(&text).len() > 15, "{text}");
        let carried = |what, kind| {
            let labels = "interface=\"tg0\",direction=\"down\"";
            metric(
                &text,
                &format!(
                    "tidegate_traffic_{what}_total{{{labels},kind=\"{kind}\",ecn=\"not_ect\"}}"
                ),
            )
        };
        assert!(carried("bytes", "tcp") >= FILE as f64);
        assert_eq!(carried("packets", "quic"), 100.0);
        // With IPv4 and UDP headers.
        assert_eq!(carried("bytes", "quic"), (100 * (DATAGRAM + 28)) as f64);
        let folder = TempDir::new()?;
        let config = folder.path().join("tidegate.toml");
        std::fs::write(&config, format!("interfaces = [\"{}\"]", Veth::INTERFACE))?;
        let check = Command::new(TIDEGATE)
            .args(["check", "--verbose", "--config"])
            .arg(&config)
            .arg("--socket")
            .arg(&agent.socket)
            .output()?;
        let check = String::from_utf8_lossy(&check.stdout).into_owned();
        let quic = check
            .lines()
            .find(|l| l.contains("held down") && l.contains("QUIC, known by its handshake"));
        // 120 kB beside three megabytes.
        assert!(
            quic.is_some_and(|l| l.trim_start().starts_with("4 % ")),
            "{check}"
        );
        for histogram in ["queue_delay_seconds", "window_bytes"] {
            let count = format!("tidegate_{histogram}_count{{direction=\"down\"}}");
            assert!(metric(&text, &count) > 10.0, "{histogram}");
        }
        let windows = metric(&text, "tidegate_window_bytes_sum{direction=\"down\"}")
            / metric(&text, "tidegate_window_bytes_count{direction=\"down\"}");
        assert!((10e3..100e6).contains(&windows), "{windows}");

        let stop = agent.interrupt();
        assert!(
            stop["measured_bytes"].as_u64().unwrap() >= FILE as u64,
            "{stop}"
        );
        assert!(!agent.socket.exists());
        Ok(())
    });
    work.unwrap();
}

/// Weeks of four seconds, two of them with a download.
#[test]
fn a_week_is_told_when_it_is_over_and_the_next_one_apart() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = hosts.client.run(|| {
        let mut agent = start(&["--weekly", "4", "--account", "0"]);
        agent.event("serving");
        let ends = traffic(&hosts);
        let week = agent.event("week");
        let way = &week["ways"][0];
        assert_eq!(
            (way["direction"].as_str(), week["seconds"].as_u64()),
            (Some("down"), Some(4))
        );
        let carried = way["bytes"].as_u64().unwrap();
        assert!((FILE as u64..2 * FILE as u64).contains(&carried), "{week}");
        let [median, most] = [&way["queue"]["median_us"], &way["longest_us"]];
        assert!(median.as_u64().unwrap() <= most.as_u64().unwrap(), "{week}");
        // At least the mean rate.
        let busiest = way["busiest_bps"].as_f64().unwrap();
        assert!(busiest > carried as f64 * 8.0 / 4.1, "{week}");
        let words = week["message"].as_str().unwrap();
        assert!(words.starts_with("last 4 s: down 3."), "{words}");
        assert!(words.contains("in the busiest hour, queue "), "{words}");
        drop(ends);
        // The second week may contain the connection's last packets.
        agent.event("week");
        let week = agent.event("week");
        let way = &week["ways"][0];
        assert!(
            way["queue"].is_null() && way["bytes"].as_u64() < Some(10_000),
            "{week}"
        );
        agent.interrupt();
        Ok(())
    });
    work.unwrap();
}

/// Each account in the log contains only its own time; the last one contains all, also from interfaces that have gone.
#[test]
fn accounts_are_of_their_time_and_forget_no_interface() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = hosts.client.run(|| {
        let mut agent = start(&["--account", "3"]);
        agent.event("serving");
        let _ends = traffic(&hosts);
        let down = |account: &Value| {
            let way = &account["way"];
            assert_eq!(way["direction"], "down", "{account}");
            let kinds = way["kinds"].as_array().unwrap();
            let of = |kind| {
                let part = kinds.iter().find(|p| p["kind"] == kind);
                part.map_or(0, |p| p["bytes"].as_u64().unwrap())
            };
            (of("tcp"), of("quic"), way["queue"]["packets"].as_u64())
        };
        let account = agent.event("account");
        let (tcp, quic, packets) = down(&account);
        assert!(tcp >= FILE as u64, "{account}");
        assert_eq!(quic, (100 * (DATAGRAM + 28)) as u64);
        assert!(packets.is_some_and(|n| n > 10), "{account}");
        let kinds = account["way"]["kinds"].as_array().unwrap();
        let reached = |kind| kinds.iter().find(|p| p["kind"] == kind).unwrap()["reached"].clone();
        assert_eq!(
            (reached("tcp"), reached("quic")),
            (true.into(), true.into())
        );
        // The next account contains nothing from before that time; and nothing has happened since.
        thread::sleep(Duration::from_secs(4));
        let removed = Command::new("ip")
            .args(["link", "del", Veth::INTERFACE])
            .status()?;
        assert!(removed.success());
        agent.event("interface_gone");
        let stop = agent.interrupt();
        let passed = agent.passed.borrow();
        let accounts = passed.iter().filter(|e| e["event"] == "account");
        let mut down_only = accounts.filter(|e| e["way"]["direction"] == "down");
        let last = down_only.next_back();
        let (tcp, quic, _) = down(last.expect("one at the end"));
        assert_eq!(stop["carried_bytes"]["quic"], quic);
        assert!(
            tcp >= FILE as u64 && quic == (100 * (DATAGRAM + 28)) as u64,
            "{last:?}"
        );
        Ok(())
    });
    work.unwrap();
}

#[test]
fn bad_questions_are_refused_and_the_connection_goes_on() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = hosts.client.run(|| {
        let agent = start(&[]);
        agent.event("serving");
        let mut stream = std::os::unix::net::UnixStream::connect(&agent.socket)?;
        let mut answers = BufReader::new(stream.try_clone()?);
        let mut ask = |question: &str| -> Value {
            writeln!(stream, "{question}").unwrap();
            let mut line = String::new();
            answers.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        };
        for question in ["", "{}", "{\"get\":\"everything\"}", "\u{0}"] {
            let answer = ask(question);
            assert_eq!(answer["version"], 3);
            let error = answer["error"].as_str().unwrap();
            assert!(error.contains("snapshot"), "{error}");
        }
        for _ in 0..2 {
            let answer = ask("{\"get\":\"snapshot\"}");
            assert_eq!(answer["agent"]["interfaces"][0]["name"], Veth::INTERFACE);
            assert!(answer["paths"].as_array().unwrap().len() == 2, "{answer}");
        }
        Ok(())
    });
    work.unwrap();
}

fn ip(args: &str) {
    let status = Command::new("ip").args(args.split(' ')).status().unwrap();
    assert!(status.success(), "ip {args}");
}

#[test]
fn an_interface_that_vanishes_and_returns_is_attached_to_again() {
    if !is_root() || !has_program("ip", "iproute2") {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = hosts.client.run(|| {
        let mut agent = start(&[]);
        agent.event("serving");
        ip("link del tg0");
        let gone = agent.event("interface_gone");
        assert_eq!(
            (&gone["interface"], &gone["level"]),
            (&"tg0".into(), &"warning".into())
        );
        assert_eq!(json(&agent.top(&["--json"]))["paths"], Value::Array(vec![]));
        ip("link add tg0 type veth peer name tg1");
        let came = agent.event("interface_came");
        assert_ne!(came["ifindex"], gone["ifindex"]);
        let paths = json(&agent.top(&["--json"]))["paths"].clone();
        assert_eq!(paths[0]["ifindex"], came["ifindex"]);
        agent.interrupt();
        Ok(())
    });
    work.unwrap();
}

#[test]
fn without_an_agent_top_watches_by_itself_and_says_so() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = hosts.client.run(|| {
        let top = |socket: &Path| {
            Command::new(TIDEGATE)
                .args([
                    "top",
                    "--once",
                    "--json",
                    "--interval",
                    "0.2",
                    "--iface",
                    Veth::INTERFACE,
                ])
                .arg("--socket")
                .arg(socket)
                .output()
                .unwrap()
        };
        let folder = TempDir::new()?;
        let output = top(&folder.path().join("none"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.contains("watching"),
            "{said}"
        );
        assert_eq!(json(&output)["agent"]["dry_run"], true);
        // The socket of a killed agent belongs to no one.
        let left = folder.path().join("left");
        drop(std::os::unix::net::UnixListener::bind(&left)?);
        assert!(left.exists());
        assert!(top(&left).status.success());
        Ok(())
    });
    work.unwrap();
}

#[test]
fn a_screen_needs_a_terminal() {
    let output = Command::new(TIDEGATE).arg("top").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--once") && text.contains("--json"), "{text}");
}

/// A pseudo-terminal: its two ends.
fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let size = libc::winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let nothing = std::ptr::null_mut();
    // SAFETY: both numbers and the size outlive the call; no name and no settings are asked for.
    let status = unsafe { libc::openpty(&mut ours, &mut theirs, nothing, nothing.cast(), &size) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: new descriptors that nobody else owns.
    unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

#[test]
fn top_ends_with_its_terminal() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = hosts.client.run(|| {
        let agent = start(&[]);
        agent.event("serving");
        let (ours, theirs) = terminal();
        // Without this flag the agent's other children would inherit it.
        nix::fcntl::fcntl(&ours, nix::fcntl::FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        let mut top = Command::new(TIDEGATE)
            .args(["top", "--socket"])
            .arg(&agent.socket)
            .stdin(theirs.try_clone()?)
            .stdout(theirs)
            .stderr(Stdio::null())
            .spawn()?;
        let mut ours = std::fs::File::from(ours);
        let mut drawn = [0; 4096];
        assert!(ours.read(&mut drawn)? > 0, "it draws");
        // Read until all is drawn and `top` waits for a key.
        while poll(&mut [PollFd::new(ours.as_fd(), PollFlags::POLLIN)], 300u16)? > 0 {
            let _ = ours.read(&mut drawn)?;
        }
        drop(ours);
        let began = Instant::now();
        while top.try_wait()?.is_none() {
            if began.elapsed() > Duration::from_secs(20) {
                top.kill()?;
                panic!("it stays without a terminal");
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    });
    work.unwrap();
}
