//! What the agent holds by default: HTTP/3, if the machine can hold.

use crate::flow::{Flow, await_row, await_state, server};
use crate::running::{TIDEGATE, json};
use crate::{SEEN, between, start, start_by};
use std::net::SocketAddr;
use std::process::Command;
use tidegate_lab::Veth;
use tidegate_testing::has_program;

#[test]
fn by_default_http3_is_held_and_nothing_else() {
    between(|hosts| {
        let mut agent = start(&[]);
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["agent"]["udp"], "auto", "{look}");
        assert_eq!(
            look["agent"]["hold_directions"],
            serde_json::json!(["down"])
        );
        let http3 = Flow::quic(hosts, server(443));
        let elsewhere = Flow::quic(hosts, server(4433));
        let unseen = Flow::download(hosts, SocketAddr::new(server(0).ip(), 444));
        let row = await_state(&agent, &http3, &SEEN);
        assert_eq!(row["kind"], "quic", "{row}");
        for other in [&elsewhere, &unseen] {
            let row = await_row(&agent, other, "more than 100 kB", |row| {
                row["bytes"].as_u64() > Some(100_000)
            });
            assert_eq!(row["hold"]["state"], "not_http3", "{row}");
            assert!(row["hold"]["rtt_us"].is_null(), "nobody is asked: {row}");
        }
        agent.interrupt();
    });
}

/// A connection that is older than the agent has shown it no handshake.
#[test]
fn by_default_quic_that_is_met_in_mid_stream_is_left_alone() {
    between(|hosts| {
        let old = Flow::quic(hosts, server(443));
        let agent = start(&[]);
        let row = await_row(&agent, &old, "more than 100 kB", |row| {
            row["bytes"].as_u64() > Some(100_000)
        });
        assert_eq!(row["hold"]["state"], "not_http3", "{row}");
    });
}

/// By default the agent runs without a hold if the machine cannot hold; if asked for it by name, it refuses to start.
#[test]
fn a_machine_that_cannot_hold_leaves_http3_alone_and_says_so() {
    if !has_program("setpriv", "util-linux") {
        return;
    }
    between(|hosts| {
        let without = || {
            let mut program = Command::new("setpriv");
            program.args(["--bounding-set", "-net_raw", TIDEGATE]);
            program
        };
        let agent = start_by(without(), &[]);
        let missing = agent.event("hold_missing");
        let why = missing["why"].as_str().unwrap();
        assert!(why.contains("CAP_NET_RAW"), "{missing}");
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["agent"]["udp"], "leave", "{look}");
        let http3 = Flow::quic(hosts, server(443));
        let row = await_row(&agent, &http3, "more than 100 kB", |row| {
            row["bytes"].as_u64() > Some(100_000)
        });
        assert!(row["hold"].is_null(), "{row}");
        drop(agent);
        let asked = without()
            .args(["run", "--iface", Veth::INTERFACE, "--udp", "hold"])
            .output();
        let asked = asked.unwrap();
        let said = String::from_utf8_lossy(&asked.stderr);
        assert!(
            !asked.status.success() && said.contains("CAP_NET_RAW"),
            "{said}"
        );
    });
}
