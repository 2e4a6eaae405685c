//! A link that is slow one way, with room for a thousand packets before it, and what a sender over it sees.

use crate::testbed::{check_hosts, on_testbed, start, turn};
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::mem::{size_of, zeroed};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Direction, Hook};
use tidegate_lab::{EmulatedHosts, Offload, Veth};
use tidegate_laws::Params;
use tidegate_link::{Config, Rate};
use tidegate_testing::skipped;

/// How long the law gets to know the link, and how long is measured then.
const SETTLES: Duration = Duration::from_secs(4);
const LOOKS: Duration = Duration::from_secs(4);

/// The round trip of a far link.
pub const FAR: Duration = Duration::from_millis(40);

/// Runs `act` in the client's namespace, with an agent that steers by `tide`, over a link that is slow in that
/// direction. Everything runs on one CPU, so that all packets use the same per-CPU data of the programs. Skipped, with
/// a message, if the link cannot be made slow.
pub fn on_slow_link(slow: Direction, rate: &str, act: impl FnOnce(&Veth, &Agent) + Send) {
    on_testbed(|hosts| {
        stay_on_one_cpu();
        hosts.set_offload(Offload::Off).unwrap();
        let shape = || {
            let mut tc = Command::new("tc");
            tc.args([
                "qdisc",
                "add",
                "dev",
                Veth::INTERFACE,
                "root",
                "tbf",
                "rate",
            ]);
            tc.args([rate, "burst", "3kb", "limit", "1514000"]);
            Ok(tc.status().is_ok_and(|status| status.success()))
        };
        let is_slow = match slow {
            Direction::Up => shape(),
            Direction::Down => hosts.server.run(shape),
        };
        match is_slow {
            Ok(true) => act(hosts, &start(Params::default(), Hook::Tcx)),
            other => skipped(format!("no slow link without tc and its tbf: {other:?}")),
        }
    });
}

/// The same over an emulated link of `bps` with a round trip of [`FAR`], both ways.
pub fn on_far_link(bps: f64, act: impl FnOnce(&EmulatedHosts, &Agent) + Send) {
    let Some(_turn) = turn() else { return };
    let link = Config {
        rate: Rate::constant(bps),
        delay: (FAR / 2).into(),
        ..Config::default()
    };
    let hosts = EmulatedHosts::new(link.clone(), link, 1).unwrap();
    let in_client = || {
        act(&hosts, &start(Params::default(), Hook::Tcx));
        Ok(())
    };
    hosts.client().run(in_client).unwrap();
    check_hosts([hosts.client(), hosts.server()]);
    hosts.finish().unwrap();
}

fn stay_on_one_cpu() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu().unwrap()).unwrap();
    sched_setaffinity(Pid::from_raw(0), &here).unwrap();
}

/// The sender's median round trip in milliseconds, over some seconds of bulk data to `receiver`. Once the law knows the
/// link, `others` run beside it until they are told to end.
pub fn median_rtt_ms(
    sender: &TcpStream,
    receiver: &TcpStream,
    others: impl FnOnce(&AtomicBool) + Send,
) -> f64 {
    let goes_on = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| fill(sender, &goes_on));
        scope.spawn(|| drain(receiver, &goes_on));
        let _until_done = End(&goes_on);
        thread::sleep(SETTLES);
        scope.spawn(|| others(&goes_on));
        // The others have had time to take effect.
        thread::sleep(SETTLES / 4);
        let mut seen = Vec::new();
        let began = Instant::now();
        while began.elapsed() < LOOKS {
            seen.push(rtt_us(sender));
            thread::sleep(Duration::from_millis(20));
        }
        seen.sort_unstable();
        f64::from(seen[seen.len() / 2]) / 1e3
    })
}

/// Ends all threads when dropped, also when the test fails.
pub struct End<'a>(pub &'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Sends until all are told to end.
pub fn fill(mut to: &TcpStream, goes_on: &AtomicBool) {
    to.set_write_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let chunk = [0; 20_000];
    while goes_on.load(Ordering::Relaxed) {
        // A write that times out is tried again: the link is slow.
        let _ = to.write(&chunk);
    }
}

/// Reads what comes until all are told to end.
pub fn drain(mut from: &TcpStream, goes_on: &AtomicBool) {
    from.set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let mut buffer = vec![0; 1 << 16];
    while goes_on.load(Ordering::Relaxed) {
        let _ = from.read(&mut buffer);
    }
}

/// Sends `bps` bits per second, in ten pieces a second.
pub fn stream(mut to: &TcpStream, bps: usize, goes_on: &AtomicBool) {
    let piece = vec![0; bps / 80];
    while goes_on.load(Ordering::Relaxed) {
        to.write_all(&piece).unwrap();
        thread::sleep(Duration::from_millis(100));
    }
}

fn rtt_us(of: &TcpStream) -> u32 {
    // SAFETY: all zeroes are a valid tcp_info.
    let mut info: libc::tcp_info = unsafe { zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `info`.
    let status = unsafe {
        libc::getsockopt(
            of.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    assert_eq!(status, 0);
    info.tcpi_rtt
}
