//! `tidegate link` as a user starts it with sudo.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tidegate_lab::Veth;
use tidegate_linux::netfilter::{Chain, Expression, Family, Hook, Policy, Table};
use tidegate_linux::netns::Namespace;
use tidegate_testing::has_tun;

/// The user id of nobody on Linux.
const NOBODY: &str = "65534";

/// A link whose command is a script, in a namespace.
fn link(namespace: &Namespace, options: &[&str], sudo: Option<&str>, script: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    for variable in ["SUDO_UID", "SUDO_GID", "PKEXEC_UID", "DOAS_USER"] {
        command.env_remove(variable);
    }
    if let Some(id) = sudo {
        command.env("SUDO_UID", id).env("SUDO_GID", id);
    }
    command.args(["link", "--down", "20", "--up", "20", "--delay", "1"]);
    command.args(options).args(["--", "sh", "-c", script]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    namespace.run(|| Ok(command.spawn()?)).unwrap()
}

/// The lines that it prints.
fn printed(link: Child) -> Vec<String> {
    let output = link.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Prints user, groups, and capabilities: effective, permitted, inheritable and ambient.
const WHO: &str = "id -u; id -G; grep -E '^Cap(Eff|Prm|Inh|Amb)' /proc/self/status | cut -f2";

#[test]
fn the_command_has_the_rights_of_whoever_called_sudo() {
    if !has_tun() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let none = "0000000000000000";
    let said = printed(link(&namespace, &[], Some(NOBODY), WHO));
    assert_eq!(said, [NOBODY, NOBODY, none, none, none, none]);
    let said = printed(link(&namespace, &["--root"], Some(NOBODY), WHO));
    assert_eq!(said[0], "0");
    assert_ne!(said[3], none, "{said:?}");
    let said = printed(link(&namespace, &[], None, WHO));
    assert_eq!(said[0], "0");
}

/// An hour of LTE takes 26 MB.
#[test]
fn a_recording_of_an_hour_is_played_whatever_its_name() {
    if !has_tun() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mean=12,seed=1.trace");
    let trace = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["trace", "lte", "--seconds", "3600"])
        .output()
        .unwrap();
    std::fs::write(&path, trace.stdout).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 20 << 20);
    let namespace = Namespace::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.args([
        "link",
        "--down",
        path.to_str().unwrap(),
        "--root",
        "--",
        "echo",
        "there",
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let link = namespace.run(|| Ok(command.spawn()?)).unwrap();
    assert_eq!(printed(link), ["there"]);
}

#[test]
fn it_ends_with_what_passed() {
    if !has_tun() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("passed.csv");
    let options = ["--log", log.to_str().unwrap()];
    let speak = "exec bash -c 'for i in 1 2 3; do echo $i >/dev/udp/192.0.2.1/9; done; sleep 0.3'";
    let output = link(&namespace, &options, None, speak)
        .wait_with_output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let up = text
        .lines()
        .find(|line| line.starts_with("tidegate link: up "));
    let up = up.unwrap_or_else(|| panic!("{text}"));
    assert!(
        up.contains(" (95 of 100), ") && up.ends_with(" packets dropped"),
        "{up}"
    );
    let log = std::fs::read_to_string(log).unwrap();
    let mut rows = log.lines();
    let titles: Vec<_> = rows.next().unwrap().split(',').collect();
    let at = titles.iter().position(|title| *title == "up_bps").unwrap();
    let bps = rows.map(|row| row.split(',').nth(at).unwrap().parse::<f64>().unwrap());
    let bytes = bps.sum::<f64>() / 8.0 / 10.0;
    // Three datagrams of two bytes, with the headers of UDP and IP.
    assert!(bytes >= 90.0, "{bytes} bytes: {log}");
}

#[test]
fn a_caller_whom_nobody_knows_is_refused() {
    if !has_tun() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let output = link(&namespace, &[], Some("me"), "true");
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("SUDO_UID=me: expected the number"), "{text}");
}

#[test]
fn a_users_command_does_not_outlive_a_killed_link() {
    if !has_tun() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let mut killed = link(&namespace, &[], Some(NOBODY), "echo on; exec sleep 60");
    let mut line = String::new();
    let mut said = BufReader::new(killed.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "on\n");
    killed.kill().unwrap();
    killed.wait().unwrap();
    // No process holds the other end of the pipe any more.
    let began = Instant::now();
    assert_eq!(said.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(began.elapsed() < Duration::from_secs(30), "it lives on");
    printed(link(&namespace, &[], None, "true"));
}

#[test]
fn an_interface_that_is_not_there_is_refused() {
    if !has_tun() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let output = link(&namespace, &["--via", "wan9"], None, "true");
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("--via wan9: there is no such interface"),
        "{text}"
    );
}

/// A firewall as Docker sets it up: iptables' table with a drop policy, and another table that accepts.
fn firewall() -> anyhow::Result<[Table; 2]> {
    let wall = Table::new(Family::V4, "filter")?;
    let forward = Chain {
        name: "FORWARD",
        kind: "filter",
        hook: Hook::Forward,
        priority: 0,
    };
    wall.commit(&[wall.create(), wall.chain_with(&forward, Policy::Drop)])?;
    let other = Table::new(Family::Inet, "mine")?;
    other.commit(&[
        other.create(),
        other.chain(&Chain {
            priority: 10,
            ..forward
        }),
        other.rule(forward.name, &[Expression::accept()]),
    ])?;
    Ok([wall, other])
}

#[test]
fn the_chain_that_drops_what_is_forwarded_is_told_with_the_rules_that_open_it() {
    if !has_tun() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let check = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        let output = hosts
            .client
            .run(|| Ok(command.args(["link", "--check"]).output()?))
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    };
    let open = (Some(0), "packets of a link pass this machine\n".to_owned());
    let add_route = || {
        let mut ip = Command::new("ip");
        let words = ["route", "replace", "default", "dev", Veth::INTERFACE];
        assert!(ip.args(words).status()?.success());
        Ok(())
    };
    hosts.client.run(add_route).unwrap();
    assert_eq!(check(), open);
    let walls = hosts.client.run(firewall).unwrap();
    let told = "IPv4 packets of the command are dropped on this machine by chain FORWARD of table ip filter, whose policy is drop; \
                to let links pass until the firewall is loaded anew:\n    \
                iptables -I FORWARD -i tg+ -j ACCEPT\n    \
                iptables -I FORWARD -o tg+ -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n";
    assert_eq!(check(), (Some(1), told.to_owned()));
    // Before a command starts, the same is printed.
    let link = link(&hosts.client, &[], None, "true");
    let output = link.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("tidegate link: {told}")), "{said}");
    drop(walls);
    assert_eq!(check(), open);
}
