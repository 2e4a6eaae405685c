//! During a pause nothing is held or turned away, whatever changes meanwhile.

use crate::flow::{Flow, await_row, await_state, server};
use crate::running::{Running, TIDEGATE, json};
use crate::{File, SEEN, between, hang_up, is_turned_away, join_anew, sh, start};
use std::process::Command;

fn tidegate(args: &[&str], agent: &Running) {
    let mut command = Command::new(TIDEGATE);
    command.args(args).arg("--socket").arg(&agent.socket);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Waits until the flow is not held.
fn await_left(agent: &Running, flow: &Flow) {
    await_row(agent, flow, "no hold", |row| row["hold"].is_null());
}

const TURNS_AWAY: &str = "udp = \"hold\"\n[[udp_rule]]\nremote_port = 443\naction = \"fallback\"\n";

#[test]
fn nothing_is_held_or_turned_away_in_a_pause() {
    between(|hosts| {
        let file = File::new(TURNS_AWAY);
        let agent = start(&["--config", file.path().to_str().unwrap()]);
        let download = Flow::download(hosts, server(4433));
        await_state(&agent, &download, &SEEN);
        assert!(is_turned_away(hosts, server(443)));
        tidegate(&["pause", "1h"], &agent);
        await_left(&agent, &download);
        assert!(!is_turned_away(hosts, server(443)));
        // A configuration that is read now applies after the pause.
        file.write(&TURNS_AWAY.replace("443", "[443, 8443]"));
        hang_up(&agent);
        agent.event("reload");
        await_left(&agent, &download);
        for port in [443, 8443] {
            assert!(!is_turned_away(hosts, server(port)));
        }
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["hold"]["waiting"], 0, "{look}");
        tidegate(&["resume"], &agent);
        await_state(&agent, &download, &SEEN);
        for port in [443, 8443] {
            assert!(is_turned_away(hosts, server(port)));
        }
    });
}

#[test]
fn an_interface_that_comes_in_a_pause_is_paused_too() {
    between(|hosts| {
        let agent = start(&["--udp", "hold"]);
        tidegate(&["pause", "1h"], &agent);
        sh("ip link del tg0");
        agent.event("interface_gone");
        join_anew(hosts);
        agent.event("interface_came");
        let download = Flow::download(hosts, server(4434));
        await_left(&agent, &download);
        tidegate(&["resume"], &agent);
        await_state(&agent, &download, &SEEN);
    });
}
