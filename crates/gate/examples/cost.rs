//! Measures what the gate costs: packets per second, and how late they are. Needs root.
//!
//! `cargo run --release -p tidegate-gate --example cost`

use anyhow::{Context, Result};
use hdrhistogram::Histogram;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::socket::{setsockopt, sockopt};
use std::env;
use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant};
use tidegate_gate::{Flow, Gate, Leaving, Limits, serve};
use tidegate_lab::{IpVersion, Veth};

/// First argument of the gate's process; the second is how long packets wait, in µs.
const SERVE: &str = "serve";

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    if let [first, wait] = &arguments[..]
        && first == SERVE
    {
        let wait: u64 = wait.parse()?;
        return Ok(serve(|_| {
            Ok::<_, String>(move |p: &Leaving, _: &[u8]| p.at_us + wait)
        })?);
    }
    println!("packets of 40 bytes as fast as one socket sends them, 2 s:");
    for (name, through) in [
        ("no gate", None),
        ("past the gate, which another passes", Some(Through::Past)),
        ("through the gate, no wait", Some(Through::Wait(0))),
        (
            "through the gate, each waits 20 ms",
            Some(Through::Wait(20_000)),
        ),
    ] {
        flood(name, through)?;
    }
    println!("a packet every 500 µs, for 2 s, sent until received:");
    for (name, through) in [
        ("no gate", None),
        ("past the gate, which another passes", Some(Through::Past)),
        ("through the gate, no wait", Some(Through::Wait(0))),
    ] {
        paced(name, through)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Through {
    /// The gate serves another flow.
    Past,
    /// This one, whose packets wait that long, in µs.
    Wait(u64),
}

struct Path {
    from: UdpSocket,
    to: UdpSocket,
    gate: Option<Gate>,
    _hosts: Veth,
}

impl Path {
    fn new(through: Option<Through>) -> Result<Self> {
        let hosts = Veth::new()?;
        let server = Veth::server_address(IpVersion::V4);
        let to = hosts.server.run(|| Ok(UdpSocket::bind((server, 0))?))?;
        to.set_read_timeout(Some(Duration::from_millis(300)))?;
        setsockopt(&to, sockopt::RcvBufForce, &(256 << 20))?;
        let (from, gate) = hosts.client.run(|| {
            let from = UdpSocket::bind("0.0.0.0:0")?;
            from.connect(to.local_addr()?)?;
            setsockopt(&from, sockopt::SndBufForce, &(64 << 20))?;
            let flow = Flow {
                interface: nix::net::if_::if_nametoindex(Veth::INTERFACE)?,
                local: from.local_addr()?,
                remote: to.local_addr()?,
            };
            let gate = through.map(|through| gate(flow, through)).transpose()?;
            Ok((from, gate))
        })?;
        Ok(Self {
            from,
            to,
            gate,
            _hosts: hosts,
        })
    }
}

fn gate(mut flow: Flow, through: Through) -> Result<Gate> {
    let wait_us = match through {
        Through::Past => {
            flow.local.set_port(flow.local.port() ^ 1);
            0
        }
        Through::Wait(us) => us,
    };
    let mut program = Command::new(env::current_exe()?);
    program.args([SERVE, &wait_us.to_string()]);
    let mut gate = Gate::start(program, Limits::default(), &[])?;
    gate.hold(&[flow])?;
    Ok(gate)
}

fn flood(name: &str, through: Option<Through>) -> Result<()> {
    let mut path = Path::new(through)?;
    let began = Instant::now();
    let receiver = {
        let to = path.to.try_clone()?;
        std::thread::spawn(move || {
            let mut buffer = [0; 64];
            let (mut count, mut last) = (0_u64, Instant::now());
            while to.recv(&mut buffer).is_ok() {
                (count, last) = (count + 1, Instant::now());
            }
            (count, last)
        })
    };
    let mut sent = 0_u64;
    while began.elapsed() < Duration::from_secs(2) {
        path.from.send(&[0; 12])?;
        sent += 1;
    }
    let (received, last) = receiver.join().expect("it does not panic");
    let rate = received as f64 / (last - began).as_secs_f64();
    print!("  {name:36} {rate:9.0} a second, {sent} sent, {received} received");
    if let Some(gate) = &mut path.gate {
        let counts = gate.counts()?;
        let before = cpu()?;
        drop(path.gate.take());
        let spent = (cpu()? - before).as_nanos() as f64 / counts.came.max(1) as f64;
        print!(
            "; {} through the gate, {} before their time, {spent:.0} ns of its processor each",
            counts.came, counts.pushed
        );
    }
    println!();
    Ok(())
}

/// Processor time of children that have ended.
fn cpu() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("ask what children took")?;
    let us = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
    let sum = us(usage.user_time()) + us(usage.system_time());
    Ok(Duration::from_micros(sum as u64))
}

fn paced(name: &str, through: Option<Through>) -> Result<()> {
    let path = Path::new(through)?;
    let mut took = Histogram::<u64>::new(3)?;
    let receiver = {
        let to = path.to.try_clone()?;
        std::thread::spawn(move || {
            let mut buffer = [0; 64];
            let mut came = Vec::new();
            while to.recv(&mut buffer).is_ok() {
                came.push(Instant::now());
            }
            came
        })
    };
    let mut sent = Vec::new();
    for _ in 0..4000 {
        sent.push(Instant::now());
        path.from.send(&[0; 12])?;
        std::thread::sleep(Duration::from_micros(500));
    }
    let came = receiver.join().expect("it does not panic");
    for (sent, came) in sent.iter().zip(&came) {
        took.record(came.duration_since(*sent).as_nanos() as u64)?;
    }
    let at = |q| took.value_at_quantile(q) as f64 / 1e3;
    println!(
        "  {name:36} µs: p50 {:.0}, p90 {:.0}, p99 {:.0}, max {:.0}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
    Ok(())
}
