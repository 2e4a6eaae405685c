//! What happens to an upload's waiting data, as for a download's acknowledgements (`ends.rs`), if uploads are held.

use crate::agent::{Agent, tidegate};
use crate::ends::{GONE, answers, send};
use crate::remains::queues;
use crate::talk::{self, Spoken, Talk};
use crate::testbed::{
    LONGEST, Testbed, assert_whole, link, turn, wait_for, wait_until_nothing_is_left,
};
use crate::upload::{Upload, WINDOW};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};
use tidegate_lab::EmulatedHosts;

const UPLOADS: [&str; 4] = ["--udp", "hold", "--udp-hold", "uploads"];

/// Only a hold keeps more packets than this at the gate. Waiting packets also fill the socket's buffer, which ends at
/// some 90 (SO_SNDBUF).
const MANY: u64 = 50;

fn testbed() -> Option<Testbed> {
    Testbed::of(&UPLOADS, |_| {})
}

/// The agent's state.
fn look(testbed: &Testbed) -> Value {
    let socket = testbed.socket();
    let run = || {
        Ok(tidegate()
            .args(["top", "--once", "--all", "--json", "--socket"])
            .arg(&socket)
            .output()?)
    };
    let output = testbed.hosts.client().run(run).unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn waiting(testbed: &Testbed) -> u64 {
    look(testbed)["hold"]["waiting"].as_u64().unwrap()
}

fn wait_until_held(testbed: &Testbed) {
    wait_for("data that wait", || waiting(testbed) > MANY);
}

fn held(testbed: &Testbed) -> Upload {
    let upload = Upload::start(&testbed.hosts, 4433);
    wait_until_held(testbed);
    upload
}

#[test]
fn data_that_wait_come_in_order_and_in_time() {
    let Some(testbed) = testbed() else { return };
    let upload = held(&testbed);
    std::thread::sleep(Duration::from_secs(4));
    let row = look(&testbed)["windowless"].as_array().unwrap().clone();
    let row = row.into_iter().find(|row| row["direction"] == "up");
    let row = row.expect("the upload");
    assert_eq!(row["limit"], "held", "{row}");
    let here = row["hold"]["here_bytes"].as_u64().unwrap();
    assert!(here > MANY * 1200 && here < 2 * WINDOW * 1200, "{row}");
    let (came, sent) = upload.end();
    assert_whole(&came, sent);
    assert_eq!(waiting(&testbed), 0);
    testbed.agent.stop();
}

/// Uploads are not held by default.
#[test]
fn an_upload_is_not_held_unless_that_is_said() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    let upload = Upload::start(&testbed.hosts, 4433);
    wait_for("the window to be full", || upload.came() > 2000);
    let look = look(&testbed);
    assert_eq!(look["hold"]["came"], 0, "{look}");
    let ways = look["windowless"].as_array().unwrap();
    let up = ways.iter().find(|row| row["direction"] == "up").unwrap();
    assert!(up["hold"].is_null() && up["limit"] == up["kind"], "{up}");
    let (came, sent) = upload.end();
    assert_eq!(came.len() as u64, sent);
    testbed.agent.stop();
}

/// Ends the agent by `end` while data wait: none is lost or waits on, and nothing is left in the kernel.
fn ends(end: impl FnOnce(Agent)) {
    let Some(testbed) = testbed() else { return };
    let upload = held(&testbed);
    let before = upload.came();
    let programs = testbed.agent.programs();
    assert!(programs.len() >= 6, "{programs:?}");
    end(testbed.agent);
    wait_until_nothing_is_left(&testbed.hosts, testbed.gate, &programs);
    let (came, sent) = upload.end();
    assert_eq!(came.len() as u64, sent, "some are lost, or came twice");
    assert!(came.iter().all(|c| c.after < LONGEST));
    assert!(
        came[..before].is_sorted_by_key(|c| c.number),
        "out of order"
    );
}

#[test]
fn a_killed_agent_lets_uploads_go_and_loses_nothing() {
    ends(Agent::kill);
}

#[test]
fn an_interrupted_agent_lets_uploads_go_and_loses_nothing() {
    ends(|agent| agent.end(Signal::SIGINT));
}

/// Waiting data leave with the gate; the upload goes on as without a hold.
#[test]
fn a_killed_gate_takes_along_what_waits_and_no_more() {
    let Some(testbed) = testbed() else { return };
    let upload = held(&testbed);
    send(Signal::SIGKILL, testbed.gate);
    wait_for("the log", || testbed.log().contains(GONE));
    let before = upload.came();
    wait_for("the upload to go on", || upload.came() > before + 1000);
    assert_eq!(queues(testbed.hosts.client()), 0);
    let (came, sent) = upload.end();
    let lost = sent - came.len() as u64;
    println!("{lost} of {sent} were lost with the gate");
    assert!(lost <= WINDOW);
    testbed.agent.stop();
}

#[test]
fn whose_server_answers_echoes_no_more_is_let_go_and_held_again_when_it_does() {
    let Some(testbed) = testbed() else { return };
    let upload = held(&testbed);
    answers(&testbed.hosts, false);
    let silent = Instant::now();
    wait_for("data that do not wait", || waiting(&testbed) == 0);
    println!("let go within {:?}", silent.elapsed());
    assert!(silent.elapsed() < Duration::from_secs(5));
    answers(&testbed.hosts, true);
    wait_until_held(&testbed);
    let (came, sent) = upload.end();
    assert_eq!(came.len() as u64, sent);
    assert!(came.iter().all(|c| c.after < LONGEST));
    testbed.agent.stop();
}

/// How long an upload runs before the conversations, and how long these last.
const BEFORE: Duration = Duration::from_secs(8);
const TALK: Duration = Duration::from_secs(15);

/// The link's base round trip.
const BASE: Duration = Duration::from_millis(40);

/// Runs each kind of conversation beside an upload; `look` is called meanwhile.
fn talk_beside(hosts: &EmulatedHosts, look: impl FnOnce()) -> Vec<(talk::Kind, Spoken)> {
    let upload = Upload::start(hosts, 4433);
    std::thread::sleep(BEFORE);
    let all = talk::ALL.into_iter().zip(5000..);
    let talks: Vec<_> = all
        .map(|(kind, port)| Talk::start(hosts, port, kind))
        .collect();
    std::thread::sleep(TALK);
    look();
    let end = |talk: Talk| (talk.kind, talk.end());
    let spoken = talks.into_iter().map(end).collect();
    upload.end();
    spoken
}

/// A call, a game, a video call and DNS: none of their packets waits, is marked or is dropped, and their 99th
/// percentile contains little of the queue that an unsteered upload makes: a tenth, if the machine is not busy
/// otherwise.
#[test]
fn who_talks_beside_a_held_upload_does_not_wait() {
    let untouched = {
        let Some(_turn) = turn() else { return };
        talk_beside(&link(), || ())
    };
    let Some(testbed) = testbed() else { return };
    let held = talk_beside(&testbed.hosts, || {
        let look = look(&testbed);
        let rows = look["windowless"].as_array().unwrap();
        let is_touched = |row: &&Value| row["hold"]["held"] != 0 || row["hold"]["signalled"] != 0;
        let touched = rows.iter().filter(|row| row["hold"].is_object());
        let ports: Vec<_> = touched
            .filter(is_touched)
            .map(|row| &row["remote"]["port"])
            .collect();
        assert_eq!(ports, [4433], "{look}");
    });
    for ((kind, before), (_, after)) in untouched.iter().zip(&held) {
        let [before_ms, after_ms] =
            [before, after].map(|spoken| (spoken.p99() - BASE).as_secs_f64() * 1e3);
        println!(
            "{}: p99 of the queue {before_ms:.0} ms, {after_ms:.0} ms held",
            kind.name
        );
        assert_eq!(
            after.took.len() as u64,
            after.sent,
            "{}: some are lost",
            kind.name
        );
        assert!(after.sent > 100, "{}: {}", kind.name, after.sent);
        assert!(before_ms > 500.0, "{}: no queue to cure", kind.name);
        assert!(after_ms < 0.2 * before_ms, "{}: {after_ms}", kind.name);
    }
    testbed.agent.stop();
}
