//! What the live agent costs: in goodput through a veth pair, where nothing else limits, and in
//! nanoseconds a packet.

use super::Row;
use anyhow::{Context, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Config, Cost, Interface};
use tidegate_lab::{IpVersion, Offload, Veth, use_congestion_control};

/// Length of one measurement; another, a fifth as long, goes before it.
const SLICE: Duration = Duration::from_secs(1);

/// Pairs of measurements with and without the agent.
const PAIRS: usize = 7;

/// What is measured.
struct Case {
    name: &'static str,
    /// Connections at once.
    flows: usize,
    /// On: packets of 64 KB. Off: of 1500 bytes, so that the programs run far more often.
    offload: Offload,
}

const CASES: [Case; 3] = [
    Case {
        name: "64 KB packets",
        flows: 1,
        offload: Offload::On,
    },
    Case {
        name: "1500 B packets",
        flows: 1,
        offload: Offload::Off,
    },
    Case {
        name: "1500 B packets, 100 flows",
        flows: 100,
        offload: Offload::Off,
    },
];

/// Some two minutes; `stop` ends it early with an error.
pub fn measure(stop: &AtomicBool) -> Result<Vec<Row>> {
    let hosts = Veth::new()?;
    let mut rows = Vec::new();
    for case in &CASES {
        hosts.set_offload(case.offload)?;
        // A short queue is good for caches, so that steering may well gain more than it costs.
        // Measuring alone only costs.
        for (what, dry_run) in [("goodput", false), ("goodput, dry run", true)] {
            let compared = compare(&hosts, case.flows, dry_run, stop)?;
            let name = format!("agent: {what}, {}", case.name);
            let row = Row::new(name, compared.with_bps / 1e6, "Mbit/s");
            rows.push(row.versus("without the agent", compared.ratio));
        }
        let costs = cost(&hosts, case.flows, stop)?;
        for (way, ns) in ["arriving", "leaving"].into_iter().zip(costs) {
            let name = format!("agent: {way} packet, {}", case.name);
            rows.push(Row::new(name, ns, "ns/packet"));
        }
    }
    Ok(rows)
}

struct Compared {
    with_bps: f64,
    ratio: f64,
}

/// Medians over pairs of neighbouring measurements, so that a machine that is busy for a while
/// does not count against one side. Which comes first alternates.
fn compare(hosts: &Veth, flows: usize, dry_run: bool, stop: &AtomicBool) -> Result<Compared> {
    let with = || {
        let _agent = start(hosts, dry_run)?;
        goodput_bps(hosts, flows, stop)
    };
    let without = || goodput_bps(hosts, flows, stop);
    let mut with_bps = Vec::new();
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        let (a, b) = if pair % 2 == 0 {
            let a = with()?;
            (a, without()?)
        } else {
            let b = without()?;
            (with()?, b)
        };
        with_bps.push(a);
        ratios.push(a / b);
    }
    Ok(Compared {
        with_bps: median(with_bps),
        ratio: median(ratios),
    })
}

/// Nanoseconds a packet that arrives and one that leaves, as the kernel counts them.
fn cost(hosts: &Veth, flows: usize, stop: &AtomicBool) -> Result<[f64; 2]> {
    let mut agent = start(hosts, false)?;
    agent.count_cost()?;
    goodput_bps(hosts, flows, stop)?;
    Ok(agent
        .cost()?
        .map(|Cost { runs, nanoseconds }| nanoseconds as f64 / runs.max(1) as f64))
}

/// The default agent, at the receiving host.
fn start(hosts: &Veth, dry_run: bool) -> Result<Agent> {
    hosts.client.run(|| {
        Ok(Agent::start(&Config {
            interfaces: vec![Interface::find(Veth::INTERFACE)?],
            dry_run,
            ..Config::default()
        })?)
    })
}

/// Downloads for a while over so many connections at once.
fn goodput_bps(hosts: &Veth, flows: usize, stop: &AtomicBool) -> Result<f64> {
    let address = SocketAddr::new(Veth::server_address(IpVersion::V4), 0);
    let listener = hosts.server.run(|| Ok(TcpListener::bind(address)?))?;
    let (received, over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let mut workers = Vec::new();
        // However it ends, the threads must.
        let until_over = Over(&over);
        for _ in 0..flows {
            let (receiver, sender) = connect(hosts, &listener)?;
            workers.push(scope.spawn(|| send(sender, &over)));
            workers.push(scope.spawn(|| receive(receiver, &received)));
        }
        wait(SLICE / 5, stop)?;
        let (from, began) = (received.load(Ordering::Relaxed), Instant::now());
        wait(SLICE, stop)?;
        let bytes = received.load(Ordering::Relaxed) - from;
        let elapsed = began.elapsed();
        drop(until_over);
        for worker in workers {
            worker.join().expect("no worker panics")?;
        }
        Ok(8.0 * bytes as f64 / elapsed.as_secs_f64())
    })
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The client's and the server's end of a new connection, whose sender uses CUBIC.
fn connect(hosts: &Veth, listener: &TcpListener) -> Result<(TcpStream, TcpStream)> {
    let to = listener.local_addr()?;
    let client = hosts.client.run(|| Ok(TcpStream::connect(to)?))?;
    let (server, _) = listener.accept()?;
    use_congestion_control(&server, "cubic")?;
    Ok((client, server))
}

fn send(mut stream: TcpStream, over: &AtomicBool) -> Result<()> {
    let chunk = vec![0; 256 << 10];
    while !over.load(Ordering::Relaxed) {
        stream.write_all(&chunk).context("cannot send")?;
    }
    Ok(stream.shutdown(Shutdown::Write)?)
}

fn receive(mut stream: TcpStream, received: &AtomicU64) -> Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => received.fetch_add(n as u64, Ordering::Relaxed),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).context("cannot receive"),
        };
    }
}

/// Waits, unless the user has had enough.
fn wait(period: Duration, stop: &AtomicBool) -> Result<()> {
    const LOOK: Duration = Duration::from_millis(50);
    let until = Instant::now() + period;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        anyhow::ensure!(!stop.load(Ordering::Relaxed), "stopped");
        thread::sleep(left.min(LOOK));
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
